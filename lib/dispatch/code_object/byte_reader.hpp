// Reading structures from a file's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

// A view of a file's bytes with checked bounds: every read outside throws an Error that names the file, the structure
// and the offset.
class ByteReader {
public:
  ByteReader(std::span<const std::byte> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::string& file() const { return file_; }

  [[nodiscard]] std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t size, const char* what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      fail(what, offset, std::to_string(size) + " bytes are wanted, the file has " + std::to_string(bytes_.size()));
    }
    return bytes_.subspan(offset, size);
  }

  template <class T>
  [[nodiscard]] T read(std::uint64_t offset, const char* what) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, bytes(offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }

  [[noreturn]] void fail(std::string_view what, std::uint64_t offset, std::string_view why) const {
    throw Error(file_ + ": damaged " + std::string(what) + " at offset " + std::to_string(offset) + ": " +
                std::string(why));
  }

private:
  std::span<const std::byte> bytes_;
  std::string file_;
};

}  // namespace fastdispatch::detail
