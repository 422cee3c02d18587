// The common part of the fuzzers. The tests damage valid inputs at random: the same damage for the same seed, on every
// machine (fuzzer.cpp). `./dev fuzz` has libFuzzer look for inputs that lead to new code (libfuzzer.cpp).
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

/// The program's target; each program defines its own.
[[nodiscard]] Target target();

}  // namespace fastdispatch::fuzz
