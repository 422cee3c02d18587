// What fastdispatch-run is told on its command line.
#pragma once

#include "argument_text.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fastdispatch/grid.hpp>

/// An array argument to be written to a file.
struct Saved {
  std::string name;
  std::filesystem::path file;
};

struct RunOptions {
  std::filesystem::path file;
  std::string kernel;
  bool lists_kernels = false;
  fastdispatch::Grid grid;
  std::vector<ArgumentText> arguments;
  std::vector<Saved> saved;
  std::uint32_t repeat = 0;  ///< 0: the kernel runs once, and that run is timed
  std::uint64_t seed = 0;
  std::uint32_t device = 0;
  std::uint32_t printed_elements = 8;
};

/// Ends the program after --help and after a usage error.
[[nodiscard]] RunOptions parse_options(int argc, char** argv);
