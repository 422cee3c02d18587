// bfloat16 as the host computes it: the upper half of a float.
#pragma once

#include <bit>
#include <cmath>

#include "values.hpp"

namespace softgpu::isa {

/// Of the two bfloat16s around a number the nearest, of two the one whose last bit is 0.
inline u32 bfloat(float value) {
  const auto bits = std::bit_cast<u32>(value);
  if (std::isnan(value)) return bits >> 16 | 0x40;
  const u32 dropped = bits & 0xffff;
  const bool goes_up = dropped > 0x8000 || (dropped == 0x8000 && (bits >> 16 & 1) != 0);
  return (bits >> 16) + (goes_up ? 1 : 0);
}

}  // namespace softgpu::isa
