// What CDNA4 has that CDNA3 has not, besides matrices, loads from LDS and conversions with a scale.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "bfloat.hpp"
#include "half.hpp"
#include "harness.hpp"
#include "vector_form.hpp"
#include "vector_operand.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa::cdna4_instructions {
namespace {

constexpr Options later = {.gfx90a_lacks_them = true};

float lesser(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
float greater(float a, float b) { return -lesser(-a, -b); }

constexpr Tolerance quiets = {.quiets = true};
const VectorInstruction instructions[] = {
    vop1("v_prng_b32", [](u32 a) { return a << 1 ^ (a >> 31 != 0 ? 197U : 0U); }),
    vop3("v_cvt_pk_bf16_f32", [](float a, float b) { return bfloat(a) | bfloat(b) << 16; }),
    vop3("v_cvt_pk_f16_f32",
         [](float a, float b) {
           return PackedHalf{Half(static_cast<double>(a)), Half(static_cast<double>(b))};
         }),
    vop3("v_minimum3_f32", [](float a, float b, float c) { return lesser(lesser(a, b), c); }).within(quiets),
    vop3("v_maximum3_f32", [](float a, float b, float c) { return greater(greater(a, b), c); }).within(quiets),
};
Half lesser_half(Half a, Half b) {
  return Half(static_cast<double>(
      lesser(static_cast<float>(static_cast<double>(a)), static_cast<float>(static_cast<double>(b)))));
}
TEST(LaterCdna4, FindsExtremesOfPackedHalves) {
  std::vector<Case> cases;
  for (const bool is_least : {true, false})
    cases.push_back(
        {.assembly = std::string("v_pk_") + (is_least ? "minimum3" : "maximum3") + "_f16 v8, v0, v2, v4",
         .prepare =
             [](MachineState& state, Random& random) {
               for (const unsigned n : {0U, 2U, 4U})
                 for (u32& both : state.vector[n]) {
                   const auto half = [&] { return static_cast<u32>(random() % 2 << 15 | random() % 0x7801); };
                   both = half() | half() << 16;
                 }
             },
         .reference =
             [is_least](MachineState& state) {
               for (unsigned lane = 0; lane < lane_count; ++lane) {
                 if (!state.active(lane)) continue;
                 u32 result = 0;
                 for (const unsigned shift : {0U, 16U}) {
                   const u32 sign = is_least ? 0 : 0x8000;
                   const auto source = [&](unsigned n) {
                     return Half::from_bits(static_cast<std::uint16_t>(state.vector[n][lane] >> shift ^ sign));
                   };
                   result |= (lesser_half(lesser_half(source(0), source(2)), source(4)).bits ^ sign) << shift;
                 }
                 state.vector[8][lane] = result;
               }
             }});
  expect_match(cases, later);
}

FASTDISPATCH_VECTOR_SUITE(LaterCdna4, instructions, .gfx90a_lacks_them = true);

TEST(LaterCdna4, WidensBfloats) {
  expect_match({{.assembly = "v_cvt_f32_bf16 v8, v0",
                 .prepare = {},
                 .reference =
                     [](MachineState& state) {
                       for (unsigned lane = 0; lane < lane_count; ++lane)
                         if (state.active(lane)) state.vector[8][lane] = state.vector[0][lane] << 16;
                     }}},
               later);
}

/// Bit n is the table's bit {S0[n], S1[n], S2[n]}.
u32 combined(u32 table, const std::array<u32, 3>& sources) {
  u32 result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const u32 number = (sources[0] >> bit & 1) << 2 | (sources[1] >> bit & 1) << 1 | (sources[2] >> bit & 1);
    result |= (table >> number & 1) << bit;
  }
  return result;
}

constexpr std::array<u32, 6> tables = {0x00, 0x36, 0x80, 0x96, 0xe8, 0xff};

TEST(LaterCdna4, CombinesBitsByATable) {
  std::vector<Case> cases;
  for (const u32 table : tables)
    cases.push_back(
        {.assembly = "v_bitop3_b32 v8, v0, s4, v2" + (table == 0 ? "" : " bitop3:" + std::to_string(table)),
         .prepare = {},
         .reference = [table](MachineState& state) {
           for (unsigned lane = 0; lane < lane_count; ++lane)
             if (state.active(lane))
               state.vector[8][lane] = combined(table, {state.vector[0][lane], state.scalar[4], state.vector[2][lane]});
         }});
  expect_match(cases, later);
}

/// Of halves that op_sel selects, a bit for each source and for the destination, whose other half stays.
TEST(LaterCdna4, CombinesBitsOfHalvesByATable) {
  std::vector<Case> cases;
  for (const u32 table : tables)
    for (const unsigned halves : {0U, 1U, 2U, 4U, 8U, 13U})
      cases.push_back(
          {.assembly = "v_bitop3_b16 v8, v0, s4, v2" + (table == 0 ? "" : " bitop3:" + std::to_string(table)) +
                       " op_sel:[" + std::to_string(halves & 1) + "," + std::to_string(halves >> 1 & 1) + "," +
                       std::to_string(halves >> 2 & 1) + "," + std::to_string(halves >> 3) + "]",
           .prepare = {},
           .reference = [table, halves](MachineState& state) {
             for (unsigned lane = 0; lane < lane_count; ++lane) {
               if (!state.active(lane)) continue;
               const auto half = [&](unsigned n, u32 dword) { return dword >> (halves >> n & 1) * 16 & 0xffff; };
               const u32 result = combined(table, {half(0, state.vector[0][lane]), half(1, state.scalar[4]),
                                                   half(2, state.vector[2][lane])}) &
                                  0xffff;
               u32& destination = state.vector[8][lane];
               destination =
                   (halves >> 3) != 0 ? (destination & 0xffff) | result << 16 : (destination & 0xffff0000) | result;
             }
           }});
  expect_match(cases, later);
}

/// Two numbers shifted right, as bytes of the half that op_sel selects; the other half stays.
TEST(LaterCdna4, ShiftsToSaturatedBytes) {
  std::vector<Case> cases;
  for (const bool is_signed : {true, false})
    for (const bool upper : {false, true})
      cases.push_back(
          {.assembly = std::string("v_ashr_pk_") + (is_signed ? "i8" : "u8") + "_i32 v8, v0, v2, v4" +
                       (upper ? " op_sel:[0,0,0,1]" : ""),
           .prepare = {},
           .reference = [is_signed, upper](MachineState& state) {
             for (unsigned lane = 0; lane < lane_count; ++lane) {
               if (!state.active(lane)) continue;
               const auto byte = [&](unsigned n) {
                 const auto shifted = static_cast<std::int32_t>(state.vector[n][lane]) >> (state.vector[4][lane] & 31);
                 const auto bounded = is_signed ? std::clamp(shifted, -128, 127) : std::clamp(shifted, 0, 255);
                 return static_cast<u32>(bounded) & 0xff;
               };
               const u32 both = byte(0) | byte(2) << 8;
               u32& destination = state.vector[8][lane];
               destination = upper ? (destination & 0xffff) | both << 16 : (destination & 0xffff0000) | both;
             }
           }});
  expect_match(cases, later);
}

/// With all lanes enabled: the manual tells of no others.
TEST(LaterCdna4, SwapsRowsOfTwoRegisters) {
  std::vector<Case> cases;
  for (const unsigned lanes : {16U, 32U})
    cases.push_back({.assembly = "v_permlane" + std::to_string(lanes) + "_swap_b32 v8, v2",
                     .prepare = [](MachineState& state, Random&) { state.exec = ~u64{0}; },
                     .reference =
                         [lanes](MachineState& state) {
                           for (unsigned lane = 0; lane < lane_count; ++lane)
                             if ((lane & lanes) == 0) std::swap(state.vector[2][lane], state.vector[8][lane + lanes]);
                         }});
  expect_match(cases, later);
}

}  // namespace
}  // namespace softgpu::isa::cdna4_instructions
