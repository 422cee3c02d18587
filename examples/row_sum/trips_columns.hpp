// Which columns of a table are read.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

/// A column of a table: its number, from 1, or its name in the header line.
using Column = std::variant<std::size_t, std::string>;

struct TripsColumns {
  Column origin = std::size_t{1};
  Column destination = std::size_t{2};
  Column count = std::size_t{3};
};
