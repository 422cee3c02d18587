// Products of dense matrices: v_mfma_*.
#include <bit>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "matrix.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::dense_matrix {
namespace {

constexpr unsigned first_sum = 4;  // v4 to v15 are read back
constexpr unsigned visible_sums = vector_count - first_sum;

/// Every register n of C starts as v(4 + n % 12).
unsigned source_of_sum(unsigned dword) { return first_sum + dword % visible_sums; }

/// Reads the registers of D from `first` on back to v4 and on.
std::string snippet(const Matrix& m, unsigned first) {
  std::ostringstream text;
  text << "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n";
  for (unsigned n = 0; n < m.sum_dwords(); ++n)
    text << "v_accvgpr_write_b32 a" << n << ", v" << source_of_sum(n) << "\n";
  const std::string sums = registers('a', 0, m.sum_dwords());
  text << "s_mov_b64 exec, s[16:17]\n"
       << m.mnemonic << " " << sums << ", " << registers('v', 0, m.source_dwords()) << ", "
       << registers('v', 2, m.source_dwords()) << ", " << sums << m.modifiers << "\ns_mov_b64 exec, -1\n";
  for (unsigned n = first; n < m.sum_dwords() && n < first + visible_sums; ++n)
    text << "v_accvgpr_read_b32 v" << first_sum + n - first << ", a" << n << "\n";
  text << "s_mov_b64 exec, s[16:17]";
  return text.str();
}

void prepare(const Matrix& m, MachineState& state, Random& random) {
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    for (const unsigned source : {0U, 2U}) {
      u64 held = 0;
      for (unsigned n = 0; n < m.per_lane(); ++n)
        held |= small_bits(source == 0 ? m.type : m.type_b(), random) << n * m.bits() % 64;
      state.set_vector_value(source, lane, 4 * m.source_dwords(), held);
    }
    for (unsigned n = first_sum; n < vector_count; n += m.type == Element::f64 ? 2 : 1) {
      if (m.type == Element::f64)
        state.set_vector_value(n, lane, 8, small_bits(m.type, random));
      else if (m.type != Element::i8)
        state.vector[n][lane] = static_cast<u32>(small_bits(Element::f32, random));
    }
  }
}

/// Element k of row (or column) i of a block, as "Matrix Arithmetic Instructions" places it.
double source(const Matrix& m, const MachineState& state, unsigned first, unsigned block, unsigned i, unsigned k) {
  unsigned lane = i + m.size * block + m.size * m.blocks * (k / m.per_lane());
  if (first == 2) {  // B's lanes may be exchanged
    if (m.blgp == 1) lane %= 32;
    if (m.blgp == 2) lane = 32 + lane % 32;
    if (m.blgp == 3) lane = (lane + 16) % 64;
    if (m.blgp >= 4) lane = 16 * (m.blgp - 4) + lane % 16;
  }
  const u64 held = state.vector_value(first, lane, 4 * m.source_dwords());
  const unsigned shift = k % m.per_lane() * m.bits();
  return number(first == 2 ? m.type_b() : m.type, m.bits() == 64 ? held : held >> shift & ((u64{1} << m.bits()) - 1));
}

void reference(const Matrix& m, unsigned first, MachineState& state) {
  const MachineState before = state;
  const unsigned width = m.type == Element::f64 ? 2 : 1;
  for (unsigned n = first / width; n < m.sums() && n < (first + visible_sums) / width; ++n) {
    const unsigned result = first_sum + n * width - first;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const auto [block, i, j] = position(m, n, lane);
      const unsigned a_block = block / (1U << m.cbsz) * (1U << m.cbsz) + m.abid;
      double sum = 0;
      for (unsigned k = 0; k < m.depth; ++k)
        sum += source(m, before, 0, m.cbsz == 0 ? block : a_block, i, k) * source(m, before, 2, block, j, k);
      const unsigned c = source_of_sum(n * width);
      const u64 old = before.vector_value(c, lane, 4 * width);
      if (m.type == Element::i8)
        state.vector[result][lane] = static_cast<u32>(old + static_cast<u64>(static_cast<i64>(sum)));
      else if (m.type == Element::f64)
        state.set_vector_value(result, lane, 8, std::bit_cast<u64>(number(m.type, old) + sum));
      else
        state.vector[result][lane] = std::bit_cast<u32>(static_cast<float>(number(Element::f32, old) + sum));
    }
  }
  state.set_scalar_value(16, 8, state.exec);
}

void expect_product(const Matrix& m, Options options = {}) {
  std::vector<Case> cases;
  for (unsigned first = 0; first < m.sum_dwords(); first += visible_sums)
    cases.push_back({.assembly = snippet(m, first),
                     .prepare = [m](MachineState& state, Random& random) { prepare(m, state, random); },
                     .reference = [m, first](MachineState& state) { reference(m, first, state); }});
  expect_match(cases, options);
}

class MatrixInstruction : public testing::TestWithParam<Matrix> {};
TEST_P(MatrixInstruction, MatchesTheManual) { expect_product(GetParam()); }

class LaterMatrixInstruction : public testing::TestWithParam<Matrix> {};
TEST_P(LaterMatrixInstruction, MatchesTheManual) { expect_product(GetParam(), {.gfx90a_lacks_them = true}); }

INSTANTIATE_TEST_SUITE_P(Plain, MatrixInstruction,
                         testing::Values(Matrix{"v_mfma_f32_32x32x1f32", 32, 1, 2, Element::f32},
                                         Matrix{"v_mfma_f32_16x16x1f32", 16, 1, 4, Element::f32},
                                         Matrix{"v_mfma_f32_4x4x1f32", 4, 1, 16, Element::f32},
                                         Matrix{"v_mfma_f32_32x32x2f32", 32, 2, 1, Element::f32},
                                         Matrix{"v_mfma_f32_16x16x4f32", 16, 4, 1, Element::f32},
                                         Matrix{"v_mfma_f32_32x32x4f16", 32, 4, 2, Element::f16},
                                         Matrix{"v_mfma_f32_16x16x4f16", 16, 4, 4, Element::f16},
                                         Matrix{"v_mfma_f32_4x4x4f16", 4, 4, 16, Element::f16},
                                         Matrix{"v_mfma_f32_32x32x8f16", 32, 8, 1, Element::f16},
                                         Matrix{"v_mfma_f32_16x16x16f16", 16, 16, 1, Element::f16},
                                         Matrix{"v_mfma_f32_32x32x2bf16", 32, 2, 2, Element::bf16},
                                         Matrix{"v_mfma_f32_16x16x2bf16", 16, 2, 4, Element::bf16},
                                         Matrix{"v_mfma_f32_4x4x2bf16", 4, 2, 16, Element::bf16},
                                         Matrix{"v_mfma_f32_32x32x4bf16", 32, 4, 1, Element::bf16},
                                         Matrix{"v_mfma_f32_16x16x8bf16", 16, 8, 1, Element::bf16},
                                         Matrix{"v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, Element::bf16},
                                         Matrix{"v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, Element::bf16},
                                         Matrix{"v_mfma_f32_4x4x4bf16_1k", 4, 4, 16, Element::bf16},
                                         Matrix{"v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, Element::bf16},
                                         Matrix{"v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, Element::bf16},
                                         Matrix{"v_mfma_i32_32x32x4i8", 32, 4, 2, Element::i8},
                                         Matrix{"v_mfma_i32_16x16x4i8", 16, 4, 4, Element::i8},
                                         Matrix{"v_mfma_i32_4x4x4i8", 4, 4, 16, Element::i8},
                                         Matrix{"v_mfma_i32_32x32x8i8", 32, 8, 1, Element::i8},
                                         Matrix{"v_mfma_i32_16x16x16i8", 16, 16, 1, Element::i8},
                                         Matrix{"v_mfma_f64_16x16x4f64", 16, 4, 1, Element::f64},
                                         Matrix{"v_mfma_f64_4x4x4f64", 4, 4, 4, Element::f64}),
                         [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

INSTANTIATE_TEST_SUITE_P(Cdna3, LaterMatrixInstruction,
                         testing::Values(Matrix{"v_mfma_i32_32x32x16_i8", 32, 16, 1, Element::i8},
                                         Matrix{"v_mfma_i32_16x16x32_i8", 16, 32, 1, Element::i8},
                                         Matrix{"v_mfma_f32_16x16x8_xf32", 16, 8, 1, Element::xf32},
                                         Matrix{"v_mfma_f32_32x32x4_xf32", 32, 4, 1, Element::xf32}),
                         [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

Matrix of_bytes(const char* mnemonic, unsigned size, unsigned depth, Element a, Element b) {
  return {.mnemonic = mnemonic, .size = size, .depth = depth, .blocks = 1, .type = a, .type_of_b = b};
}
INSTANTIATE_TEST_SUITE_P(ByteFloats, LaterMatrixInstruction,
                         testing::Values(of_bytes("v_mfma_f32_16x16x32_bf8_bf8", 16, 32, Element::bf8, Element::bf8),
                                         of_bytes("v_mfma_f32_16x16x32_bf8_fp8", 16, 32, Element::bf8, Element::fp8),
                                         of_bytes("v_mfma_f32_16x16x32_fp8_bf8", 16, 32, Element::fp8, Element::bf8),
                                         of_bytes("v_mfma_f32_16x16x32_fp8_fp8", 16, 32, Element::fp8, Element::fp8),
                                         of_bytes("v_mfma_f32_32x32x16_bf8_bf8", 32, 16, Element::bf8, Element::bf8),
                                         of_bytes("v_mfma_f32_32x32x16_bf8_fp8", 32, 16, Element::bf8, Element::fp8),
                                         of_bytes("v_mfma_f32_32x32x16_fp8_bf8", 32, 16, Element::fp8, Element::bf8),
                                         of_bytes("v_mfma_f32_32x32x16_fp8_fp8", 32, 16, Element::fp8, Element::fp8)),
                         [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

INSTANTIATE_TEST_SUITE_P(
    SharingBlocks, MatrixInstruction,
    testing::Values(Matrix{"v_mfma_f32_4x4x1f32", 4, 1, 16, Element::f32, " cbsz:2 abid:3", 2, 3, 0},
                    Matrix{"v_mfma_f32_16x16x4f16", 16, 4, 4, Element::f16, " cbsz:1 abid:1", 1, 1, 0},
                    Matrix{"v_mfma_i32_32x32x4i8", 32, 4, 2, Element::i8, " cbsz:1", 1, 0, 0},
                    Matrix{"v_mfma_f32_32x32x2f32", 32, 2, 1, Element::f32, " blgp:1", 0, 0, 1},
                    Matrix{"v_mfma_f32_32x32x1f32", 32, 1, 2, Element::f32, " blgp:2", 0, 0, 2},
                    Matrix{"v_mfma_f32_16x16x1f32", 16, 1, 4, Element::f32, " blgp:3", 0, 0, 3},
                    Matrix{"v_mfma_f32_16x16x16f16", 16, 16, 1, Element::f16, " blgp:4", 0, 0, 4},
                    Matrix{"v_mfma_f32_4x4x2bf16", 4, 2, 16, Element::bf16, " cbsz:4 abid:5 blgp:7", 4, 5, 7}),
    [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

TEST(MatrixOperands, DenormalsOf16BitsCountAsTheArchitectureHasIt) {
  for (const auto& [mnemonic, type, denormal] : {std::tuple{"v_mfma_f32_4x4x4f16", Element::f16, 0x8003U},
                                                 std::tuple{"v_mfma_f32_4x4x4bf16_1k", Element::bf16, 0x0041U}}) {
    const Matrix m{mnemonic, 4, 4, 16, type};
    const auto prepare_denormals = [m, held = denormal * u64{0x0001000100010001}](MachineState& state, Random& random) {
      prepare(m, state, random);
      for (unsigned lane = 0; lane < lane_count; ++lane) state.set_vector_value(0, lane, 8, held);
    };
    expect_match({{"s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n" + m.mnemonic +
                       " v[4:7], v[0:1], v[2:3], 0\ns_mov_b64 exec, s[16:17]",
                   prepare_denormals, [m](MachineState& state) {
                     for (unsigned n = 4; n < 8; ++n) state.vector[n].fill(0);
                     reference(m, 0, state);
                   }}});
  }
}

/// C may be a constant, and the operands any of the two files.
TEST(MatrixOperands, TakesConstantsAndBothRegisterFiles) {
  const Matrix single{"", 4, 1, 16, Element::f32};
  const Matrix wide{"", 4, 4, 4, Element::f64};
  const auto all_lanes = [](const std::string& text) {
    return "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n" + text + "\ns_mov_b64 exec, s[16:17]";
  };
  expect_match({{all_lanes("v_accvgpr_write_b32 a5, v0\nv_mfma_f32_4x4x1f32 v[4:7], a5, v2, 1.0"),
                 [single](MachineState& state, Random& random) { prepare(single, state, random); },
                 [single](MachineState& state) {
                   for (unsigned n = 4; n < 8; ++n) state.vector[n].fill(std::bit_cast<u32>(1.0F));
                   reference(single, 0, state);
                 }},
                {all_lanes("v_mfma_f64_4x4x4f64 v[4:5], v[0:1], v[2:3], -2.0"),
                 [wide](MachineState& state, Random& random) { prepare(wide, state, random); },
                 [wide](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     state.set_vector_value(4, lane, 8, std::bit_cast<u64>(-2.0));
                   reference(wide, 0, state);
                 }},
                {all_lanes("v_mfma_i32_4x4x4i8 v[4:7], v0, v2, 0"),
                 [](MachineState& state, Random& random) {
                   prepare({"", 4, 4, 16, Element::i8}, state, random);
                 },
                 [](MachineState& state) {
                   for (unsigned n = 4; n < 8; ++n) state.vector[n].fill(0);
                   reference({"", 4, 4, 16, Element::i8}, 0, state);
                 }}});
}

}  // namespace
}  // namespace softgpu::isa::dense_matrix
