#include "array.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace {

template <class T>
std::string text_of_element(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (std::is_same_v<T, Half>) {
    return fmt::format("{}", float_of(value));
  } else if constexpr (sizeof(T) == 1) {
    return fmt::format("{}", static_cast<int>(value));
  } else {
    return fmt::format("{}", value);
  }
}

}  // namespace

std::string text_of_type(const Array& array) {
  if (array.extents.empty()) return std::string(name_of(array.type));
  return fmt::format("{}[{}]", name_of(array.type), fmt::join(array.extents, ","));
}

std::string text_of_elements(const Array& array, std::size_t count) {
  return with_element_type(array.type, [&](auto element) {
    std::string text;
    const std::size_t shown = std::min(count, array.size());
    for (std::size_t i = 0; i < shown; ++i)
      text += (i == 0 ? "" : " ") + text_of_element<decltype(element)>(&array.bytes[i * sizeof element]);
    return array.size() > shown ? text + " ..." : text;
  });
}

std::size_t bytes_of(ElementType type, const std::vector<std::size_t>& extents) {
  std::size_t bytes = size_of(type);
  for (const std::size_t extent : extents) {
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > std::numeric_limits<std::int64_t>::max())
      throw std::runtime_error(
          fmt::format("{}[{}] is more than any memory holds", name_of(type), fmt::join(extents, ",")));
  }
  return bytes;
}
