// RDNA3's DPP, beyond the instructions that gfx90a has with it: comparisons, and VOP3P.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "half.hpp"
#include "harness.hpp"
#include "tested_target.hpp"
#include "values.hpp"

namespace softgpu::isa::later_data_parallel {
namespace {

constexpr Options later = {.gfx90a_lacks_them = true};
constexpr const char* of_neighbours = " quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf";
constexpr const char* of_neighbours_in_even_rows = " quad_perm:[1,0,3,2] row_mask:0x5 bank_mask:0xf";

/// All lanes take part, with operands of a type each in v0, v2 and v4.
Case vector_case(const std::string& text, Type type, const std::function<void(MachineState&)>& reference) {
  return {.assembly = text,
          .prepare =
              [=](MachineState& state, Random& random) {
                state.exec = tests_wave32() ? 0xffffffff : ~u64{0};
                for (const unsigned n : {0U, 2U, 4U})
                  for (u32& value : state.vector.at(n)) value = static_cast<u32>(interesting_value(type, random));
              },
          .reference = reference};
}

TEST(LaterDpp, ComparesWithANeighbour) {
  const auto lanes = tested_target().wavefront_size;
  const auto made = [=](const std::string& mnemonic, bool (*holds)(u32 other, u32 own)) {
    return vector_case(mnemonic + " " + vcc_text() + ", v0, v2" + of_neighbours + " bound_ctrl:1", Type::uint32,
                       [=](MachineState& state) {
                         if (lanes == 32) state.vcc &= 0xffffffff00000000;
                         if (lanes == 64) state.vcc = 0;
                         for (unsigned lane = 0; lane < lanes; ++lane)
                           if (holds(state.vector[0][lane ^ 1], state.vector[2][lane])) state.vcc |= u64{1} << lane;
                       });
  };
  expect_match(
      {made("v_cmp_lt_u32_dpp", [](u32 other, u32 own) { return other < own; }),
       made("v_cmp_ge_i32_dpp", [](u32 other, u32 own) { return static_cast<i32>(other) >= static_cast<i32>(own); })},
      later);
}

TEST(LaterDpp, MixesPrecisionsOfTheRowsThatItWrites) {
  const auto made = [](const std::string& mnemonic, unsigned shift) {
    Case each =
        vector_case(mnemonic + " v8, v0, v2, v4" + of_neighbours_in_even_rows, Type::float32, [=](MachineState& state) {
          for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
            if (lane / 16 % 2 != 0) continue;
            const auto number = [&](unsigned n, unsigned from) {
              return from_bits<float>(state.vector.at(n).at(from));
            };
            const float sum = std::fma(number(0, lane ^ 1), number(2, lane), number(4, lane));
            u32& destination = state.vector[8][lane];
            destination = (destination & ~(0xffffU << shift)) | u32{Half(sum).bits} << shift;
          }
        });
    each.float_results = {{.vgpr = 8, .type = Type::packed_float16}};
    return each;
  };
  expect_match({made("v_fma_mixlo_f16_e64_dpp", 0), made("v_fma_mixhi_f16_e64_dpp", 16)}, later);
}

/// Whole numbers, whose sums are exact.
TEST(LaterDpp, MultipliesPairsOfANeighbour) {
  Case made = vector_case(std::string("v_dot2_f32_f16_e64_dpp v8, v0, v2, v4") + of_neighbours, Type::float32,
                          [](MachineState& state) {
                            for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
                              const auto half = [&](unsigned n, unsigned from, unsigned shift) {
                                return static_cast<float>(from_bits<Half>(state.vector.at(n).at(from) >> shift));
                              };
                              float sum = from_bits<float>(state.vector[4][lane]);
                              for (const unsigned shift : {0U, 16U})
                                sum += half(0, lane ^ 1, shift) * half(2, lane, shift);
                              state.vector[8][lane] = static_cast<u32>(to_bits(sum));
                            }
                          });
  made.prepare = [](MachineState& state, Random& random) {
    state.exec = tests_wave32() ? 0xffffffff : ~u64{0};
    const auto whole = [&] { return static_cast<double>(random() % 64) - 32; };
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      for (const unsigned n : {0U, 2U})
        state.vector.at(n).at(lane) = Half(whole()).bits | u32{Half(whole()).bits} << 16;
      state.vector[4][lane] = static_cast<u32>(to_bits(static_cast<float>(whole())));
    }
  };
  expect_match({made}, later);
}

}  // namespace
}  // namespace softgpu::isa::later_data_parallel
