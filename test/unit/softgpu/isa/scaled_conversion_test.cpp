// CDNA4's conversions from and to 8, 6 and 4-bit floating point that multiply or divide by a scale.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "bfloat.hpp"
#include "byte_float_rules.hpp"
#include "half.hpp"
#include "harness.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::scaled_conversion {
namespace {

constexpr Options later = {.gfx90a_lacks_them = true};

enum class Wide { f32, f16, bf16 };
struct Narrow {
  std::string name;
  unsigned bits;
};

/// FP4, FP6 and BF6, which have nothing but numbers.
float small_number(const Narrow& type, u32 code) {
  const unsigned fraction_bits = type.name == "fp4" ? 1 : type.name == "fp6" ? 3 : 2;
  const int bias = type.name == "bf6" ? 3 : 1;
  const u32 magnitude = code & ((1U << (type.bits - 1)) - 1);
  const auto fraction = static_cast<float>(magnitude & ((1U << fraction_bits) - 1));
  const u32 exponent = magnitude >> fraction_bits;
  const float one = std::ldexp(1.0F, static_cast<int>(fraction_bits));
  const float number =
      std::ldexp(exponent == 0 ? fraction : fraction + one,
                 (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - static_cast<int>(fraction_bits));
  return (code >> (type.bits - 1) & 1) != 0 ? -number : number;
}
/// What is too large becomes the greatest number.
u32 nearest_small_number(const Narrow& type, float value) {
  u32 best = 0;
  for (u32 code = 1; code < 1U << (type.bits - 1); ++code) {
    const float distance = std::fabs(small_number(type, code) - std::fabs(value));
    const float least = std::fabs(small_number(type, best) - std::fabs(value));
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(value) ? 1U << (type.bits - 1) : 0);
}
u32 narrowed(const Narrow& type, float value) {
  if (type.bits < 8) return nearest_small_number(type, value);
  return type.name == "fp8" ? fp8_rules().narrow(value) : bf8_rules().narrow(value);
}
float widened(const Narrow& type, u32 code) {
  if (type.bits < 8) return small_number(type, code);
  const auto byte = static_cast<std::uint8_t>(code);
  return type.name == "fp8" ? fp8_rules().widen(byte) : bf8_rules().widen(byte);
}

float number_of_half(Wide type, u32 half) {
  if (type == Wide::bf16) return std::bit_cast<float>(half << 16);
  return static_cast<float>(static_cast<double>(Half::from_bits(static_cast<std::uint16_t>(half))));
}
float wide_source(Wide type, const MachineState& state, unsigned lane, unsigned n) {
  if (type == Wide::f32) return std::bit_cast<float>(state.vector[2 * n][lane]);
  return number_of_half(type, state.vector[0][lane] >> 16 * n & 0xffff);
}
u32 wide_bits(Wide type, float value) {
  if (type == Wide::f32) return std::bit_cast<u32>(value);
  return type == Wide::f16 ? Half(static_cast<double>(value)).bits : bfloat(value);
}
float power(u32 scale, int sign) { return std::ldexp(1.0F, sign * (static_cast<int>(scale >> 23 & 0xff) - 127)); }

void set_scale(MachineState& state, Random& random, unsigned vgpr = 4) {
  for (u32& scale : state.vector.at(vgpr))
    scale = (scale & 0x807fffff) | static_cast<u32>(124 + random() % 7) << 23;  // the exponent alone counts
}

/// A scale in v4, and in v0 bits of which all bytes are finite numbers.
void set_numbers_to_widen(const Narrow& narrow, MachineState& state, Random& random) {
  set_scale(state, random);
  for (u32& held : state.vector[0])
    for (unsigned bit = 0; bit < 32 && narrow.bits == 8; bit += 8)
      if (!std::isfinite(widened(narrow, held >> bit & 0xff))) held &= ~(0x18U << bit);
}

/// To be divided by a scale, and then be of the numbers that are narrow, or not far beyond.
float number_to_narrow(Random& random) {
  const double fraction = 1 + static_cast<double>(random() % 64) / 64;
  const double value = std::ldexp(fraction, static_cast<int>(random() % 22) - 11);
  return static_cast<float>(random() % 2 == 0 ? value : -value);
}

const std::pair<const char*, Wide> wide_types[] = {{"f32", Wide::f32}, {"f16", Wide::f16}, {"bf16", Wide::bf16}};

class ScaledConversions : public testing::TestWithParam<Narrow> {};
TEST_P(ScaledConversions, LaterNarrow) {
  const Narrow narrow = GetParam();
  std::vector<Case> cases;
  for (const auto& [wide_name, its_type] : wide_types)
    for (unsigned part = 0; part < 16 / narrow.bits; ++part) {
      const Wide wide = its_type;
      const bool has_three_sources = wide == Wide::f32;
      const std::string sources = has_three_sources ? "v0, v2, v4" : "v0, v4";
      std::string modifiers = " op_sel:[0,0," + std::to_string(part % 2) + "," + std::to_string(part / 2) + "]";
      if (narrow.bits == 8)
        modifiers = std::string(" op_sel:[0,0,") + (has_three_sources ? "0," : "") + std::to_string(part) + "]";
      cases.push_back({.assembly = "v_cvt_scalef32_pk_" + narrow.name + "_" + wide_name + " v8, " + sources + modifiers,
                       .prepare =
                           [wide](MachineState& state, Random& random) {
                             set_scale(state, random);
                             const auto number = [&] { return number_to_narrow(random); };
                             for (unsigned lane = 0; lane < lane_count; ++lane)
                               if (wide == Wide::f32) {
                                 for (const unsigned n : {0U, 2U}) state.vector[n][lane] = std::bit_cast<u32>(number());
                               } else {
                                 state.vector[0][lane] = wide_bits(wide, number()) | wide_bits(wide, number()) << 16;
                               }
                           },
                       .reference =
                           [=](MachineState& state) {
                             for (unsigned lane = 0; lane < lane_count; ++lane) {
                               if (!state.active(lane)) continue;
                               const float factor = power(state.vector[4][lane], -1);
                               const u32 low = narrowed(narrow, wide_source(wide, state, lane, 0) * factor);
                               const u32 high = narrowed(narrow, wide_source(wide, state, lane, 1) * factor);
                               const unsigned shift = part * 2 * narrow.bits;
                               u32& result = state.vector[8][lane];
                               result &= ~(((1U << 2 * narrow.bits) - 1) << shift);
                               result |= (low | high << narrow.bits) << shift;
                             }
                           }});
    }
  expect_match(cases, later);
}

TEST_P(ScaledConversions, LaterWiden) {
  const Narrow narrow = GetParam();
  std::vector<Case> cases;
  for (const auto& [wide_name, its_type] : wide_types)
    for (unsigned part = 0; part < 16 / narrow.bits; ++part) {
      const Wide wide = its_type;
      cases.push_back(
          {.assembly = "v_cvt_scalef32_pk_" + std::string(wide_name) + "_" + narrow.name +
                       (wide == Wide::f32 ? " v[8:9]" : " v8") + ", v0, v4 op_sel:[" + std::to_string(part % 2) + "," +
                       std::to_string(part / 2) + ",0]",
           .prepare = [narrow](MachineState& state, Random& random) { set_numbers_to_widen(narrow, state, random); },
           .reference =
               [=](MachineState& state) {
                 for (unsigned lane = 0; lane < lane_count; ++lane) {
                   if (!state.active(lane)) continue;
                   const float factor = power(state.vector[4][lane], 1);
                   const u32 held = state.vector[0][lane] >> part * 2 * narrow.bits;
                   const u32 mask = (1U << narrow.bits) - 1;
                   const u32 low = wide_bits(wide, widened(narrow, held & mask) * factor);
                   const u32 high = wide_bits(wide, widened(narrow, held >> narrow.bits & mask) * factor);
                   state.vector[8][lane] = wide == Wide::f32 ? low : low | high << 16;
                   if (wide == Wide::f32) state.vector[9][lane] = high;
                 }
               }});
    }
  expect_match(cases, later);
}
INSTANTIATE_TEST_SUITE_P(Cdna4, ScaledConversions,
                         testing::Values(Narrow{"fp8", 8}, Narrow{"bf8", 8}, Narrow{"fp4", 4}),
                         [](const auto& row) { return row.param.name; });

TEST(ScaledConversion, LaterWidensByteFloatsOneByOne) {
  std::vector<Case> cases;
  for (const Narrow& narrow : {Narrow{"fp8", 8}, Narrow{"bf8", 8}})
    for (const Wide wide : {Wide::f32, Wide::f16})
      for (unsigned place = 0; place < (wide == Wide::f32 ? 4 : 8); ++place) {
        const unsigned byte = place % 4;
        const unsigned half = place / 4;
        cases.push_back(
            {.assembly = std::string("v_cvt_scalef32_") + (wide == Wide::f32 ? "f32_" : "f16_") + narrow.name +
                         " v8, v0, v4 op_sel:[" + std::to_string(byte % 2) + "," + std::to_string(byte / 2) + "," +
                         std::to_string(half) + "]",
             .prepare = [narrow](MachineState& state, Random& random) { set_numbers_to_widen(narrow, state, random); },
             .reference =
                 [=](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!state.active(lane)) continue;
                     const float number =
                         widened(narrow, state.vector[0][lane] >> 8 * byte & 0xff) * power(state.vector[4][lane], 1);
                     u32& result = state.vector[8][lane];
                     const u32 kept = wide == Wide::f32 ? 0 : result & (half != 0 ? 0xffffU : 0xffff0000U);
                     result = kept | wide_bits(wide, number) << 16 * half;
                   }
                 }});
      }
  expect_match(cases, later);
}

/// 32 numbers of 6 bits, one behind the other in six registers.
class SixBits : public testing::TestWithParam<Narrow> {};

/// v0 to v5 become v32 and those behind, of which eight at a time are read.
TEST_P(SixBits, LaterWiden) {
  const Narrow narrow = GetParam();
  std::vector<Case> cases;
  for (const auto& [wide_name, its_type] : wide_types) {
    const Wide wide = its_type;
    const unsigned results = wide == Wide::f32 ? 32 : 16;
    for (unsigned first = 0; first < results; first += 8) {
      std::string text = "v_cvt_scalef32_pk32_" + std::string(wide_name) + "_" + narrow.name + " " +
                         registers('v', 32, results) + ", v[0:5], v6";
      for (unsigned n = 0; n < 8; ++n)
        text += "\nv_mov_b32 v" + std::to_string(8 + n) + ", v" + std::to_string(32 + first + n);
      cases.push_back({.assembly = text,
                       .prepare = [](MachineState& state, Random& random) { set_scale(state, random, 6); },
                       .reference =
                           [=](MachineState& state) {
                             for (unsigned lane = 0; lane < lane_count; ++lane) {
                               if (!state.active(lane)) continue;
                               const float factor = power(state.vector[6][lane], 1);
                               const auto number = [&](unsigned n) {
                                 u32 code = 0;
                                 for (unsigned bit = 0; bit < 6; ++bit)
                                   code |= (state.vector[(6 * n + bit) / 32][lane] >> (6 * n + bit) % 32 & 1) << bit;
                                 return wide_bits(wide, widened(narrow, code) * factor);
                               };
                               for (unsigned n = 0; n < 8; ++n)
                                 state.vector[8 + n][lane] =
                                     wide == Wide::f32 ? number(first + n)
                                                       : number(2 * (first + n)) | number(2 * (first + n) + 1) << 16;
                             }
                           }});
    }
  }
  expect_match(cases, later);
}

/// v0 to v7 are the first half of the sources, and again the second; of floats, turned by three in the second tuple.
TEST_P(SixBits, LaterNarrow) {
  const Narrow narrow = GetParam();
  std::vector<Case> cases;
  for (const auto& [wide_name, its_type] : wide_types) {
    const Wide wide = its_type;
    const bool is_single = wide == Wide::f32;
    std::string text;
    for (unsigned n = 0; n < 32; ++n)
      text += "v_mov_b32 v" + std::to_string(20 + n) + ", v" + std::to_string((n + n / 16 * 3) % 8) + "\n";
    text += std::string("v_cvt_scalef32_") + (is_single ? "2xpk16_" : "pk32_") + narrow.name + "_" + wide_name +
            " v[52:57], v[20:35]" + (is_single ? ", v[36:51]" : "") + ", v8";
    for (unsigned n = 0; n < 6; ++n) text += "\nv_mov_b32 v" + std::to_string(9 + n) + ", v" + std::to_string(52 + n);
    cases.push_back({.assembly = text,
                     .prepare =
                         [wide](MachineState& state, Random& random) {
                           set_scale(state, random, 8);
                           const auto bits = [&] { return wide_bits(wide, number_to_narrow(random)); };
                           for (unsigned n = 0; n < 8; ++n)
                             for (u32& held : state.vector[n])
                               held = wide == Wide::f32 ? bits() : bits() | bits() << 16;
                         },
                     .reference =
                         [=](MachineState& state) {
                           for (unsigned lane = 0; lane < lane_count; ++lane) {
                             if (!state.active(lane)) continue;
                             const float factor = power(state.vector[8][lane], -1);
                             std::array<u32, 6> results = {};
                             for (unsigned n = 0; n < 32; ++n) {
                               const unsigned source = is_single ? (n + n / 16 * 3) % 8 : n / 2 % 8;
                               const u32 held = state.vector[source][lane] >> (is_single ? 0 : n % 2 * 16);
                               const float number =
                                   is_single ? std::bit_cast<float>(held) : number_of_half(wide, held & 0xffff);
                               const u32 code = narrowed(narrow, number * factor);
                               for (unsigned bit = 0; bit < 6; ++bit)
                                 results.at((6 * n + bit) / 32) |= (code >> bit & 1) << (6 * n + bit) % 32;
                             }
                             for (unsigned n = 0; n < 6; ++n) state.vector[9 + n][lane] = results.at(n);
                           }
                         }});
  }
  expect_match(cases, later);
}
INSTANTIATE_TEST_SUITE_P(Cdna4, SixBits, testing::Values(Narrow{"fp6", 6}, Narrow{"bf6", 6}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace softgpu::isa::scaled_conversion
