#include "softgpu/compute/emit/instruction_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softgpu::compute {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;

Operand vector(unsigned index, unsigned dwords = 1) {
  return {.kind = Operand::Kind::vector, .index = index, .dwords = dwords, .text = "v" + std::to_string(index)};
}
Operand scalar(unsigned index, unsigned dwords = 1) {
  return {.kind = Operand::Kind::scalar, .index = index, .dwords = dwords, .text = "s" + std::to_string(index)};
}
Operand integer(std::int64_t value) {
  return {.kind = Operand::Kind::integer, .value = value, .text = std::to_string(value)};
}

Operand real(double value) { return {.kind = Operand::Kind::real, .real = value, .text = std::to_string(value)}; }

Instruction instruction(std::string mnemonic, std::vector<Operand> operands) {
  Instruction result;
  result.mnemonic = std::move(mnemonic);
  result.operands = std::move(operands);
  return result;
}

std::string key_of(std::string mnemonic, std::vector<Operand> operands) {
  return template_of(instruction(std::move(mnemonic), std::move(operands))).key;
}

auto are(bool vectors, unsigned first, unsigned count, unsigned place) {
  using Registers = InstructionTemplate::Registers;
  return AllOf(Field(&Registers::are_vectors, vectors), Field(&Registers::first, first),
               Field(&Registers::count, count), Field(&Registers::place, place));
}

TEST(InstructionTemplate, has_numbers_of_its_own_for_registers) {
  const auto which = template_of(instruction("v_mad_u64_u32", {vector(8, 2), scalar(12, 2), vector(3), vector(300)}));
  EXPECT_THAT(which.registers,
              ElementsAre(are(false, 0, 2, 12), are(true, 0, 2, 8), are(true, 2, 1, 3), are(true, first_agpr, 1, 300)));
  EXPECT_EQ(which.instruction.operands[2].index, 2U);
  EXPECT_EQ(which.instruction.operands[3].index, first_agpr);
}

TEST(InstructionTemplate, is_one_for_instructions_that_differ_in_registers_alone) {
  EXPECT_EQ(key_of("v_add_u32", {vector(1), vector(2), scalar(3)}),
            key_of("v_add_u32", {vector(7), vector(4), scalar(5)}));
  EXPECT_NE(key_of("v_add_u32", {vector(1), vector(2), scalar(3)}),
            key_of("v_sub_u32", {vector(1), vector(2), scalar(3)}));
}

TEST(InstructionTemplate, is_one_for_constants_that_might_be_scalar_registers) {
  const auto which = template_of(instruction("v_add_u32", {vector(1), vector(2), integer(3)}));
  ASSERT_EQ(which.registers.size(), 3U);
  EXPECT_EQ(which.registers.front().constant, 3U);
  EXPECT_EQ(which.key, key_of("v_add_u32", {vector(1), vector(2), integer(-4)}));
  EXPECT_EQ(which.key, key_of("v_add_u32", {vector(1), vector(2), scalar(4)}));
  EXPECT_EQ(template_of(instruction("v_mul_f32", {vector(1), real(0.5), vector(2)})).registers.front().constant,
            0x3f000000U);
}

TEST(InstructionTemplate, keeps_constants_of_other_widths) {
  for (const char* mnemonic :
       {"v_add_f64", "v_add_f16", "v_mad_u64_u32", "v_pk_add_f32", "v_fma_mix_f32", "ds_read_b32"})
    EXPECT_NE(key_of(mnemonic, {vector(1), vector(2), integer(3)}),
              key_of(mnemonic, {vector(1), vector(2), integer(4)}))
        << mnemonic;
}

TEST(InstructionTemplate, keeps_how_registers_overlap) {
  EXPECT_NE(key_of("v_add_u32", {vector(1), vector(2), vector(1)}),
            key_of("v_add_u32", {vector(1), vector(2), vector(3)}));
  EXPECT_EQ(key_of("v_add_u32", {vector(1), vector(2), vector(1)}),
            key_of("v_add_u32", {vector(9), vector(0), vector(9)}));
  const auto which = template_of(instruction("global_load_dwordx2", {vector(5, 2), vector(4, 2)}));
  EXPECT_THAT(which.registers, ElementsAre(are(true, 0, 3, 4)));
  EXPECT_EQ(which.instruction.operands[0].index, 1U);
  EXPECT_EQ(which.instruction.operands[1].index, 0U);
}

TEST(InstructionTemplate, keeps_pairs_of_scalar_registers) {
  EXPECT_NE(key_of("v_mov_b32", {vector(0), scalar(4)}), key_of("v_mov_b32", {vector(0), scalar(5)}));
  const auto which = template_of(instruction("v_mov_b32", {vector(0), scalar(5)}));
  EXPECT_THAT(which.registers, ElementsAre(are(false, 0, 2, 4), are(true, 0, 1, 0)));
}

// VCC, EXEC and M0 mean something by themselves.
TEST(InstructionTemplate, leaves_registers_with_a_role_alone) {
  const auto which = template_of(instruction("v_cmp_eq_u32", {scalar(scalar_register::vcc, 2), vector(4), vector(5)}));
  EXPECT_EQ(which.instruction.operands[0].index, scalar_register::vcc);
  EXPECT_EQ(which.registers.size(), 2U);
}

TEST(InstructionTemplate, is_for_instructions_that_need_their_operands_alone) {
  EXPECT_TRUE(may_be_template(instruction("v_add_u32", {})));
  EXPECT_TRUE(may_be_template(instruction("s_load_dwordx2", {})));
  for (const char* mnemonic : {"s_cbranch_scc1", "s_barrier", "s_setreg_b32", "v_movrels_b32", "ds_gws_barrier"})
    EXPECT_FALSE(may_be_template(instruction(mnemonic, {}))) << mnemonic;
}

}  // namespace
}  // namespace softgpu::compute
