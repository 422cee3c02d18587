// The same targets for libFuzzer. The last argument is the folder of its inputs: the valid ones are put there first.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzzer.hpp"

namespace {

using fastdispatch::fuzz::Bytes;

const fastdispatch::fuzz::Target& the_target() {
  static const fastdispatch::fuzz::Target target = fastdispatch::fuzz::target();
  return target;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const std::filesystem::path folder = (*arguments)[*count - 1];
  if (!std::filesystem::is_directory(folder)) return 0;  // libFuzzer says what it wants
  int number = 0;
  for (const Bytes& sample : the_target().samples)
    std::ofstream(folder / ("valid-" + std::to_string(number++)), std::ios::binary)
        .write(reinterpret_cast<const char*>(sample.data()), static_cast<std::streamsize>(sample.size()));
  return 0;
}

/// What take() throws ends the process: libFuzzer keeps the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return -1;
  Bytes input(size);
  std::memcpy(input.data(), data, size);
  the_target().take(input);
  return 0;
}
