// CDNA4's products of a sparse matrix, of twice the depth that CDNA3's have.
#include <algorithm>
#include <bit>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "matrix.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::wide_sparse_matrix {
namespace {

constexpr unsigned first_of_b = 4;
constexpr unsigned indices = 12;
constexpr unsigned first_of_sums = 13;
constexpr unsigned visible_sums = 8;  // in the case that reads them back

/// v[0:3] has A, v[4:11] B, v12 the indices, v[13:15] what the sums were.
struct SparseMatrix {
  const char* mnemonic;
  unsigned size, depth;
  Element a, b;
  unsigned index_set = 0;
  const char* modifiers = "";

  [[nodiscard]] unsigned bits() const { return Matrix{"", size, depth, 1, a}.bits(); }
};
void PrintTo(const SparseMatrix& matrix, std::ostream* stream) { *stream << matrix.mnemonic << matrix.modifiers; }

/// An element of a row or column: in which of the lanes that share the row, and which of the lane's elements.
struct Place {
  unsigned lane, item;
};

unsigned bit(unsigned number, unsigned place) { return number >> place & 1; }

/// Where fpsan's tests on an MI350 find element c of those that are stored of a row of A, and the element's index.
Place place_in_a(const SparseMatrix& m, unsigned c) {
  if (m.bits() == 16) return {c / 8, c % 8};
  if (m.size == 16) return {2 * bit(c, 5) + bit(c, 3), 8 * bit(c, 2) + 4 * bit(c, 4) + c % 4};
  return {bit(c, 4), 8 * bit(c, 2) + 4 * bit(c, 3) + c % 4};
}

/// And element k of a column of B.
Place place_in_b(const SparseMatrix& m, unsigned k) {
  const unsigned lanes = 64 / m.size;
  return {k / 8 % lanes, 8 * (k / (8 * lanes)) + k % 8};
}

double element(const SparseMatrix& m, const MachineState& state, Element type, unsigned first, Place place,
               unsigned row) {
  const u32 dword = state.vector[first + place.item * m.bits() / 32][m.size * place.lane + row];
  return number(type, dword >> place.item * m.bits() % 32 & ((1U << m.bits()) - 1));
}

double sparse_sum(const SparseMatrix& m, const MachineState& state, unsigned i, unsigned j) {
  double sum = 0;
  for (unsigned c = 0; c < m.depth / 2; ++c) {
    const Place of_a = place_in_a(m, c);
    const unsigned index = state.vector[indices][m.size * of_a.lane + i] >> (16 * m.index_set + 2 * of_a.item) & 3;
    sum += element(m, state, m.a, 0, of_a, i) * element(m, state, m.b, first_of_b, place_in_b(m, c / 2 * 4 + index), j);
  }
  return sum;
}

void prepare(const SparseMatrix& m, MachineState& state, Random& random) {
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    for (unsigned n = 0; n < indices; ++n) {
      u32 held = 0;
      for (unsigned shift = 0; shift < 32; shift += m.bits())
        held |= static_cast<u32>(small_bits(n < first_of_b ? m.a : m.b, random)) << shift;
      state.vector[n][lane] = held;
    }
    for (unsigned n = first_of_sums; n < vector_count && m.a != Element::i8; ++n)
      state.vector[n][lane] = static_cast<u32>(small_bits(Element::f32, random));
  }
}

class WideSparseMatrixInstruction : public testing::TestWithParam<SparseMatrix> {};
TEST_P(WideSparseMatrixInstruction, LaterMatchesTheManual) {
  const SparseMatrix m = GetParam();
  const Matrix dense{"", m.size, m.depth, 1, m.a};
  const auto source_of_sum = [](unsigned n) { return first_of_sums + n % (vector_count - first_of_sums); };
  std::vector<Case> cases;
  for (unsigned first = 0; first < dense.sums(); first += visible_sums) {
    const unsigned count = std::min(dense.sums() - first, visible_sums);
    std::ostringstream text;
    text << "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n";
    for (unsigned n = 0; n < dense.sums(); ++n)
      text << "v_accvgpr_write_b32 a" << n << ", v" << source_of_sum(n) << "\n";
    text << "s_mov_b64 exec, s[16:17]\n"
         << m.mnemonic << " " << registers('a', 0, dense.sums()) << ", v[0:3], v[4:11], v12" << m.modifiers
         << "\ns_mov_b64 exec, -1\n";
    for (unsigned n = 0; n < count; ++n) text << "v_accvgpr_read_b32 v" << n << ", a" << first + n << "\n";
    text << "s_mov_b64 exec, s[16:17]";
    const auto reference = [=](MachineState& state) {
      const MachineState before = state;
      for (unsigned n = 0; n < count; ++n)
        for (unsigned lane = 0; lane < lane_count; ++lane) {
          const auto [block, i, j] = position(dense, first + n, lane);
          const double sum = sparse_sum(m, before, i, j);
          const u32 old = before.vector[source_of_sum(first + n)][lane];
          state.vector[n][lane] = m.a == Element::i8
                                      ? old + static_cast<u32>(static_cast<i64>(sum))
                                      : std::bit_cast<u32>(static_cast<float>(std::bit_cast<float>(old) + sum));
        }
      state.set_scalar_value(16, 8, state.exec);
    };
    cases.push_back({.assembly = text.str(),
                     .prepare = [m](MachineState& state, Random& random) { prepare(m, state, random); },
                     .reference = reference});
  }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

INSTANTIATE_TEST_SUITE_P(
    Cdna4, WideSparseMatrixInstruction,
    testing::Values(SparseMatrix{"v_smfmac_f32_16x16x64_f16", 16, 64, Element::f16, Element::f16},
                    SparseMatrix{"v_smfmac_f32_16x16x64_f16", 16, 64, Element::f16, Element::f16, 1, " abid:1"},
                    SparseMatrix{"v_smfmac_f32_32x32x32_f16", 32, 32, Element::f16, Element::f16, 0, " cbsz:1 abid:1"},
                    SparseMatrix{"v_smfmac_f32_16x16x64_bf16", 16, 64, Element::bf16, Element::bf16},
                    SparseMatrix{"v_smfmac_f32_32x32x32_bf16", 32, 32, Element::bf16, Element::bf16, 1, " abid:1"},
                    SparseMatrix{"v_smfmac_i32_16x16x128_i8", 16, 128, Element::i8, Element::i8},
                    SparseMatrix{"v_smfmac_i32_32x32x64_i8", 32, 64, Element::i8, Element::i8},
                    SparseMatrix{"v_smfmac_f32_16x16x128_bf8_bf8", 16, 128, Element::bf8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_16x16x128_bf8_fp8", 16, 128, Element::bf8, Element::fp8},
                    SparseMatrix{"v_smfmac_f32_16x16x128_fp8_bf8", 16, 128, Element::fp8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_16x16x128_fp8_fp8", 16, 128, Element::fp8, Element::fp8},
                    SparseMatrix{"v_smfmac_f32_32x32x64_bf8_bf8", 32, 64, Element::bf8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_32x32x64_bf8_fp8", 32, 64, Element::bf8, Element::fp8},
                    SparseMatrix{"v_smfmac_f32_32x32x64_fp8_bf8", 32, 64, Element::fp8, Element::bf8},
                    SparseMatrix{"v_smfmac_f32_32x32x64_fp8_fp8", 32, 64, Element::fp8, Element::fp8}),
    [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

}  // namespace
}  // namespace softgpu::isa::wide_sparse_matrix
