#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "fuzzer.hpp"

namespace fastdispatch::fuzz {

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  Bytes bytes(chars.size());
  std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

}  // namespace fastdispatch::fuzz
