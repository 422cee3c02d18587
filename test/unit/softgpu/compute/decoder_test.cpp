#include "softgpu/compute/instruction_set/decoder.hpp"

#include <gtest/gtest.h>

#include <array>

namespace softgpu::compute {
namespace {

using Kind = Operand::Kind;

TEST(Decoder, reads_registers_of_every_kind) {
  const Instruction i = parse_instruction("v_test v7, v[4:7], a3, a[0:1], s5, s[6:7], vcc, exec_hi, m0");
  ASSERT_EQ(i.operands.size(), 9U);
  const auto expect = [&](std::size_t n, Kind kind, unsigned index, unsigned dwords) {
    EXPECT_EQ(i.operands[n].kind, kind) << i.operands[n].text;
    EXPECT_EQ(i.operands[n].index, index) << i.operands[n].text;
    EXPECT_EQ(i.operands[n].dwords, dwords) << i.operands[n].text;
  };
  expect(0, Kind::vector, 7, 1);
  expect(1, Kind::vector, 4, 4);
  expect(2, Kind::vector, first_agpr + 3, 1);
  expect(3, Kind::vector, first_agpr, 2);
  expect(4, Kind::scalar, 5, 1);
  expect(5, Kind::scalar, 6, 2);
  expect(6, Kind::scalar, scalar_register::vcc, 2);
  expect(7, Kind::scalar, scalar_register::exec + 1, 1);
  expect(8, Kind::scalar, scalar_register::m0, 1);
}

TEST(Decoder, tells_inline_constants_from_literals) {
  const Instruction i = parse_instruction("v_test -16, 64, 0xdeadbeef, 0.15915494, -4.0");
  ASSERT_EQ(i.operands.size(), 5U);
  EXPECT_EQ(i.operands[0].value, -16);
  EXPECT_FALSE(i.operands[0].is_literal);
  EXPECT_FALSE(i.operands[0].negated);
  EXPECT_EQ(i.operands[1].value, 64);
  EXPECT_EQ(i.operands[2].value, 0xdeadbeef);
  EXPECT_TRUE(i.operands[2].is_literal);
  EXPECT_EQ(i.operands[3].kind, Kind::real);
  EXPECT_FLOAT_EQ(static_cast<float>(i.operands[3].real), 0.15915494F);
  EXPECT_EQ(i.operands[4].real, -4.0);
}

TEST(Decoder, reads_source_modifiers_in_all_spellings) {
  const Instruction i = parse_instruction("v_test_e64 v0, -v1, |v2|, -|v3|, neg(1.0), sext(v4)");
  EXPECT_EQ(i.encoding, Encoding::e64);
  EXPECT_TRUE(i.operands[1].negated && !i.operands[1].absolute);
  EXPECT_TRUE(i.operands[2].absolute && !i.operands[2].negated);
  EXPECT_TRUE(i.operands[3].absolute && i.operands[3].negated);
  EXPECT_TRUE(i.operands[4].negated && i.operands[4].real == 1.0);
  EXPECT_TRUE(i.operands[5].sign_extend && i.operands[5].index == 4);
}

TEST(Decoder, reads_modifiers_behind_the_operands) {
  const Instruction i =
      parse_instruction("v_test_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0xa offset:-8 glc sel:BYTE_1");
  EXPECT_EQ(i.mnemonic, "v_test");
  EXPECT_EQ(i.encoding, Encoding::dpp);
  EXPECT_EQ(i.operands.size(), 2U);
  EXPECT_EQ(i.element("quad_perm", 0, -1), 3);
  EXPECT_EQ(i.element("quad_perm", 3, -1), 0);
  EXPECT_EQ(i.number("row_mask"), 10);
  EXPECT_EQ(i.number("offset"), -8);
  EXPECT_TRUE(i.has("glc"));
  EXPECT_FALSE(i.has("slc"));
  EXPECT_EQ(i.word("sel"), "BYTE_1");
  EXPECT_EQ(i.number("missing", 42), 42);
}

TEST(Decoder, reads_modifiers_where_there_are_no_operands) {
  const Instruction i = parse_instruction("ds_test offset:3 gds");
  EXPECT_TRUE(i.operands.empty());
  EXPECT_EQ(i.number("offset"), 3);
  EXPECT_TRUE(i.has("gds"));
}

TEST(Decoder, keeps_arguments_in_brackets_together) {
  const Instruction i = parse_instruction("s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 2)");
  ASSERT_EQ(i.operands.size(), 2U);
  EXPECT_EQ(i.operands[1].text, "hwreg(HW_REG_MODE, 4, 2)");
  EXPECT_EQ(i.operands[1].kind, Kind::symbol);
}

TEST(Decoder, knows_which_modifiers_nobody_asked_for) {
  const Instruction i = parse_instruction("v_test v0, v1 clamp mul:2");
  EXPECT_TRUE(i.has("clamp"));
  EXPECT_TRUE(i.modifiers[0].read);
  EXPECT_FALSE(i.modifiers[1].read);
}

TEST(Decoder, branch_offsets_count_words_from_the_next_instruction) {
  Instruction i = parse_instruction("s_branch 65531");
  i.offset = 40;
  EXPECT_EQ(i.branch_target(i.operands[0]), 40 + 4 - 5 * 4);
}

template <class... Words>
std::optional<Instruction> decode(Words... words) {
  const std::array<std::uint32_t, sizeof...(words)> code = {static_cast<std::uint32_t>(words)...};
  return Disassembler().decode(std::as_bytes(std::span(code)), 0x100);
}

TEST(Decoder, decodes_machine_code) {
  const auto i = decode(0x680002ff, 0x12345678);
  ASSERT_TRUE(i);
  EXPECT_EQ(i->mnemonic, "v_add_u32");
  EXPECT_EQ(i->encoding, Encoding::e32);
  EXPECT_EQ(i->offset, 0x100U);
  EXPECT_EQ(i->size, 8U);
  EXPECT_EQ(i->operands.at(1).value, 0x12345678);
}

TEST(Decoder, refuses_reserved_selectors) {
  EXPECT_TRUE(decode(0x020008f9, 0x06060606));   // v_add_f32_sdwa v0, v6, v4
  EXPECT_FALSE(decode(0x020008f9, 0x07060606));  // src1_sel
  EXPECT_FALSE(decode(0x020008f9, 0x06070606));  // src0_sel
  EXPECT_FALSE(decode(0x020008f9, 0x06060706));  // dst_sel
  EXPECT_FALSE(decode(0x020008f9, 0x06061e06));  // dst_unused
  EXPECT_TRUE(decode(0x7e0002f9, 0x00060606));   // v_mov_b32_sdwa v0, v6
  EXPECT_FALSE(decode(0x7e0002f9, 0x00070606));
  EXPECT_TRUE(decode(0x7d8808f9, 0x06068706));  // v_cmp_gt_i32_sdwa: dst_sel's bits are those of a register
  EXPECT_FALSE(decode(0x7d8808f9, 0x07068706));
}

/// Decodes for wavefronts of 32 lanes.
template <class... Words>
std::optional<Instruction> decode_for(const char* architecture, Words... words) {
  const std::array<std::uint32_t, sizeof...(words)> code = {static_cast<std::uint32_t>(words)...};
  const Disassembler disassembler(Target{Architecture::find(architecture), 32});
  return disassembler.decode(std::as_bytes(std::span(code)), 0x100);
}

TEST(Decoder, calls_instructions_of_later_architectures_what_gfx90a_calls_them) {
  const auto load = decode_for("gfx1100", 0xf4000002, 0xf8000010);  // s_load_b32 s0, s[4:5], 0x10
  ASSERT_TRUE(load);
  EXPECT_EQ(load->mnemonic, "s_load_dword");
  EXPECT_NE(load->text.find("s_load_b32"), std::string::npos);
  const auto add = decode_for("gfx1100", 0x40000501);  // v_add_co_ci_u32_e32 v0, vcc_lo, v1, v2, vcc_lo
  ASSERT_TRUE(add);
  EXPECT_EQ(add->mnemonic, "v_addc_co_u32");
  EXPECT_EQ(add->operands.at(1).index, scalar_register::vcc);
  EXPECT_EQ(add->operands.at(1).dwords, 1U);
}

TEST(Decoder, splits_dual_instructions) {
  const auto dual = decode_for("gfx1100", 0xca500501, 0x000200ff, 0x00012345);
  ASSERT_TRUE(dual);  // v_dual_cndmask_b32 v0, v1, v2 :: v_dual_mov_b32 v3, 0x12345
  EXPECT_EQ(dual->size, 12U);
  ASSERT_EQ(dual->halves.size(), 2U);
  EXPECT_EQ(dual->halves[0].mnemonic, "v_cndmask_b32");
  EXPECT_EQ(dual->halves[0].operands.at(3).index, scalar_register::vcc);
  EXPECT_EQ(dual->halves[1].mnemonic, "v_mov_b32");
  EXPECT_EQ(dual->halves[1].operands.at(0).index, 3U);
  EXPECT_EQ(dual->halves[1].operands.at(1).value, 0x12345);
}

TEST(Decoder, names_the_destination_of_later_architectures_comparisons_into_exec) {
  const auto compare = decode_for("gfx1100", 0x7d980300);  // v_cmpx_gt_u32_e32 v0, v1
  ASSERT_TRUE(compare);
  ASSERT_EQ(compare->operands.size(), 3U);
  EXPECT_EQ(compare->operands[0].text, "exec_lo");
}

TEST(Decoder, knows_the_null_register) {
  const auto scale = decode_for("gfx1100", 0xd6fc7c00, 0x040e0501);  // v_div_scale_f32 v0, null, v1, v2, v3
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->operands.at(1).kind, Operand::Kind::null);
}

TEST(Decoder, gives_nothing_for_bytes_that_are_no_instruction) {
  EXPECT_FALSE(decode(0xffffffff, 0xffffffff));
  EXPECT_FALSE(Disassembler().decode({}, 0));
}

TEST(Decoder, gives_nothing_where_the_code_ends_in_front_of_a_literal) {
  EXPECT_FALSE(decode(0x680002ff));  // v_add_u32
  EXPECT_FALSE(decode(0x810000ff));  // s_add_i32
}

TEST(Decoder, refuses_literals_where_gfx9_has_none) {
  EXPECT_FALSE(decode(0xe0700004, 0xff000100, 0x1234));                    // buffer_store_dword, soffset
  EXPECT_FALSE(decode(0xe8030004, 0xff000100, 0x1234));                    // tbuffer_load_format_xyzw
  EXPECT_FALSE(decode(0xd1ff0000, 0x040a02ff, 0x1234));                    // v_add3_u32, src0
  EXPECT_FALSE(decode(0xd1ff0000, 0x0409ff01, 0x1234));                    // src1
  EXPECT_FALSE(decode(0xd1ff0000, 0x03fe0501, 0x1234));                    // src2
  EXPECT_TRUE(decode(0xd1ff0000, 0x040e0501));                             // v1, v2, v3
  EXPECT_TRUE(decode_for("gfx1030", 0xd76d0000, 0x040e04ff, 0x00001234));  // v_add3_u32 v0, 0x1234, v2, v3
}

TEST(Decoder, reads_comparisons_into_exec_in_both_encodings) {
  const auto compare = decode(0xd031006a, 0x00020300);
  ASSERT_TRUE(compare);
  EXPECT_EQ(compare->mnemonic, "v_cmpx_lt_f16");
  EXPECT_EQ(compare->encoding, Encoding::e64);
  EXPECT_EQ(compare->text, "v_cmpx_lt_f16_e64 vcc, v0, v1");
}

}  // namespace
}  // namespace softgpu::compute
