// Floating-point numbers of up to 8 bits.
//
// CDNA3's FP8 (E4M3) and BF8 (E5M2) are of the kind FNUZ: they have no infinities and no negative zero, and the one NaN
// is 0x80 ("FP8 and BF8" in the CDNA3 ISA manual; LLVM's Float8E4M3FNUZ and Float8E5M2FNUZ are the same formats).
// CDNA4's are the Open Compute Project's ("Small Float Data Formats" in the CDNA4 ISA manual).
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace softgpu::compute {

struct ByteFloat {
  /// What is no number, or no finite one.
  enum class Specials : std::uint8_t {
    fnuz,            ///< one NaN in the place of negative zero
    largest_is_nan,  ///< the largest magnitude is NaN
    like_ieee,       ///< the largest exponent has infinities and NaNs
    none,
  };
  unsigned exponent_bits, fraction_bits;
  int bias;
  Specials specials;

  [[nodiscard]] constexpr unsigned sign_bit() const { return exponent_bits + fraction_bits; }
  [[nodiscard]] constexpr std::uint32_t sign() const { return 1U << sign_bit(); }
  [[nodiscard]] constexpr std::uint32_t infinity() const { return sign() - (1U << fraction_bits); }
  /// The greatest finite magnitude.
  [[nodiscard]] constexpr std::uint32_t greatest() const {
    if (specials == Specials::like_ieee) return infinity() - 1;
    return specials == Specials::largest_is_nan ? sign() - 2 : sign() - 1;
  }
  /// A NaN: the only one, or that without a sign.
  [[nodiscard]] constexpr std::uint32_t nan() const { return specials == Specials::fnuz ? sign() : sign() - 1; }

  /// The number that the lowest bits encode.
  [[nodiscard]] constexpr float widen(std::uint32_t bits) const {
    const std::uint32_t code = bits & (sign() - 1);
    const bool is_negative = (bits & sign()) != 0;
    if (specials == Specials::fnuz && is_negative && code == 0) return std::numeric_limits<float>::quiet_NaN();
    if (code > greatest()) {
      const bool is_infinite = specials == Specials::like_ieee && code == infinity();
      const float special =
          is_infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
      return is_negative ? -special : special;
    }
    const std::uint32_t one = 1U << fraction_bits;
    const std::uint32_t fraction = code & (one - 1);
    const std::uint32_t exponent = code >> fraction_bits;
    auto magnitude = static_cast<float>(exponent == 0 ? fraction : fraction + one);
    int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - static_cast<int>(fraction_bits);
    for (; power > 0; --power) magnitude *= 2;
    for (; power < 0; ++power) magnitude /= 2;
    return is_negative ? -magnitude : magnitude;
  }
};

/// The number of each code, which is found sooner than by widen().
template <ByteFloat format>
inline constexpr auto numbers_of_codes = [] {
  std::array<float, 256> numbers{};
  for (std::uint32_t code = 0; code < numbers.size(); ++code) numbers[code] = format.widen(code);
  return numbers;
}();

inline constexpr ByteFloat fp8_format = {4, 3, 8, ByteFloat::Specials::fnuz};
inline constexpr ByteFloat bf8_format = {5, 2, 16, ByteFloat::Specials::fnuz};
inline constexpr ByteFloat ocp_fp8_format = {4, 3, 7, ByteFloat::Specials::largest_is_nan};
inline constexpr ByteFloat ocp_bf8_format = {5, 2, 15, ByteFloat::Specials::like_ieee};
inline constexpr ByteFloat ocp_fp6_format = {2, 3, 1, ByteFloat::Specials::none};
inline constexpr ByteFloat ocp_bf6_format = {3, 2, 3, ByteFloat::Specials::none};
inline constexpr ByteFloat ocp_fp4_format = {2, 1, 1, ByteFloat::Specials::none};

}  // namespace softgpu::compute
