#include "softgpu/compute/run_time/small_float.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace softgpu::compute::runtime {
namespace {

constexpr int bias = 15;
constexpr std::uint32_t greatest_exponent = 31;

}  // namespace

double widen(SmallFloat type, std::uint32_t bits) {
  const auto fraction_bits = static_cast<int>(type.fraction_bits);
  const std::uint32_t exponent = bits >> fraction_bits & greatest_exponent;
  const std::uint32_t one = 1U << fraction_bits;
  const std::uint32_t fraction = bits & (one - 1);
  double magnitude = std::ldexp(exponent == 0 ? fraction : fraction + one,
                                static_cast<int>(std::max(exponent, 1U)) - bias - fraction_bits);
  if (exponent == greatest_exponent) magnitude = fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  const bool is_negative = type.is_signed && (bits >> (fraction_bits + 5) & 1) != 0;
  return is_negative ? -magnitude : magnitude;
}

std::uint32_t narrow(SmallFloat type, double value) {
  const auto fraction_bits = static_cast<int>(type.fraction_bits);
  const std::uint32_t infinity = greatest_exponent << fraction_bits;
  const std::uint32_t sign = type.is_signed && std::signbit(value) ? 32U << fraction_bits : 0;
  if (std::isnan(value)) return sign | infinity | 1U << (fraction_bits - 1);
  if (!type.is_signed && std::signbit(value)) return 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  const int exponent = std::clamp(std::ilogb(magnitude), 1 - bias, bias + 1);
  // A fraction that rounds up to a whole one carries into the exponent, as it should.
  const double fraction = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  const double encoded = std::ldexp(exponent + bias - 1, fraction_bits) + fraction;
  if (encoded < infinity) return sign | static_cast<std::uint32_t>(encoded);
  return type.is_signed ? sign | infinity : infinity - 1;
}

}  // namespace softgpu::compute::runtime
