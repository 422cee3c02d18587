// The elements of typed buffers, as the ISA manual's tables of data formats and number formats describe them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "values.hpp"

namespace softgpu::isa {

enum class Number { unorm, snorm, uscaled, sscaled, uint, sint, floating };

struct ElementFormat {
  std::string data_name;  ///< "8_8_8_8", as in BUF_DATA_FORMAT_8_8_8_8
  u32 data_format = 0;
  std::string number_name;  ///< "UNORM"
  u32 number_format = 0;
  Number number = Number::uint;
  std::vector<unsigned> bits;  ///< of X and so on, from the lowest bit up

  [[nodiscard]] unsigned bytes() const;
  /// What component `index` of an element in memory is in a register: a number of 32 bits, or of 16 in D16
  /// instructions. Components that the format has not got are 0.
  [[nodiscard]] u32 load(const std::uint8_t* memory, unsigned index, bool is_half) const;
  void store(std::uint8_t* memory, unsigned index, u32 value, bool is_half) const;
  /// The value of a component that is selected as the constant 1.
  [[nodiscard]] u32 one(bool is_half) const;
};

/// All that the manual has.
[[nodiscard]] const std::vector<ElementFormat>& element_formats();

}  // namespace softgpu::isa
