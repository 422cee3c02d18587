// The types of arguments and of the elements of arrays.
#pragma once

#include "half.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

enum class ElementType : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 };

/// "f32"
[[nodiscard]] std::string_view name_of(ElementType type);
/// NumPy's name for it, little-endian: "<f4".
[[nodiscard]] std::string_view numpy_name_of(ElementType type);
[[nodiscard]] std::optional<ElementType> element_type_of(std::string_view name);
[[nodiscard]] std::optional<ElementType> element_type_of_numpy(std::string_view numpy_name);
/// All names, for messages.
[[nodiscard]] std::string element_type_names();

/// Calls `function` with a value of the type.
template <class Function>
auto with_element_type(ElementType type, Function function) {
  switch (type) {
  case ElementType::i8:
    return function(std::int8_t{});
  case ElementType::i16:
    return function(std::int16_t{});
  case ElementType::i32:
    return function(std::int32_t{});
  case ElementType::i64:
    return function(std::int64_t{});
  case ElementType::u8:
    return function(std::uint8_t{});
  case ElementType::u16:
    return function(std::uint16_t{});
  case ElementType::u32:
    return function(std::uint32_t{});
  case ElementType::u64:
    return function(std::uint64_t{});
  case ElementType::f16:
    return function(Half{});
  case ElementType::f32:
    return function(float{});
  case ElementType::f64:
    break;
  }
  return function(double{});
}

[[nodiscard]] inline std::size_t size_of(ElementType type) {
  return with_element_type(type, [](auto value) { return sizeof value; });
}
