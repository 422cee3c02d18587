#include "input_file.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace {

constexpr std::size_t largest_file = std::numeric_limits<int>::max();

}  // namespace

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };
  const auto fail = [] { throw std::runtime_error(std::generic_category().message(errno)); };
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(path.c_str(), "rb"));
  if (!stream) fail();
  std::vector<std::uint8_t> bytes;
  std::array<std::uint8_t, 65536> part{};
  for (std::size_t size = 0; (size = std::fread(part.data(), 1, part.size(), stream.get())) > 0;) {
    if (bytes.size() + size > largest_file) throw std::runtime_error("it is larger than 2 GiB");
    bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size));
  }
  if (std::ferror(stream.get()) != 0) fail();
  return bytes;
}
