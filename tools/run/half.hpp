// 16-bit floating-point numbers (IEEE 754 binary16), which C++20 has no type for.
#pragma once

#include <bit>
#include <cstdint>

/// Owns the bits of one.
struct Half {
  std::uint16_t bits = 0;
};

/// Rounds to the nearest, of two that are equally near to the even one; what is too large becomes infinite.
[[nodiscard]] constexpr Half half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const auto with_sign = [&](std::uint32_t half) { return Half{static_cast<std::uint16_t>(sign | half)}; };
  if (magnitude > 0x7f800000) return with_sign(0x7e00);  // not a number
  if (magnitude >= 0x47800000) return with_sign(0x7c00);
  // The significand with its leading one, and how many of its bits a half has no place for.
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return with_sign(0);
  const bool is_denormal = exponent < 113;
  const std::uint32_t dropped = is_denormal ? 126 - exponent : 13;
  const std::uint32_t significand = is_denormal ? (magnitude & 0x7fffff) | 0x800000 : magnitude - (112U << 23);
  const std::uint32_t kept = significand >> dropped;
  const std::uint32_t rest = significand & ((1U << dropped) - 1);
  const std::uint32_t middle = 1U << (dropped - 1);
  const bool goes_up = rest > middle || (rest == middle && (kept & 1) != 0);
  return with_sign(kept + (goes_up ? 1 : 0));  // the carry of a full significand is the next exponent
}

[[nodiscard]] constexpr float float_of(Half half) {
  const std::uint32_t sign = std::uint32_t{half.bits} >> 15 << 31;
  const std::uint32_t exponent = half.bits >> 10 & 0x1f;
  const std::uint32_t significand = half.bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(significand) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide_exponent = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | wide_exponent << 23 | significand << 13);
}
