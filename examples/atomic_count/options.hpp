// The command line of atomic_count.
#pragma once

#include "program.hpp"

#include <fastdispatch/batch.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

struct Options {
  CommonOptions common{.iterations = 25, .json = {}};
  std::optional<std::filesystem::path> plot;
  std::uint32_t work_items = 100'000;
  std::uint32_t bins = 10;
  fastdispatch::Fences fences = fastdispatch::Fences::minimal;
};

/// Ends the program after --help and after a usage error.
[[nodiscard]] Options parse_command_line(int argc, char** argv);
