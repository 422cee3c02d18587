// Elements of 16 bits of matrices, as floats.
#pragma once

#include <bit>
#include <cstdint>

namespace softgpu::compute {

/// Whether denormals of 16 bits, and sums of their products, count as zeros.
enum class MatrixDenormals : std::uint8_t { flushed, kept };

/// The float of these bits; of a bfloat16, shifted to the upper half.
inline float single(std::uint32_t bits, MatrixDenormals denormals) {
  const bool is_zero = denormals == MatrixDenormals::flushed && (bits & 0x7f800000) == 0;
  return std::bit_cast<float>(is_zero ? bits & 0x80000000 : bits);
}

inline float half(std::uint32_t bits, MatrixDenormals denormals) {
  const std::uint32_t sign = (bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 31;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = denormals == MatrixDenormals::flushed ? 0 : static_cast<float>(fraction) * 0x1p-24F;
    return sign == 0 ? magnitude : -magnitude;
  }
  return std::bit_cast<float>(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

}  // namespace softgpu::compute
