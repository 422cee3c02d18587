// docs/isa.md and docs/isa_gfx942.md are true.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <llvm/Config/llvm-config.h>

#include "harness.hpp"
#include "instruction_table.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

constexpr const char* other_llvm = "the document lists the instructions that LLVM 15 knows";

/// Formats' sizes as the CDNA2 ISA manual's opcode tables have them, give or take: an enumeration that finds a part of
/// them only must not pass for a list of everything.
TEST(InstructionTable, HoldsInstructionsOfEachFormat) {
  const auto has = [](const char* mnemonic, const char* format, std::size_t forms) {
    const auto found = instruction_table().find(mnemonic);
    if (found == instruction_table().end()) FAIL() << mnemonic << " is missing";
    EXPECT_EQ(found->second.format, format) << mnemonic;
    EXPECT_EQ(found->second.samples.size(), forms) << mnemonic;
  };
  has("s_add_u32", "SOP2", 1);
  has("s_swappc_b64", "SOP1", 1);
  has("s_load_dwordx16", "SMEM", 1);
  has("s_memtime", "SMEM", 1);
  has("s_dcache_inv", "SMEM", 1);
  has("s_dcache_wb_vol", "SMEM", 1);
  has("v_add_f32", "VOP2", 4);
  has("v_cvt_f32_u32", "VOP1", 4);
  has("v_cmp_lt_f32", "VOPC", 3);
  has("v_cmp_lt_f64", "VOPC", 2);
  has("v_ceil_f64", "VOP1", 3);
  has("v_fmac_f64", "VOP2", 3);
  has("v_div_scale_f64", "VOP3", 1);
  has("v_mqsad_u32_u8", "VOP3", 1);
  has("v_pk_fma_f32", "VOP3P", 1);
  has("v_mfma_f32_32x32x8f16", "VOP3P-MAI", 1);
  has("v_accvgpr_read_b32", "VOP3P-MAI", 1);
  has("ds_bpermute_b32", "DS", 1);
  has("global_atomic_add_f64", "GLOBAL", 1);
  has("buffer_load_dwordx4", "MUBUF", 1);
  if (tests_gfx90a()) has("buffer_store_lds_dword", "MUBUF", 1);  // of gfx942 LLVM 22 does not know it
  has("tbuffer_load_format_xyzw", "MTBUF", 1);
  EXPECT_GT(instruction_table().size(), 1000U);
}

TEST(InstructionTable, LacksNoFormThatOtherOperandsMake) {
  if (LLVM_VERSION_MAJOR != 15) GTEST_SKIP() << other_llvm;
  EXPECT_EQ(missing_forms(), std::set<std::string>{});
}

TEST(InstructionTable, RefusalsNameTheInstruction) {
  for (const auto& [mnemonic, entry] : instruction_table())
    for (const Sample& sample : entry.samples)
      if (const auto why = refusal_of(sample)) {
        EXPECT_NE(why->find(mnemonic), std::string::npos) << *why;
      }
}

TEST(InstructionTable, DocumentIsUpToDate) {
  if (LLVM_VERSION_MAJOR != 15) GTEST_SKIP() << other_llvm;
  std::ifstream file(FASTDISPATCH_DOCS "/" + isa_document_name());
  std::stringstream committed;
  committed << file.rdbuf();
  std::istringstream generated(isa_document());
  std::string want;
  std::string got;
  for (unsigned line = 1; std::getline(generated, want); ++line) {
    if (!std::getline(committed, got)) got = "the end of the file";
    ASSERT_EQ(got, want) << "line " << line << "; write it anew with " << isa_document_command();
  }
  EXPECT_FALSE(std::getline(committed, got)) << isa_document_name() << " goes on with: " << got;
}

}  // namespace
}  // namespace softgpu::isa
