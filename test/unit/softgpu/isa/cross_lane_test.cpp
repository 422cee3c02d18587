// Instructions that move data between lanes, or between vector and scalar registers.
#include <array>
#include <bit>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "assembler.hpp"
#include "harness.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

using Lanes = std::array<u32, lane_count>;

unsigned first_active(const MachineState& state) {
  return state.exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(state.exec));
}

/// v8 = permuted(v0, v2, state) in the active lanes.
template <class F>
Case permutation(const std::string& assembly, F permuted) {
  return {.assembly = assembly, .prepare = {}, .reference = [permuted](MachineState& state) {
            const Lanes result = permuted(state);
            for (unsigned lane = 0; lane < lane_count; ++lane)
              if (state.active(lane)) state.vector[8][lane] = result[lane];
          }};
}

/// The lane that a number means.
unsigned lane_of(u32 number) { return number & (tested_target().wavefront_size - 1); }
/// The lane that a byte address means to `lane`: RDNA exchanges within 32 lanes.
unsigned exchanged_lane(u32 address, unsigned lane) {
  if (!tested_target().architecture->exchanges_within_32_lanes) return address / 4 % tested_target().wavefront_size;
  return (lane & 32) | address / 4 % 32;
}

TEST(CrossLane, ReadLaneIgnoresExec) {
  expect_match({
      {"v_readlane_b32 s16, v0, 0", {}, [](MachineState& s) { s.scalar[16] = s.vector[0][0]; }},
      {"v_readlane_b32 s16, v0, 63", {}, [](MachineState& s) { s.scalar[16] = s.vector[0][lane_of(63)]; }},
      {"v_readlane_b32 s16, v3, 17", {}, [](MachineState& s) { s.scalar[16] = s.vector[3][17]; }},
      {"v_readlane_b32 s16, v0, s4", {}, [](MachineState& s) { s.scalar[16] = s.vector[0][lane_of(s.scalar[4])]; }},
      {"v_readlane_b32 s16, v0, m0", {}, [](MachineState& s) { s.scalar[16] = s.vector[0][lane_of(s.m0)]; }},
      {"v_readlane_b32 vcc_hi, v0, s4",
       {},
       [](MachineState& s) { s.vcc = (s.vcc & 0xffffffff) | u64{s.vector[0][lane_of(s.scalar[4])]} << 32; }},
  });
}

TEST(CrossLane, WriteLaneIgnoresExec) {
  expect_match({
      {"v_writelane_b32 v8, s4, 0", {}, [](MachineState& s) { s.vector[8][0] = s.scalar[4]; }},
      {"v_writelane_b32 v8, s4, 47", {}, [](MachineState& s) { s.vector[8][lane_of(47)] = s.scalar[4]; }},
      {"v_writelane_b32 v8, -1, m0", {}, [](MachineState& s) { s.vector[8][lane_of(s.m0)] = 0xffffffff; }},
      {"v_writelane_b32 v8, 33, s5", {}, [](MachineState& s) { s.vector[8][lane_of(s.scalar[5])] = 33; }},
      {"v_writelane_b32 v8, s5, s5", {}, [](MachineState& s) { s.vector[8][lane_of(s.scalar[5])] = s.scalar[5]; }},
  });
}

TEST(CrossLane, ReadFirstLaneTakesTheFirstActiveOneOrLaneZero) {
  std::vector<Case> cases = {
      {"v_readfirstlane_b32 s16, v0", {}, [](MachineState& s) { s.scalar[16] = s.vector[0][first_active(s)]; }}};
  const std::string to_m0 = "v_readfirstlane_b32 m0, v0";  // which LLVM 22 does not take
  if (assembles(to_m0)) cases.push_back({to_m0, {}, [](MachineState& s) { s.m0 = s.vector[0][first_active(s)]; }});
  expect_match(cases);
}

TEST(CrossLane, MaskBitCountCountsTheLanesBelow) {
  const auto counted = [](u32 (*operand)(const MachineState&, unsigned), bool high) {
    return [=](const MachineState& state) {
      Lanes result = {};
      for (unsigned lane = 0; lane < lane_count; ++lane) {
        const u64 below = (u64{1} << lane) - 1;
        const auto mask = static_cast<u32>(high ? below >> 32 : below);
        result[lane] = static_cast<u32>(std::popcount(operand(state, lane) & mask)) + state.vector[2][lane];
      }
      return result;
    };
  };
  const auto vector = [](const MachineState& s, unsigned lane) { return s.vector[0][lane]; };
  const auto scalar = [](const MachineState& s, unsigned) { return s.scalar[4]; };
  const auto ones = [](const MachineState&, unsigned) { return ~u32{0}; };
  const auto exec_low = [](const MachineState& s, unsigned) { return static_cast<u32>(s.exec); };
  const auto exec_high = [](const MachineState& s, unsigned) { return static_cast<u32>(s.exec >> 32); };
  expect_match({
      permutation("v_mbcnt_lo_u32_b32 v8, v0, v2", counted(vector, false)),
      permutation("v_mbcnt_hi_u32_b32 v8, v0, v2", counted(vector, true)),
      permutation("v_mbcnt_lo_u32_b32 v8, s4, v2", counted(scalar, false)),
      permutation("v_mbcnt_hi_u32_b32 v8, -1, v2", counted(ones, true)),
      permutation("v_mbcnt_lo_u32_b32 v8, exec_lo, v2", counted(exec_low, false)),
      permutation("v_mbcnt_hi_u32_b32 v8, exec_hi, v2", counted(exec_high, true)),
  });
}

/// Each lane reads from the lane that its address names; a lane that is not active provides zero.
Lanes pulled(const MachineState& state, u32 offset) {
  Lanes result = {};
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const unsigned source = exchanged_lane(state.vector[0][lane] + offset, lane);
    result[lane] = state.active(source) ? state.vector[2][source] : 0;
  }
  return result;
}
/// Each active lane writes to the lane that its address names; of several writers the highest lane wins.
Lanes pushed(const MachineState& state, u32 offset) {
  Lanes result = {};
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (state.active(lane)) result[exchanged_lane(state.vector[0][lane] + offset, lane)] = state.vector[2][lane];
  return result;
}

TEST(CrossLane, BackwardPermuteReadsFromTheAddressedLane) {
  expect_match({
      permutation("ds_bpermute_b32 v8, v0, v2", [](const MachineState& s) { return pulled(s, 0); }),
      permutation("ds_bpermute_b32 v8, v0, v2 offset:8", [](const MachineState& s) { return pulled(s, 8); }),
      permutation("ds_bpermute_b32 v8, v0, v2 offset:252", [](const MachineState& s) { return pulled(s, 252); }),
  });
}

TEST(CrossLane, ForwardPermuteWritesToTheAddressedLane) {
  expect_match({
      permutation("ds_permute_b32 v8, v0, v2", [](const MachineState& s) { return pushed(s, 0); }),
      permutation("ds_permute_b32 v8, v0, v2 offset:64", [](const MachineState& s) { return pushed(s, 64); }),
  });
}

/// `source` names the lane that each lane reads; zero comes from one that is not active.
template <class F>
Case swizzle(const std::string& pattern, F source) {
  return permutation("ds_swizzle_b32 v8, v2 offset:" + pattern, [source](const MachineState& state) {
    Lanes result = {};
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const unsigned from = source(lane);
      result[lane] = state.active(from) ? state.vector[2][from] : 0;
    }
    return result;
  });
}

TEST(CrossLane, SwizzlePermutesQuadsAndMasksLaneNumbers) {
  expect_match({
      swizzle("swizzle(QUAD_PERM,3,1,0,2)",
              [](unsigned lane) {
                return (lane & ~3U) + std::array{3U, 1U, 0U, 2U}[lane & 3];
              }),
      swizzle("swizzle(SWAP,16)", [](unsigned lane) { return lane ^ 16; }),
      swizzle("swizzle(REVERSE,8)", [](unsigned lane) { return lane ^ 7; }),
      swizzle("swizzle(BROADCAST,8,5)", [](unsigned lane) { return (lane & ~7U) | 5; }),
      swizzle("0x5ca3", [](unsigned lane) { return (lane & 32) | (((lane & 3) | 5) ^ 23); }),
  });
}

TEST(CrossLane, SwapExchangesTheActiveLanes) {
  expect_match({{"v_swap_b32 v0, v8", {}, [](MachineState& s) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (s.active(lane)) std::swap(s.vector[0][lane], s.vector[8][lane]);
                 }}});
}

TEST(CrossLane, AccumulationRegistersHoldWhatTheActiveLanesWrote) {
  expect_match({{"s_mov_b64 s[16:17], exec\n"
                 "s_mov_b64 exec, -1\n"
                 "v_accvgpr_write_b32 a0, v1\n"
                 "v_accvgpr_write_b32 a3, 7\n"
                 "s_mov_b64 exec, s[16:17]\n"
                 "v_accvgpr_write_b32 a0, v0\n"
                 "v_accvgpr_mov_b32 a3, a0\n"
                 "s_mov_b64 exec, -1\n"
                 "v_accvgpr_read_b32 v8, a0\n"
                 "v_accvgpr_read_b32 v9, a3\n"
                 "s_mov_b64 exec, s[16:17]",
                 {},
                 [](MachineState& s) {
                   s.set_scalar_value(16, 8, s.exec);
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     s.vector[8][lane] = s.active(lane) ? s.vector[0][lane] : s.vector[1][lane];
                     s.vector[9][lane] = s.active(lane) ? s.vector[0][lane] : 7;
                   }
                 }}});
}

}  // namespace
}  // namespace softgpu::isa
