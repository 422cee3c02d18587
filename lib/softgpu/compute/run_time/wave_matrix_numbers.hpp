// The numbers that RDNA's matrix instructions multiply and add, from their bits and back.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "softgpu/compute/run_time/byte_float.hpp"
#include "softgpu/compute/run_time/matrix_elements.hpp"
#include "softgpu/compute/run_time/small_float.hpp"
#include "softgpu/compute/run_time/wave_matrix.hpp"

namespace softgpu::compute {

inline float to_float(WaveMatrixType type, std::uint32_t bits) {
  switch (type) {
  case WaveMatrixType::f16:
    return half(bits & 0xffff, MatrixDenormals::kept);
  case WaveMatrixType::bf16:
    return single(bits << 16, MatrixDenormals::kept);
  case WaveMatrixType::fp8:
    return numbers_of_codes<ocp_fp8_format>[bits & 0xff];
  case WaveMatrixType::bf8:
    return numbers_of_codes<ocp_bf8_format>[bits & 0xff];
  default:
    return std::bit_cast<float>(bits);
  }
}

/// To nearest even.
inline std::uint32_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

inline std::uint32_t from_float(WaveMatrixType type, float value) {
  switch (type) {
  case WaveMatrixType::f16:
    return runtime::narrow(runtime::half_float, value);
  case WaveMatrixType::bf16:
    return to_bfloat16(value);
  default:
    return std::bit_cast<std::uint32_t>(value);
  }
}

inline std::int64_t to_integer(std::uint32_t bits, unsigned width, bool is_signed) {
  const bool is_negative = is_signed && (bits >> (width - 1) & 1) != 0;
  return std::int64_t{bits} - (is_negative ? std::int64_t{1} << width : 0);
}

}  // namespace softgpu::compute
