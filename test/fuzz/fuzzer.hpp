// Damages valid inputs at random and hands them on: the same damage for the same seed, on every machine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

namespace fastdispatch::fuzz {

using Bytes = std::vector<std::byte>;

struct Target {
  std::vector<Bytes> samples;                    ///< valid inputs, none of them empty
  std::function<void(const Bytes& input)> take;  ///< throws, or ends the process, where it finds a fault
};

[[nodiscard]] Bytes read_file(const std::filesystem::path& path);

/// Command line: `PROGRAM [--inputs N] [--seed S]`, for 2000 inputs and seed 1. An input at fault is written to the
/// folder for temporary files and named; the exit code is 1 then, 2 for a wrong command line.
[[nodiscard]] int run(int count, char** arguments, const Target& target);

}  // namespace fastdispatch::fuzz
