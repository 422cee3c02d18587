// Messages of a kernel's printf, as the device library sends them.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fastdispatch::test {

inline void append(std::vector<std::uint64_t>& message, std::string_view text) {
  const std::size_t before = message.size();
  message.resize(before + text.size() / 8 + 1);
  std::memcpy(message.data() + before, text.data(), text.size());
}
inline void append(std::vector<std::uint64_t>& message, const char* text) { append(message, std::string_view(text)); }
inline void append(std::vector<std::uint64_t>& message, double value) {
  message.push_back(std::bit_cast<std::uint64_t>(value));
}
inline void append(std::vector<std::uint64_t>& message, const void* value) {
  message.push_back(std::bit_cast<std::uint64_t>(value));
}
// Compilers extend integers by zeros, whatever their sign.
void append(std::vector<std::uint64_t>& message, std::integral auto value) {
  message.push_back(static_cast<std::make_unsigned_t<decltype(value)>>(value));
}

/// What printf(format, arguments...) sends, to stdout if `stream` is 0 and to stderr if it is 1.
std::vector<std::uint64_t> printf_message(std::uint64_t stream, std::string_view format, auto... arguments) {
  std::vector<std::uint64_t> message{stream};
  append(message, format);
  (append(message, arguments), ...);
  return message;
}

}  // namespace fastdispatch::test
