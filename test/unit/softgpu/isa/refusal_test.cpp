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
                         testing::Values("image_load v[0:3], v[4:5], s[0:7] dmask:0xf unorm",
                                         "image_store v[0:3], v[4:5], s[0:7] dmask:0xf unorm",
                                         "tbuffer_load_format_x v0, v4, s[0:3], 0 idxen"));
INSTANTIATE_TEST_SUITE_P(Privileged, OutOfScope,
                         testing::Values("s_rfe_b64 s[0:1]", "s_cbranch_g_fork s[0:1], s[2:3]"));

INSTANTIATE_TEST_SUITE_P(IndexedRegisters, OutOfScope, testing::Values("s_set_gpr_idx_mode gpr_idx(SRC0)"));
INSTANTIATE_TEST_SUITE_P(TypedBuffers, OutOfScope,
                         testing::Values("buffer_load_format_x v8, v0, s[4:7], 0 offen",
                                         "buffer_store_format_xyzw v[4:7], v0, s[4:7], 0 offen"));

INSTANTIATE_TEST_SUITE_P(Rest, OutOfScope,
                         testing::Values("ds_condxchg32_rtn_b64 v[8:9], v0, v[4:5]", "ds_read_addtid_b32 v8",
                                         "s_atomic_add s0, s[2:3], 0x0", "s_sendmsg sendmsg(MSG_SAVEWAVE)",
                                         "s_sendmsghalt sendmsg(MSG_GET_DOORBELL)",
                                         "v_screen_partition_4se_b32_e32 v8, v0"));

TEST(OutOfScope, TrapEndsTheDispatch) {
  const auto failure = refusal("s_trap 2");
  if (!failure) FAIL() << "ran";
  EXPECT_EQ(failure->kind, compute::Failure::Kind::trap) << failure->text;
}

TEST(OutOfScope, NamesTheOffsetOfTheInstruction) {
  const auto near = refusal("s_rfe_b64 s[0:1]");
  const auto far = refusal("s_nop 0\ns_nop 0\ns_rfe_b64 s[0:1]");
  if (!near || !far) FAIL() << "ran";
  EXPECT_EQ(far->address, near->address + 8);
}

}  // namespace
}  // namespace softgpu::isa
