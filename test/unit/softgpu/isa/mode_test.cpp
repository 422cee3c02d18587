// The MODE register set to values that only the wavefront knows, and VSKIP.
#include <array>
#include <bit>
#include <cfenv>
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

constexpr u32 single_denormals = 3 << 4;
/// The bits of a descriptor's mode that the GPU takes: RDNA4 has neither DX10_CLAMP nor IEEE.
u32 taken(u32 mode) { return tested_target().architecture->has_float_modes_in_descriptor ? mode : mode & 0xff; }
u32 usual_mode() { return taken(KernelImage::usual_mode); }

/// v8 = v0 * 0.5 with denormals flushed in the way that two bits of MODE ask for.
u32 halved(u32 bits, u32 kept) {
  const auto flush = [](u32 value) { return (value & 0x7f800000) == 0 ? value & 0x80000000 : value; };
  if ((kept & 1) == 0) bits = flush(bits);
  const u32 result = static_cast<u32>(to_bits(from_bits<float>(bits) * 0.5F));
  return (kept & 2) == 0 ? flush(result) : result;
}

void tiny_numbers(MachineState& state, Random& random) {
  for (u32& value : state.vector[0]) value = static_cast<u32>(random() % 0x2000000 | random() << 31);
}

/// Whatever the kernel descriptor says: the rounding of single precision and what becomes of its denormals, here, and
/// the register itself, which the other bits' effects follow.
TEST(ControlFlowMode, BeginsAsTheDescriptorSays) {
  constexpr std::array rounding = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (u32 bit = 1; bit <= 0x3f0; bit = bit == 0x200 ? KernelImage::usual_mode : bit * 2)
    for (const u32 mode : {bit, bit ^ 0x3ff}) {
      SCOPED_TRACE(mode);
      expect_match({{"v_mul_f32 v8, 0.5, v0\ns_getreg_b32 s5, hwreg(HW_REG_MODE, 0, 10)", tiny_numbers,
                     [mode, rounding](MachineState& state) {
                       std::fesetround(rounding.at(mode & 3));
                       for (unsigned lane = 0; lane < lane_count; ++lane)
                         if (state.active(lane)) state.vector[8][lane] = halved(state.vector[0][lane], mode >> 4);
                       std::fesetround(FE_TONEAREST);
                       state.scalar[5] = taken(mode);
                     }}},
                   {.float_mode = mode});
    }
}

TEST(ControlFlowMode, DenormalsFollowARegister) {
  expect_match({{"s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s4\n"
                 "v_mul_f32 v8, 0.5, v0\n"
                 "s_getreg_b32 s5, hwreg(HW_REG_MODE, 0, 10)\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
                 tiny_numbers,
                 [](MachineState& state) {
                   const u32 kept = state.scalar[4] & 3;
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (state.active(lane)) state.vector[8][lane] = halved(state.vector[0][lane], kept);
                   state.scalar[5] = (usual_mode() & ~single_denormals) | kept << 4;
                 }}},
               {.states = 4});
}

/// As functions do that change the mode for themselves.
TEST(ControlFlowMode, TheWholeRegisterCanBeSavedAndPutBack) {
  expect_match({{"s_getreg_b32 s4, hwreg(HW_REG_MODE)\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
                 "v_mul_f32 v8, 0.5, v0\n"
                 "s_setreg_b32 hwreg(HW_REG_MODE), s4\n"
                 "v_mul_f32 v9, 0.5, v0\n"
                 "s_getreg_b32 s5, hwreg(HW_REG_MODE)",
                 tiny_numbers, [](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!state.active(lane)) continue;
                     state.vector[8][lane] = halved(state.vector[0][lane], 0);
                     state.vector[9][lane] = halved(state.vector[0][lane], 3);
                   }
                   state.scalar[4] = state.scalar[5] = usual_mode();
                 }}});
}

/// The exception bits: no instruction here depends on them.
TEST(ControlFlowMode, OtherBitsAreKept) {
  expect_match({{"s_setreg_b32 hwreg(HW_REG_MODE, 12, 7), s4\n"
                 "s_getreg_b32 s5, hwreg(HW_REG_MODE, 8, 12)\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 5\n"
                 "s_getreg_b32 s6, hwreg(HW_REG_MODE)\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 0",
                 {},
                 [](MachineState& state) {
                   state.scalar[5] = usual_mode() >> 8 | (state.scalar[4] & 0x7f) << 4;
                   state.scalar[6] = usual_mode() | 5 << 12;
                 }}});
}

/// Two paths that differ in the mode meet: the code behind is right for both.
TEST(ControlFlowMode, PathsInDifferentModesMeet) {
  expect_match({{"s_cbranch_scc0 meet%=\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
                 "meet%=:\n"
                 "v_mul_f32 v8, 0.5, v0\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
                 tiny_numbers,
                 [](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (state.active(lane))
                       state.vector[8][lane] = halved(state.vector[0][lane], state.scc != 0 ? 0 : 3);
                 }}},
               {.states = 4});
}

/// All of MODE at once, to a value that no constant of the kernel leads to.
TEST(ControlFlowMode, AValueThatThereIsNoCodeForIsRefusedWhenItComes) {
  const auto failure = refusal("s_mov_b32 s4, 0x3ff\ns_setreg_b32 hwreg(HW_REG_MODE), s4");
  if (!failure) FAIL() << "ran";
  EXPECT_EQ(failure->kind, compute::Failure::Kind::illegal_instruction) << failure->text;
  EXPECT_NE(failure->text.find("MODE"), std::string::npos) << failure->text;
}

/// Vector instructions are skipped, scalar ones are not, from bit s5 of s4 on.
TEST(ControlFlowMode, VskipSkipsVectorInstructions) {
  const std::string skipped =
      "v_mov_b32 v8, v0\nv_cmp_eq_u32 vcc, v0, v0\nv_readfirstlane_b32 s7, v0\nglobal_store_dword v[2:3], v0, off\n"
      "s_mov_b32 s6, s4\n";
  const auto addresses = [](MachineState& state, Random&) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      state.set_vector_value(2, lane, 8, state.memory_address + 1024 + 4 * lane);
  };
  const auto move_scalar = [](MachineState& state) { state.scalar[6] = state.scalar[4]; };
  const auto execute = [=](MachineState& state) {
    move_scalar(state);
    const u64 first = state.exec == 0 ? 0 : static_cast<u64>(std::countr_zero(state.exec));
    state.scalar[7] = state.vector[0][first];
    state.vcc = state.exec;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (!state.active(lane)) continue;
      state.vector[8][lane] = state.vector[0][lane];
      write_as<u32>(state.at(state.vector_value(2, lane, 8), 4), state.vector[0][lane]);
    }
  };
  expect_match({{"s_setvskip -1, 0\n" + skipped + "s_setvskip 0, 0", addresses, move_scalar},
                {"s_setvskip 0, 0\n" + skipped, addresses, execute},
                {"s_setvskip s4, s5\n" + skipped + "s_setvskip 0, 0", addresses,
                 [=](MachineState& state) {
                   if ((state.scalar[4] >> (state.scalar[5] & 31) & 1) != 0)
                     move_scalar(state);
                   else
                     execute(state);
                 }}},
               {.states = 2});
}

}  // namespace
}  // namespace softgpu::isa
