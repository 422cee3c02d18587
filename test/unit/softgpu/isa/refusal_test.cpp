// Instructions out of scope are refused before anything runs, by their mnemonic: never a wrong result.
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace softgpu::isa {
namespace {

class OutOfScope : public testing::TestWithParam<const char*> {};

TEST_P(OutOfScope, IsRefusedByItsMnemonic) {
  const std::string assembly = GetParam();
  const auto failure = refusal(assembly);
  if (!failure) FAIL() << assembly << " ran";
  EXPECT_EQ(failure->kind, compute::Failure::Kind::illegal_instruction) << failure->text;
  const std::string mnemonic = assembly.substr(0, assembly.find(' '));
  EXPECT_NE(failure->text.find(mnemonic), std::string::npos) << failure->text;
}

INSTANTIATE_TEST_SUITE_P(MatrixCore, OutOfScope,
                         testing::Values("v_mfma_f64_4x4x4f64 a[0:1], v[0:1], v[2:3], a[0:1] blgp:1"));
INSTANTIATE_TEST_SUITE_P(Images, OutOfScope,
                         testing::Values("image_load_pck v[0:3], v[4:5], s[0:7] dmask:0xf unorm",
                                         "image_store_pck v[0:3], v[4:5], s[0:7] dmask:0xf unorm"));
INSTANTIATE_TEST_SUITE_P(Privileged, OutOfScope,
                         testing::Values("s_rfe_b64 s[0:1]", "s_rfe_restore_b64 s[0:1], s2",
                                         "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS), 0"));
INSTANTIATE_TEST_SUITE_P(Rest, OutOfScope,
                         testing::Values("s_sendmsg sendmsg(MSG_SAVEWAVE)", "s_sendmsghalt sendmsg(MSG_GET_DOORBELL)",
                                         "s_endpgm_ordered_ps_done"));

TEST(OutOfScope, TrapEndsTheDispatch) {
  const auto failure = refusal("s_trap 2");
  if (!failure) FAIL() << "ran";
  EXPECT_EQ(failure->kind, compute::Failure::Kind::trap) << failure->text;
}

// As LLVM 22 compiles a trap for gfx11: the kernel's first instructions write the trap temporary.
TEST(OutOfScope, TrapTemporariesTakeNoPartInAKernel) {
  const auto trap = refusal("s_mov_b32 ttmp2, m0\ns_trap 2");
  const auto read = refusal("s_mov_b32 s0, ttmp2");
  if (!trap || !read) FAIL() << "ran";
  EXPECT_EQ(trap->kind, compute::Failure::Kind::trap) << trap->text;
  EXPECT_EQ(read->kind, compute::Failure::Kind::illegal_instruction) << read->text;
}

TEST(OutOfScope, NamesTheOffsetOfTheInstruction) {
  const auto near = refusal("s_rfe_b64 s[0:1]");
  const auto far = refusal("s_nop 0\ns_nop 0\ns_rfe_b64 s[0:1]");
  if (!near || !far) FAIL() << "ran";
  EXPECT_EQ(far->instruction.value_or(0), near->instruction.value_or(0) + 8);
}

}  // namespace
}  // namespace softgpu::isa
