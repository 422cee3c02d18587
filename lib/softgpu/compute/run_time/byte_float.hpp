// Floating-point numbers of 8 bits as CDNA3 has them: FP8 (E4M3) and BF8 (E5M2), of the kind FNUZ. They have no
// infinities and no negative zero; the one NaN is 0x80. Source: "FP8 and BF8" in the CDNA3 ISA manual; LLVM's
// Float8E4M3FNUZ and Float8E5M2FNUZ are the same formats.
#pragma once

#include <cstdint>
#include <limits>

namespace softgpu::compute {

struct ByteFloat {
  unsigned fraction_bits;
  int bias;

  static constexpr std::uint32_t nan = 0x80;

  /// The number that the low 8 bits encode.
  [[nodiscard]] constexpr float widen(std::uint32_t bits) const {
    if ((bits & 0xff) == nan) return std::numeric_limits<float>::quiet_NaN();
    const std::uint32_t one = 1U << fraction_bits;
    const std::uint32_t fraction = bits & (one - 1);
    const std::uint32_t exponent = (bits & 0x7f) >> fraction_bits;
    auto magnitude = static_cast<float>(exponent == 0 ? fraction : fraction + one);
    int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - static_cast<int>(fraction_bits);
    for (; power > 0; --power) magnitude *= 2;
    for (; power < 0; ++power) magnitude /= 2;
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
  }
};
inline constexpr ByteFloat fp8_format = {.fraction_bits = 3, .bias = 8};
inline constexpr ByteFloat bf8_format = {.fraction_bits = 2, .bias = 16};

}  // namespace softgpu::compute
