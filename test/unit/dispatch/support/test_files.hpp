// The code objects that the build made for the tests.
#pragma once

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fastdispatch::test {

using Bytes = std::vector<std::byte>;

inline Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(chars.empty()) << path;
  const auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

// A bundle with entries for gfx90a:xnack+, gfx90a:xnack- and gfx1030.
inline Bytes bundle() { return read_file(TEST_BUNDLE); }
// Raw ELF files for gfx90a: metadata of code object v4 from HIP, of v5 from HIP, and of v4 from OpenCL C.
inline Bytes hip_v4() { return read_file(TEST_HIP_V4); }
inline Bytes hip_v5() { return read_file(TEST_HIP_V5); }
inline Bytes opencl_v4() { return read_file(TEST_OPENCL_V4); }

template <class T>
void overwrite(Bytes& bytes, std::size_t offset, const T& value) {
  ASSERT_LE(offset + sizeof(value), bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

}  // namespace fastdispatch::test
