// Products of a sparse matrix with a dense one: v_smfmac_*.
#include <algorithm>
#include <bit>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "matrix.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::sparse_matrix {
namespace {

/// A and D as of a dense matrix; two of each four elements of A are stored. v0 and v1 have A, v2 and v3 the first half
/// of B, v12 and v13 the second, v14 the indices.
struct SparseMatrix {
  const char* mnemonic;
  unsigned size, depth;
  Element a, b;
  unsigned index_set = 0;
  const char* modifiers = "";

  [[nodiscard]] unsigned bits() const { return Matrix{"", size, depth, 1, a}.bits(); }
  /// Lanes that hold a row of A, or a column of B, one behind the other in the direction of K.
  [[nodiscard]] unsigned b_per_lane() const { return size * depth / 64; }
};
void PrintTo(const SparseMatrix& matrix, std::ostream* stream) { *stream << matrix.mnemonic << matrix.modifiers; }

u32 byte_or_half(u32 dword, unsigned bits, unsigned n) { return dword >> (n * bits % 32) & ((1U << bits) - 1); }

/// Element n of what a lane holds, of 64 bits in `first` and the register behind it.
double stored(const MachineState& state, unsigned first, unsigned lane, unsigned n, Element type, unsigned bits) {
  return number(type, byte_or_half(state.vector[first + n * bits / 32][lane], bits, n));
}

/// The sum of row i and column j. In a group of four in the direction of K, an index of two bits tells which element of
/// B meets the first stored element of A, and another one, which meets the second.
double sparse_sum(const SparseMatrix& m, const MachineState& state, unsigned i, unsigned j) {
  double sum = 0;
  for (unsigned group = 0; group < m.depth / 4; ++group) {
    const unsigned groups_per_lane = m.b_per_lane() / 4;
    const unsigned lanes = m.size * (group / groups_per_lane);
    const unsigned group_in_lane = group % groups_per_lane;
    for (unsigned which = 0; which < 2; ++which) {
      const unsigned a_number = 2 * group_in_lane + which;
      const unsigned place = 2 * a_number + m.index_set * groups_per_lane * 4;
      const unsigned index = state.vector[14][lanes + i] >> place & 3;
      const unsigned b_number = 4 * group_in_lane + index;
      const unsigned b_dword = b_number * m.bits() / 32;
      const u32 b = byte_or_half(state.vector[b_dword < 2 ? 2 + b_dword : 10 + b_dword][lanes + j], m.bits(), b_number);
      sum += stored(state, 0, lanes + i, a_number, m.a, m.bits()) * number(m.b, b);
    }
  }
  return sum;
}

class SparseMatrixInstruction : public testing::TestWithParam<SparseMatrix> {};
TEST_P(SparseMatrixInstruction, MatchesTheManual) {
  const SparseMatrix m = GetParam();
  const Matrix dense{"", m.size, m.depth, 1, m.a};
  const bool is_integer = m.a == Element::i8;
  const auto prepare_sparse = [=](MachineState& state, Random& random) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      for (const unsigned n : {0U, 1U, 2U, 3U, 12U, 13U}) {
        u32 held = 0;
        for (unsigned bit = 0; bit < 32; bit += m.bits())
          held |= static_cast<u32>(small_bits(n < 2 ? m.a : m.b, random)) << bit;
        state.vector[n][lane] = held;
      }
      state.vector[14][lane] = static_cast<u32>(random());
      for (unsigned n = 4; n < 12; ++n)
        if (!is_integer) state.vector[n][lane] = static_cast<u32>(small_bits(Element::f32, random));
    }
  };
  // Registers of the sums are v4 to v11, and again v4 to v11.
  const unsigned sums = dense.sum_dwords();
  std::vector<Case> cases;
  for (unsigned first = 0; first < sums; first += 8) {
    const unsigned read_back = std::min(sums - first, 8U);
    std::ostringstream text;
    text << "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n";
    for (unsigned n = 0; n < sums; ++n) text << "v_accvgpr_write_b32 a" << n << ", v" << 4 + n % 8 << "\n";
    for (unsigned n = 0; n < 4; ++n)
      text << "v_accvgpr_write_b32 a" << 32 + n << ", v" << (n < 2 ? 2 + n : 10 + n) << "\n";
    text << "s_mov_b64 exec, s[16:17]\n"
         << m.mnemonic << " " << registers('a', 0, sums) << ", v[0:1], a[32:35], v14" << m.modifiers
         << "\ns_mov_b64 exec, -1\n";
    for (unsigned n = 0; n < read_back; ++n) text << "v_accvgpr_read_b32 v" << 4 + n << ", a" << first + n << "\n";
    text << "s_mov_b64 exec, s[16:17]";
    cases.push_back({.assembly = text.str(), .prepare = prepare_sparse, .reference = [=](MachineState& state) {
                       const MachineState before = state;
                       for (unsigned n = 0; n < read_back; ++n)
                         for (unsigned lane = 0; lane < lane_count; ++lane) {
                           const auto [block, i, j] = position(dense, first + n, lane);
                           const double sum = sparse_sum(m, before, i, j);
                           const u32 old = before.vector[4 + (first + n) % 8][lane];
                           state.vector[4 + n][lane] =
                               is_integer ? old + static_cast<u32>(static_cast<i64>(sum))
                                          : std::bit_cast<u32>(static_cast<float>(std::bit_cast<float>(old) + sum));
                         }
                       state.set_scalar_value(16, 8, state.exec);
                     }});
  }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

INSTANTIATE_TEST_SUITE_P(
    Cdna3, SparseMatrixInstruction,
    testing::Values(SparseMatrix{"v_smfmac_f32_16x16x32_f16", 16, 32, Element::f16, Element::f16},
                    SparseMatrix{"v_smfmac_f32_16x16x32_f16", 16, 32, Element::f16, Element::f16, 3, " abid:3"},
                    SparseMatrix{"v_smfmac_f32_16x16x32_f16", 16, 32, Element::f16, Element::f16, 0, " cbsz:1 abid:2"},
                    SparseMatrix{"v_smfmac_f32_32x32x16_f16", 32, 16, Element::f16, Element::f16},
                    SparseMatrix{"v_smfmac_f32_16x16x32_bf16", 16, 32, Element::bf16, Element::bf16, 1, " abid:1"},
                    SparseMatrix{"v_smfmac_f32_32x32x16_bf16", 32, 16, Element::bf16, Element::bf16, 2, " abid:2"},
                    SparseMatrix{"v_smfmac_i32_16x16x64_i8", 16, 64, Element::i8, Element::i8},
                    SparseMatrix{"v_smfmac_i32_32x32x32_i8", 32, 32, Element::i8, Element::i8, 1, " abid:1"},
                    SparseMatrix{"v_smfmac_f32_16x16x64_bf8_bf8", 16, 64, Element::bf8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_16x16x64_bf8_fp8", 16, 64, Element::bf8, Element::fp8},
                    SparseMatrix{"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, Element::fp8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_16x16x64_fp8_fp8", 16, 64, Element::fp8, Element::fp8, 1, " abid:1"},
                    SparseMatrix{"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, Element::bf8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, Element::bf8, Element::fp8},
                    SparseMatrix{"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, Element::fp8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, Element::fp8, Element::fp8}),
    [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

}  // namespace
}  // namespace softgpu::isa::sparse_matrix
