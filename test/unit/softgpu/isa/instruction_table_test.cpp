// docs/isa.md, docs/isa_gfx942.md and the like are true.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <llvm/Config/llvm-config.h>

#include "harness.hpp"
#include "instruction_formats.hpp"
#include "instruction_table.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

/// The document lists the instructions that one release knows: 15, or 22 where 15 does not know the GPU.
int documented_llvm() {
  const std::string_view name = tested_target().architecture->name;
  return name == "gfx950" || name == "gfx1201" ? 22 : 15;
}
std::string other_llvm() {
  return "the document lists the instructions that LLVM " + std::to_string(documented_llvm()) + " knows";
}

/// An enumeration that finds a part of the instructions only must not pass for a list of everything.
TEST(InstructionTable, HoldsInstructionsOfEachFormat) {
  EXPECT_GT(instruction_table().size(), 1000U);
  std::set<std::string> found;
  for (const auto& [mnemonic, entry] : instruction_table()) found.insert(entry.format);
  for (const InstructionFormat& format : instruction_formats()) EXPECT_TRUE(found.contains(format.name)) << format.name;
}

/// By the CDNA2 ISA manual's opcode tables.
TEST(InstructionTable, HoldsTheFormsOfGfx9) {
  if (tests_rdna()) GTEST_SKIP() << "it is of RDNA";
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
  constexpr const char* product = "v_mfma_f32_32x32x8f16";  // newer releases name gfx942's and gfx950's otherwise
  has(instruction_table().contains(product) ? product : "v_mfma_f32_32x32x8_f16", "VOP3P-MAI", 1);
  has("v_accvgpr_read_b32", "VOP3P-MAI", 1);
  has("ds_bpermute_b32", "DS", 1);
  has("global_atomic_add_f64", "GLOBAL", 1);
  has("buffer_load_dwordx4", "MUBUF", 1);
  if (tests_gfx90a()) has("buffer_store_lds_dword", "MUBUF", 1);  // of gfx942 LLVM 22 does not know it
  has("tbuffer_load_format_xyzw", "MTBUF", 1);
}

TEST(InstructionTable, LacksNoFormThatOtherOperandsMake) {
  if (LLVM_VERSION_MAJOR != documented_llvm()) GTEST_SKIP() << other_llvm();
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
  if (LLVM_VERSION_MAJOR != documented_llvm()) GTEST_SKIP() << other_llvm();
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
