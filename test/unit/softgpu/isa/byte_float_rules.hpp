// What FP8 and BF8 mean, by a list of all numbers that they have: for the references.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace softgpu::isa {

class ByteFloatRules {
public:
  /// `bias` is that of the exponent.
  ByteFloatRules(int fraction_bits, int bias) {
    for (unsigned bits = 0; bits < 128; ++bits) {
      const int exponent = static_cast<int>(bits >> fraction_bits);
      const double fraction = std::ldexp(bits & ((1U << fraction_bits) - 1), -fraction_bits);
      numbers_.at(bits) = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
      numbers_.at(bits + 128) = -numbers_.at(bits);
    }
    numbers_.at(0x80) = std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] float widen(std::uint8_t bits) const { return static_cast<float>(numbers_.at(bits)); }

  /// The nearest number, of two the one whose last bit is 0; the only NaN where that is beyond the greatest number.
  [[nodiscard]] std::uint8_t narrow(float value) const {
    const double magnitude = std::fabs(static_cast<double>(value));
    const double behind = 2 * numbers_[127] - numbers_[126];  // would come next, and be even
    if (!(magnitude < (numbers_[127] + behind) / 2)) return 0x80;
    unsigned best = 0;
    for (unsigned bits = 1; bits < 128; ++bits) {
      const double distance = std::fabs(numbers_.at(bits) - magnitude);
      const double least = std::fabs(numbers_.at(best) - magnitude);
      if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
    }
    return static_cast<std::uint8_t>(best == 0 || value > 0 ? best : best + 128);
  }

private:
  std::array<double, 256> numbers_{};
};

inline const ByteFloatRules& fp8_rules() {
  static const ByteFloatRules rules(3, 8);
  return rules;
}
inline const ByteFloatRules& bf8_rules() {
  static const ByteFloatRules rules(2, 16);
  return rules;
}

}  // namespace softgpu::isa
