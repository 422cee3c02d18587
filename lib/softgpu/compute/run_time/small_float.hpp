// Floating-point numbers of 5 exponent bits as memory holds them: halves, and the unsigned ones of 11 and 10 bits.
#pragma once

#include <cstdint>

namespace softgpu::compute::runtime {

struct SmallFloat {
  unsigned fraction_bits;
  bool is_signed;
};
inline constexpr SmallFloat half_float = {10, true};

/// The number that `bits` encode. Any NaN becomes the usual quiet one of the same sign.
[[nodiscard]] double widen(SmallFloat type, std::uint32_t bits);

/// Rounds to nearest even. Without a sign, a negative number becomes 0; a finite number that is too large the greatest
/// number.
[[nodiscard]] std::uint32_t narrow(SmallFloat type, double value);

}  // namespace softgpu::compute::runtime
