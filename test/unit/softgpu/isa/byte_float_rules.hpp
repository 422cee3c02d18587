// What FP8 and BF8 mean on the tested GPU, by a list of all numbers that they have: for the references.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tested_target.hpp"

namespace softgpu::isa {

class ByteFloatRules {
public:
  /// FNUZ: 0x80 is the only NaN. `bias` is that of the exponent.
  ByteFloatRules(int fraction_bits, int bias) : ByteFloatRules(fraction_bits, bias, 127) {
    numbers_.at(0x80) = std::numeric_limits<double>::quiet_NaN();
    nan_ = beyond_ = 0x80;
    is_signed_beyond_ = false;
  }
  /// The Open Compute Project's: what comes behind the greatest number is `beyond`, and 0x7f a NaN.
  ByteFloatRules(int fraction_bits, int bias, unsigned greatest, double beyond)
      : ByteFloatRules(fraction_bits, bias, greatest) {
    for (unsigned bits = greatest + 1; bits < 128; ++bits) {
      numbers_.at(bits) = bits == greatest + 1 ? beyond : std::numeric_limits<double>::quiet_NaN();
      numbers_.at(bits + 128) = -numbers_.at(bits);
    }
    nan_ = 0x7f;
    beyond_ = static_cast<std::uint8_t>(greatest + 1);
  }

  [[nodiscard]] float widen(std::uint8_t bits) const { return static_cast<float>(numbers_.at(bits)); }

  /// The nearest number, of two the one whose last bit is 0.
  [[nodiscard]] std::uint8_t narrow(float value) const {
    const unsigned sign = std::signbit(value) ? 128 : 0;
    if (std::isnan(value)) return static_cast<std::uint8_t>(nan_ | (is_signed_beyond_ ? sign : 0));
    const double magnitude = std::fabs(static_cast<double>(value));
    const double middle = (numbers_.at(greatest_) + behind_greatest_) / 2;
    if (magnitude > middle || (magnitude == middle && greatest_ % 2 != 0))
      return static_cast<std::uint8_t>(beyond_ | (is_signed_beyond_ ? sign : 0));
    unsigned best = 0;
    for (unsigned bits = 1; bits <= greatest_; ++bits) {
      const double distance = std::fabs(numbers_.at(bits) - magnitude);
      const double least = std::fabs(numbers_.at(best) - magnitude);
      if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
    }
    return static_cast<std::uint8_t>(best == 0 && !is_signed_beyond_ ? 0 : best + sign);
  }

  /// One of the two numbers around: the one further from zero if the way to it, in units of the float's last digit, and
  /// as many random bits, the highest ones, have a carry.
  [[nodiscard]] std::uint8_t narrow_at_random(float value, std::uint32_t random) const {
    const double magnitude = std::fabs(static_cast<double>(value));
    if (std::isnan(value) || magnitude >= behind_greatest_) return narrow(value);
    unsigned bits = greatest_;
    while (numbers_.at(bits) > magnitude) --bits;
    const double behind = bits == greatest_ ? behind_greatest_ : numbers_.at(bits + 1);
    const unsigned digits = 23 - fraction_bits_;
    const double way = std::floor(
        std::ldexp((magnitude - numbers_.at(bits)) / (behind - numbers_.at(bits)), static_cast<int>(digits)));
    const bool goes_up = way + (random >> (32 - digits)) >= std::ldexp(1, static_cast<int>(digits));
    if (bits == greatest_ && goes_up) return narrow(std::copysign(static_cast<float>(behind_greatest_), value));
    const unsigned code = bits + (goes_up ? 1 : 0);
    return static_cast<std::uint8_t>(code == 0 && !is_signed_beyond_ ? 0 : code + (std::signbit(value) ? 128 : 0));
  }

private:
  ByteFloatRules(int fraction_bits, int bias, unsigned greatest)
      : greatest_(greatest), fraction_bits_(static_cast<unsigned>(fraction_bits)) {
    for (unsigned bits = 0; bits < 128; ++bits) {
      const int exponent = static_cast<int>(bits >> fraction_bits);
      const double fraction = std::ldexp(bits & ((1U << fraction_bits) - 1), -fraction_bits);
      numbers_.at(bits) = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
      numbers_.at(bits + 128) = -numbers_.at(bits);
    }
    behind_greatest_ = 2 * numbers_.at(greatest) - numbers_.at(greatest - 1);  // would come next
  }

  std::array<double, 256> numbers_{};
  unsigned greatest_;
  unsigned fraction_bits_;
  double behind_greatest_ = 0;
  std::uint8_t nan_ = 0;
  std::uint8_t beyond_ = 0;
  bool is_signed_beyond_ = true;  ///< as is zero
};

inline const ByteFloatRules& fp8_rules() {
  static const ByteFloatRules rules = tested_target().architecture->has_ocp_byte_floats
                                          ? ByteFloatRules(3, 7, 0x7e, std::numeric_limits<double>::quiet_NaN())
                                          : ByteFloatRules(3, 8);
  return rules;
}
inline const ByteFloatRules& bf8_rules() {
  static const ByteFloatRules rules = tested_target().architecture->has_ocp_byte_floats
                                          ? ByteFloatRules(2, 15, 0x7b, std::numeric_limits<double>::infinity())
                                          : ByteFloatRules(2, 16);
  return rules;
}

}  // namespace softgpu::isa
