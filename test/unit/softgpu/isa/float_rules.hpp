// Floating-point rules of the ISA manual that several tables share, for MODE as test kernels set it: IEEE mode on,
// denormals kept, round to nearest even.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "tested_target.hpp"
#include "values.hpp"

namespace softgpu::isa {

/// The NaN that minimum and maximum give whatever else they are given, if any: where there is an IEEE mode, a
/// signalling one, quieted; on RDNA4 the first one of two, quieted.
template <class T>
std::optional<T> winning_nan(T a, T b) {
  if (tested_target().architecture->has_float_modes_in_descriptor) {
    if (is_signalling(a)) return quiet(a);
    if (is_signalling(b)) return quiet(b);
    return std::nullopt;
  }
  if (std::isnan(static_cast<double>(a)) && std::isnan(static_cast<double>(b))) return quiet(a);
  return std::nullopt;
}

/// IEEE-754 2008 minNum, on RDNA4 minimumNumber of 2019, with -0 below +0. Other NaNs lose against any number.
template <class T>
T minimum(T a, T b) {
  if (const auto nan = winning_nan(a, b)) return *nan;
  if (std::isnan(static_cast<double>(a))) return b;
  if (std::isnan(static_cast<double>(b))) return a;
  if (a == 0 && b == 0) return std::signbit(static_cast<double>(a)) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  if (const auto nan = winning_nan(a, b)) return *nan;
  if (std::isnan(static_cast<double>(a))) return b;
  if (std::isnan(static_cast<double>(b))) return a;
  if (a == 0 && b == 0) return std::signbit(static_cast<double>(a)) ? b : a;
  return a > b ? a : b;
}
template <class T>
T median(T a, T b, T c) {
  const auto nan = [](T value) { return std::isnan(static_cast<double>(value)); };
  if (nan(a) || nan(b) || nan(c)) return minimum(minimum(a, b), c);
  const T greatest = maximum(maximum(a, b), c);
  if (greatest == a) return maximum(b, c);
  return greatest == b ? maximum(a, c) : maximum(a, b);
}

/// Rounds toward zero and saturates; NaN is 0.
template <class Integer>
Integer to_integer(double value) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<Integer>(value);
}

/// x - floor(x), which rounding must not take to 1.
template <class T>
T fraction(T value, T greatest_below_one) {
  const T result = static_cast<T>(value - std::floor(static_cast<double>(value)));
  return result >= 1 ? greatest_below_one : result;
}

/// The significand in [0.5, 1), or the value itself where it is infinite or a NaN.
inline double significand(double value) {
  int exponent = 0;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}
/// Its exponent, 0 for zero, infinities and NaNs.
inline int exponent_of(double value) {
  int exponent = 0;
  if (std::isfinite(value)) std::frexp(value, &exponent);
  return exponent;
}

/// The biased exponent as the value is encoded.
template <class T>
int exponent_field(T value) {
  constexpr int fraction_bits = sizeof(T) == 8 ? 52 : sizeof(T) == 4 ? 23 : 10;
  return static_cast<int>((to_bits(value) & (sign_bit(type_of<T>()) - 1)) >> fraction_bits);
}

/// The step of a division before the last: a * b + c scaled by 2^power, up where c, the approximate quotient, is 2 or
/// more, down where it is less. (CDNA2's manual only has the way up; later ones tell both.) A denormal result is
/// rounded once.
template <class T>
T division_step(T a, T b, T c, int power) {
  const T plain = std::fma(a, b, c);
  if (!(std::fabs(c) < 2)) return std::ldexp(plain, power);
  const T small = std::ldexp(plain, -power);
  if (power == 0 || !std::isfinite(plain) || std::fabs(small) >= std::numeric_limits<T>::min()) return small;
  using Wide = long double;
  return static_cast<T>(std::ldexp(std::fma(Wide{a}, Wide{b}, Wide{c}), -power));
}

/// The last step of a division, which puts special cases in: `quotient` approximates numerator / denominator.
template <class T>
T division_result(T quotient, T denominator, T numerator) {
  const auto n = static_cast<double>(numerator);
  const auto d = static_cast<double>(denominator);
  const double sign = std::signbit(n) != std::signbit(d) ? -1 : 1;
  if (std::isnan(n)) return quiet(numerator);
  if (std::isnan(d)) return quiet(denominator);
  if ((n == 0 && d == 0) || (std::isinf(n) && std::isinf(d))) return T(std::numeric_limits<double>::quiet_NaN());
  constexpr int underflow = sizeof(T) == 8 ? -1075 : sizeof(T) == 4 ? -150 : -1000;
  if (d == 0 || std::isinf(n)) return T(std::copysign(std::numeric_limits<double>::infinity(), sign));
  if (n == 0 || std::isinf(d)) return T(std::copysign(0.0, sign));
  if (exponent_field(numerator) - exponent_field(denominator) < underflow) return T(std::copysign(0.0, sign));
  if (std::isnan(static_cast<double>(quotient)))  // it overflowed on the way
    return T(std::copysign(std::numeric_limits<double>::infinity(), sign));
  return T(std::copysign(std::fabs(static_cast<double>(quotient)), sign));
}

}  // namespace softgpu::isa
