// The command line of row_sum.
#pragma once

#include "program.hpp"
#include "trips_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

struct Options {
  CommonOptions common{.device = 0, .iterations = 5, .json = {}};
  std::size_t rows = 4096;
  std::size_t columns = 4096;
  std::uint32_t seed = 1;
  bool sweep = false;
  std::optional<std::filesystem::path> input;
  std::optional<TripsColumns> trips_columns;  ///< of a .csv file
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> plot;
  fastdispatch::Fences fences = fastdispatch::Fences::minimal;
};

/// Ends the program after --help, and with exit code 2 and one line after a wrong command line.
[[nodiscard]] Options parse_command_line(int argc, char** argv);
