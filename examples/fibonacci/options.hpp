// The command line of fibonacci.
#pragma once

#include "program.hpp"

#include <fastdispatch/batch.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

inline constexpr std::uint32_t most_work_items = 1024;

/// Where the kernels write: memory that the host shares, or the GPU's own.
enum class Destination { pinned, device };

struct Options {
  CommonOptions common{.device = 0, .iterations = 5, .json = {}};
  std::uint32_t work_items = 8;
  std::size_t count = 1024;
  std::size_t repetitions = 1024;
  Destination destination = Destination::pinned;
  bool sweep = false;
  std::optional<std::filesystem::path> plot;
  fastdispatch::Fences fences = fastdispatch::Fences::minimal;
};

/// Ends the program after --help and after a usage error.
[[nodiscard]] Options parse_command_line(int argc, char** argv);
