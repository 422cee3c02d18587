// An array on the host.
#pragma once

#include "element_type.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// Owns the elements, row after row.
struct Array {
  ElementType type = ElementType::f32;
  std::vector<std::size_t> extents;  ///< none: a single value
  std::vector<std::byte> bytes;

  [[nodiscard]] std::size_t size() const { return bytes.size() / size_of(type); }
};

/// "f32[4,5]", or "f32" for a single value.
[[nodiscard]] std::string text_of_type(const Array& array);
/// The first `count` elements, with "..." behind them where there are more.
[[nodiscard]] std::string text_of_elements(const Array& array, std::size_t count);
/// The product of the extents in bytes. Throws std::runtime_error when it is more than memory can have.
[[nodiscard]] std::size_t bytes_of(ElementType type, const std::vector<std::size_t>& extents);
