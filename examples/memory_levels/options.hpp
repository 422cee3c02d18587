// The command line of memory_levels.
#pragma once

#include "program.hpp"

#include <fastdispatch/batch.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

struct Options {
  CommonOptions common{.iterations = 5, .json = {}};
  std::optional<std::filesystem::path> plot;
  std::uint32_t reads = 1024;  ///< MiB from each level
  std::uint32_t memory = 256;  ///< MiB of the GPU's and of the host's memory
  fastdispatch::Fences fences = fastdispatch::Fences::minimal;
};

/// Ends the program after --help and after a usage error.
[[nodiscard]] Options parse_command_line(int argc, char** argv);
