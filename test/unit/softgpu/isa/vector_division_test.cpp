// What divisions and trigonometry are built of, and whole divisions as compilers emit them.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "float_rules.hpp"
#include "vector_form.hpp"

namespace softgpu::isa {
namespace {

/// Thresholds of v_div_scale by type, from the manual's pseudo code.
template <class T>
struct Scaling;
template <>
struct Scaling<float> {
  static constexpr int far_apart = 96, tiny_numerator = 23, by = 64, min_exponent = -126, ordinary = 45;
};
template <>
struct Scaling<double> {
  static constexpr int far_apart = 768, tiny_numerator = 53, by = 128, min_exponent = -1022, ordinary = 380;
};

/// Of half of the states, gives these registers numbers that are so close to 1 that nothing has to be done for any
/// lane, or almost so close.
template <class T>
void make_ordinary(MachineState& state, Random& random, const std::vector<unsigned>& registers) {
  if (random() % 2 == 0) return;
  const int furthest = Scaling<T>::ordinary - 4 + static_cast<int>(random() % 40);
  for (unsigned lane = 0; lane < lane_count; ++lane)
    for (const unsigned source : registers) {
      const int exponent = static_cast<int>(random() % (2 * furthest + 1)) - furthest;
      const T fraction = 1 + static_cast<T>(random() % 0x800000) / 0x800000;
      const T value = std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent);
      state.set_vector_value(source, lane, sizeof(T), to_bits(value));
    }
}

/// The same instruction, also with such numbers.
template <class T>
Case also_ordinary(Case made, const std::vector<unsigned>& registers) {
  made.prepare = [prepare = made.prepare, registers](MachineState& state, Random& random) {
    prepare(state, random);
    make_ordinary<T>(state, random, registers);
  };
  return made;
}

template <class T>
bool denormal(T value) {
  return value != 0 && std::fabs(value) < std::ldexp(T{1}, Scaling<T>::min_exponent);
}
/// Scales `value`, which is the denominator or the numerator, so that the steps of the division neither overflow nor
/// lose bits; the mask tells v_div_fmas to scale the quotient back.
template <class T>
WithMask<T> scaled(T value, T denominator, T numerator) {
  using S = Scaling<T>;
  if (denominator == 0 || numerator == 0) return {std::numeric_limits<T>::quiet_NaN(), false};
  const bool is_denominator = to_bits(value) == to_bits(denominator);
  const bool is_numerator = to_bits(value) == to_bits(numerator);
  const T inverse = T{1} / denominator;
  const T quotient = numerator / denominator;
  if (exponent_field(numerator) - exponent_field(denominator) >= S::far_apart)
    return {is_denominator ? std::ldexp(value, S::by) : value, true};
  if (denormal(denominator)) return {std::ldexp(value, S::by), false};
  // The manual's text scales up here, which would overflow the denominator; hardware's divisions come out right.
  if (denormal(inverse) && denormal(quotient)) return {is_denominator ? std::ldexp(value, -S::by) : value, true};
  if (denormal(inverse)) return {std::ldexp(value, -S::by), false};
  if (denormal(quotient)) return {is_numerator ? std::ldexp(value, S::by) : value, true};
  if (exponent_field(numerator) <= S::tiny_numerator) return {std::ldexp(value, S::by), false};
  return {value, false};
}

/// The first source is the same register as the second (the denominator) or the third (the numerator).
template <class T>
void expect_scaling(const std::string& mnemonic) {
  const VectorInstruction row = vop3(mnemonic, scaled<T>);
  std::vector<Case> cases;
  for (const unsigned first : {2U, 4U}) {
    constexpr Type type = type_of<T>();
    VectorForm form{.sources = {vgpr(type, first), vgpr(type, 2), vgpr(type, 4)}};
    cases.push_back(also_ordinary<T>(case_of(row, form), {2, 4}));
    form.mask_out_vcc = false;
    cases.push_back(also_ordinary<T>(case_of(row, form), {2, 4}));
  }
  expect_match(cases, {.states = 4});
}
TEST(VectorDivision, ScaleSingle) { expect_scaling<float>("v_div_scale_f32"); }
TEST(VectorDivision, ScaleDouble) { expect_scaling<double>("v_div_scale_f64"); }

template <class T>
void expect_fixup(const std::string& mnemonic) {
  const VectorInstruction row = vop3(mnemonic, [](T a, T b, T c) { return division_result(a, b, c); });
  constexpr Type type = type_of<T>();
  const VectorForm form{.sources = {vgpr(type, 2), vgpr(type, 4), vgpr(type, 6)}};
  expect_match({also_ordinary<T>(case_of(row, form), {4, 6}), also_ordinary<T>(case_of(row, form), {2, 4, 6})},
               {.states = 4});
}
TEST(VectorDivision, FixupSingle) { expect_fixup<float>("v_div_fixup_f32"); }
TEST(VectorDivision, FixupDouble) { expect_fixup<double>("v_div_fixup_f64"); }

/// A snippet that leaves a quotient of two vector registers in v8.
template <class T>
Case division(std::string assembly, unsigned numerator, unsigned denominator) {
  constexpr Type type = type_of<T>();
  Case made{.assembly = std::move(assembly), .prepare = {}, .reference = {}};
  made.prepare = [=](MachineState& state, Random& random) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      for (const unsigned source : {numerator, denominator})
        state.set_vector_value(source, lane, sizeof(T), interesting_value(type, random));
    make_ordinary<T>(state, random, {numerator, denominator});
  };
  made.reference = [=](MachineState& state) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (!state.active(lane)) continue;
      const T quotient = from_bits<T>(state.vector_value(numerator, lane, sizeof(T))) /
                         from_bits<T>(state.vector_value(denominator, lane, sizeof(T)));
      state.set_vector_value(8, lane, sizeof(T), to_bits(quotient));
    }
    state.vcc = 0;
    state.set_scalar_value(16, 8, state.exec);
    for (unsigned i = 9 + (sizeof(T) == 8 ? 1 : 0); i < vector_count; ++i) state.vector[i].fill(0);
  };
  made.float_results = {{.vgpr = 8, .type = type}};
  return made;
}

const char* const clear_temporaries =
    "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\nv_mov_b32 v10, 0\nv_mov_b32 v11, 0\n"
    "v_mov_b32 v12, 0\nv_mov_b32 v13, 0\nv_mov_b32 v14, 0\nv_mov_b32 v15, 0\n"
    "s_mov_b64 exec, s[16:17]\ns_mov_b64 vcc, 0";

TEST(VectorDivision, SequenceOfSingleInstructionsIsCorrectlyRounded) {
  expect_match({division<float>(std::string("v_div_scale_f32 v9, s[16:17], v1, v1, v0\n"
                                            "v_div_scale_f32 v10, vcc, v0, v1, v0\n"
                                            "v_rcp_f32 v11, v9\n"
                                            "v_fma_f32 v12, -v9, v11, 1.0\n"
                                            "v_fma_f32 v11, v12, v11, v11\n"
                                            "v_mul_f32 v12, v10, v11\n"
                                            "v_fma_f32 v13, -v9, v12, v10\n"
                                            "v_fma_f32 v12, v13, v11, v12\n"
                                            "v_fma_f32 v9, -v9, v12, v10\n"
                                            "v_div_fmas_f32 v9, v9, v11, v12\n"
                                            "v_div_fixup_f32 v8, v9, v1, v0\n"
                                            "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\nv_mov_b32 v9, 0\n"
                                            "s_mov_b64 exec, s[16:17]\n") +
                                    clear_temporaries,
                                0, 1)},
               {.states = 8});
}

TEST(VectorDivision, SequenceOfDoubleInstructionsIsCorrectlyRounded) {
  expect_match({division<double>(std::string("v_div_scale_f64 v[10:11], s[16:17], v[2:3], v[2:3], v[0:1]\n"
                                             "v_rcp_f64 v[12:13], v[10:11]\n"
                                             "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0\n"
                                             "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]\n"
                                             "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0\n"
                                             "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]\n"
                                             "v_div_scale_f64 v[14:15], vcc, v[0:1], v[2:3], v[0:1]\n"
                                             "v_mul_f64 v[8:9], v[14:15], v[12:13]\n"
                                             "v_fma_f64 v[10:11], -v[10:11], v[8:9], v[14:15]\n"
                                             "v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[8:9]\n"
                                             "v_div_fixup_f64 v[8:9], v[10:11], v[2:3], v[0:1]\n") +
                                     clear_temporaries,
                                 0, 2)},
               {.states = 8});
}

/// The first 1264 binary digits of 2/pi after the point, most significant first, by Machin's formula and a long
/// division.
std::vector<u32> two_over_pi() {
  constexpr std::size_t words = 44;  // of 32 bits; those beyond the 39.5 in use absorb rounding
  using Fixed = std::vector<u32>;    // one word before the point
  const auto divide = [](Fixed& number, u32 divisor) {
    u64 rest = 0;
    for (u32& word : number) {
      rest = rest << 32 | word;
      word = static_cast<u32>(rest / divisor);
      rest %= divisor;
    }
  };
  const auto add = [](Fixed& to, const Fixed& from) {
    u64 carry = 0;
    for (std::size_t i = words; i-- > 0;) {
      carry += u64{to[i]} + from[i];
      to[i] = static_cast<u32>(carry);
      carry >>= 32;
    }
  };
  const auto subtract = [](Fixed& to, const Fixed& from) {
    u64 borrow = 0;
    for (std::size_t i = words; i-- > 0;) {
      const u64 difference = u64{to[i]} - from[i] - borrow;
      to[i] = static_cast<u32>(difference);
      borrow = difference >> 63;
    }
  };
  const auto arc_cotangent = [&](u32 scale, u32 x) {
    Fixed sum(words), power(words);
    power[0] = scale;
    divide(power, x);
    for (u32 n = 1; power != Fixed(words); n += 2) {
      Fixed term = power;
      divide(term, n);
      if (n % 4 == 1)
        add(sum, term);
      else
        subtract(sum, term);
      divide(power, x);
      divide(power, x);
    }
    return sum;
  };
  Fixed pi_by_two = arc_cotangent(8, 5);  // pi/2 = 8 acot 5 - 2 acot 239
  subtract(pi_by_two, arc_cotangent(2, 239));

  Fixed remainder(words);
  remainder[0] = 1;
  std::vector<u32> digits;
  for (unsigned bit = 0; bit < 1264; ++bit) {
    add(remainder, Fixed(remainder));
    digits.push_back(remainder >= pi_by_two ? 1 : 0);
    if (digits.back() != 0) subtract(remainder, pi_by_two);
  }
  return digits;
}

/// 53 bits of 2/pi, from the `segment`-th group on, further down for huge arguments.
double segment_of_two_over_pi(double argument, u32 segment) {
  static const std::vector<u32> digits = two_over_pi();
  const int exponent = exponent_field(argument);
  int shift = static_cast<int>(segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  double bits = 0;
  for (unsigned i = 0; i < 53; ++i) {
    const auto digit = static_cast<std::size_t>(shift) + i;
    bits = 2 * bits + (digit < 1201 ? digits[digit] : 0);
  }
  return std::ldexp(bits, -53 - shift + (exponent >= 1968 ? 128 : 0));
}

TEST(VectorTrigonometry, PreoperationLooksUpTwoOverPi) {
  const auto few_segments = [](std::size_t source, u64 bits) { return source == 1 ? bits & 0xffffffe3 : bits; };
  expect_match(
      cases_of(vop3("v_trig_preop_f64", segment_of_two_over_pi).constrained(few_segments).without({Form::constant})));
}

}  // namespace
}  // namespace softgpu::isa
