// IEEE binary16 for the references: every f16 is exactly a double, so arithmetic happens there and is rounded once.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace softgpu::isa {

enum class Rounding { nearest_even, toward_zero };

struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(double value, Rounding rounding = Rounding::nearest_even) : bits(encode(value, rounding)) {}
  static Half from_bits(std::uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): a half widens to double as float does.
  operator double() const {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 0x3ff;
    double magnitude = std::ldexp(exponent == 0 ? fraction : fraction + 1024, (exponent == 0 ? 1 : exponent) - 25);
    if (exponent == 31)
      magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }

private:
  static std::uint16_t encode(double value, Rounding rounding) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) return 0x7e00;
    const double magnitude = std::fabs(value);
    if (std::isinf(value)) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int quantum = exponent - 11 > -24 ? exponent - 11 : -24;
    const double scaled = std::ldexp(magnitude, -quantum);
    auto units =
        static_cast<unsigned>(rounding == Rounding::nearest_even ? std::nearbyint(scaled) : std::trunc(scaled));
    // The sum carries into the exponent where rounding reached the next power of two.
    unsigned encoded = units < 1024 ? units : static_cast<unsigned>(quantum + 25) * 1024 + (units - 1024);
    if (encoded >= 0x7c00 || quantum > 5) encoded = rounding == Rounding::nearest_even ? 0x7c00 : 0x7bff;
    return static_cast<std::uint16_t>(sign | encoded);
  }
};

/// a * b + c rounded once to f16. The product of two halves is exact in double; the sum is made odd where it is not, so
/// that the second rounding, 42 bits further up, can't see a false tie.
inline Half fused_multiply_add(Half a, Half b, Half c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  const double virtual_addend = sum - product;
  const double error = (product - (sum - virtual_addend)) + (addend - virtual_addend);
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(sum, &exponent), 53);
  if (!std::isfinite(sum) || error == 0 || std::fmod(mantissa, 2) != 0) return Half(sum);
  return Half(std::nextafter(sum, error > 0 ? std::numeric_limits<double>::infinity()
                                            : -std::numeric_limits<double>::infinity()));
}

}  // namespace softgpu::isa
