// Matrix instructions, with numbers whose products and sums are exact, so that the order of the sums is of no matter.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "byte_float_rules.hpp"
#include "half.hpp"
#include "harness.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

enum class Element { f32, f64, f16, bf16, i8, fp8, bf8 };

struct Matrix {
  std::string mnemonic;
  unsigned size, depth, blocks;
  Element type;
  std::string modifiers = {};
  unsigned cbsz = 0, abid = 0, blgp = 0;
  std::optional<Element> type_of_b = {};  ///< if it is another one

  [[nodiscard]] Element type_b() const { return type_of_b.value_or(type); }
  [[nodiscard]] unsigned bits() const {
    constexpr std::array<unsigned, 7> widths = {32, 64, 16, 16, 8, 8, 8};
    return widths.at(static_cast<unsigned>(type));
  }
  [[nodiscard]] unsigned per_lane() const { return size * depth * blocks / 64; }
  [[nodiscard]] unsigned source_dwords() const { return per_lane() * bits() / 32; }
  [[nodiscard]] unsigned sums() const { return size * size * blocks / 64; }
  [[nodiscard]] unsigned sum_dwords() const { return sums() * (type == Element::f64 ? 2 : 1); }
};
void PrintTo(const Matrix& matrix, std::ostream* stream) { *stream << matrix.mnemonic << matrix.modifiers; }

constexpr unsigned first_sum = 4;  // v4 to v15 are read back
constexpr unsigned visible_sums = vector_count - first_sum;

/// Every register n of C starts as v(4 + n % 12).
unsigned source_of_sum(unsigned dword) { return first_sum + dword % visible_sums; }

std::string tuple(const char* file, unsigned first, unsigned dwords) {
  std::ostringstream text;
  text << file;
  if (dwords == 1)
    text << first;
  else
    text << '[' << first << ':' << first + dwords - 1 << ']';
  return text.str();
}

/// Reads the registers of D from `first` on back to v4 and on.
std::string snippet(const Matrix& m, unsigned first) {
  std::ostringstream text;
  text << "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n";
  for (unsigned n = 0; n < m.sum_dwords(); ++n)
    text << "v_accvgpr_write_b32 a" << n << ", v" << source_of_sum(n) << "\n";
  const std::string sums = tuple("a", 0, m.sum_dwords());
  text << "s_mov_b64 exec, s[16:17]\n"
       << m.mnemonic << " " << sums << ", " << tuple("v", 0, m.source_dwords()) << ", "
       << tuple("v", 2, m.source_dwords()) << ", " << sums << m.modifiers << "\ns_mov_b64 exec, -1\n";
  for (unsigned n = first; n < m.sum_dwords() && n < first + visible_sums; ++n)
    text << "v_accvgpr_read_b32 v" << first_sum + n - first << ", a" << n << "\n";
  text << "s_mov_b64 exec, s[16:17]";
  return text.str();
}

/// A few bits of mantissa around 1, or whole numbers for integers.
double small_number(Random& random) { return (static_cast<double>(random() % 31) - 15.5) / 4; }

const ByteFloatRules& byte_float(Element type) { return type == Element::fp8 ? fp8_rules() : bf8_rules(); }

/// CDNA2 takes denormals of 16 bits as zeros.
bool flushes_denormals() { return tested_target().architecture->flushes_matrix_denormals; }

/// One in 8 is denormal where these count as zeros: sums with others would not be exact.
u64 small_bits(Element type, Random& random) {
  const bool is_denormal = flushes_denormals() && random() % 8 == 0;
  switch (type) {
  case Element::f32:
    return std::bit_cast<u32>(static_cast<float>(small_number(random)));
  case Element::f64:
    return std::bit_cast<u64>(small_number(random));
  case Element::f16:
    return is_denormal ? 0x8003 : Half(small_number(random)).bits;
  case Element::bf16:
    return is_denormal ? 0x0041 : std::bit_cast<u32>(static_cast<float>(small_number(random))) >> 16;
  case Element::fp8:
  case Element::bf8:
    return byte_float(type).narrow(static_cast<float>(small_number(random)));
  case Element::i8:
    break;
  }
  return random() % 256;
}

double number(Element type, u64 bits) {
  switch (type) {
  case Element::f32:
    return std::bit_cast<float>(static_cast<u32>(bits));
  case Element::f64:
    return std::bit_cast<double>(bits);
  case Element::f16:
    return flushes_denormals() && (bits & 0x7c00) == 0
               ? 0
               : static_cast<double>(Half::from_bits(static_cast<std::uint16_t>(bits)));
  case Element::bf16:
    return flushes_denormals() && (bits & 0x7f80) == 0 ? 0 : std::bit_cast<float>(static_cast<u32>(bits) << 16);
  case Element::fp8:
  case Element::bf8:
    return byte_float(type).widen(static_cast<std::uint8_t>(bits));
  case Element::i8:
    break;
  }
  return static_cast<std::int8_t>(bits);
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

struct Position {
  unsigned block, i, j;
};

/// The contents of register n of D in a lane.
Position position(const Matrix& m, unsigned n, unsigned lane) {
  if (m.type == Element::f64) {
    if (m.size == 16) return {0, 4 * n + lane / 16, lane % 16};
    return {lane / 4 % 4, lane / 16, lane % 4};
  }
  if (m.size == 32) return {n / 16, 8 * (n % 16 / 4) + 4 * (lane / 32) + n % 4, lane % 32};
  if (m.size == 16) return {n / 4, 4 * (lane / 16) + n % 4, lane % 16};
  return {lane / 4, n, lane % 4};
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

std::string name_of(const testing::TestParamInfo<Matrix>& info) {
  std::string name = info.param.mnemonic + info.param.modifiers;
  for (char& letter : name)
    if (letter == ' ' || letter == ':') letter = '_';
  return name;
}

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
                         name_of);

INSTANTIATE_TEST_SUITE_P(Cdna3, LaterMatrixInstruction,
                         testing::Values(Matrix{"v_mfma_i32_32x32x16_i8", 32, 16, 1, Element::i8},
                                         Matrix{"v_mfma_i32_16x16x32_i8", 16, 32, 1, Element::i8}),
                         name_of);

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
                         name_of);

// --- Sparse matrices

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
         << m.mnemonic << " " << tuple("a", 0, sums) << ", v[0:1], a[32:35], v14" << m.modifiers
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

std::string sparse_name(const testing::TestParamInfo<SparseMatrix>& info) {
  return name_of({{info.param.mnemonic, 0, 0, 0, Element::f16, info.param.modifiers}, info.index});
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
    sparse_name);

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
    name_of);

// --- Wave matrices

/// A is in v0 to v7, and B in the same registers, turned by three; C in v8 to v15. A row, or a column, is in all groups
/// of 16 lanes.
struct WaveMatrixCase {
  const char* mnemonic;
  Element type;  ///< i8: integers
  unsigned bits;
  Element sum;  ///< f32, f16, bf16, or i8: integers
  const char* modifiers = "";
  bool a_is_signed = false, b_is_signed = false, saturates = false, upper = false;
};
void PrintTo(const WaveMatrixCase& matrix, std::ostream* stream) { *stream << matrix.mnemonic << matrix.modifiers; }

double wave_element(const WaveMatrixCase& m, const MachineState& state, unsigned turned, unsigned lane, unsigned k,
                    bool is_signed) {
  const unsigned dword = (k * m.bits / 32 + turned) % (16 * m.bits / 32);
  const u32 bits = state.vector[dword][lane] >> (k * m.bits % 32) & ((1U << m.bits) - 1);
  if (m.type != Element::i8) return number(m.type, bits);
  return is_signed && bits >> (m.bits - 1) != 0 ? static_cast<double>(bits) - (1U << m.bits) : bits;
}

u32 wave_sum(const WaveMatrixCase& m, u32 old, double sum) {
  const u32 c = m.upper ? old >> 16 : old & 0xffff;
  const u32 other = m.upper ? old & 0xffff : old & 0xffff0000;
  const auto placed = [&](u32 half) { return other | (m.upper ? half << 16 : half); };
  switch (m.sum) {
  case Element::f16:
    return placed(Half(number(Element::f16, c) + sum).bits);
  case Element::bf16:
    return placed(std::bit_cast<u32>(static_cast<float>(number(Element::bf16, c) + sum)) >> 16);
  case Element::f32:
    return std::bit_cast<u32>(static_cast<float>(std::bit_cast<float>(old) + sum));
  default:
    break;
  }
  const double whole = static_cast<std::int32_t>(old) + sum;
  return static_cast<u32>(static_cast<i64>(m.saturates ? std::clamp(whole, -2147483648.0, 2147483647.0) : whole));
}

class LaterWaveMatrix : public testing::TestWithParam<WaveMatrixCase> {};
TEST_P(LaterWaveMatrix, MatchesTheManual) {
  const WaveMatrixCase m = GetParam();
  const unsigned lanes = tested_target().wavefront_size;
  const unsigned sums = 256 / lanes;
  const unsigned dwords = 16 * m.bits / 32;
  std::ostringstream text;
  text << "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n";
  for (unsigned n = 0; n < dwords; ++n) text << "v_mov_b32 v" << 24 + n << ", v" << (n + 3) % dwords << "\n";
  text << "s_mov_b64 exec, s[16:17]\n"
       << m.mnemonic << " " << tuple("v", 8, sums) << ", " << tuple("v", 0, dwords) << ", " << tuple("v", 24, dwords)
       << ", " << tuple("v", 8, sums) << m.modifiers;
  // Sums of bfloat16 are exact only of numbers of one digit.
  const auto source_bits = [m](Random& random) {
    if (m.type != Element::bf16 || m.sum != Element::bf16) return static_cast<u32>(small_bits(m.type, random));
    return random() % 4 == 0 ? 0x3f80U : 0U;
  };
  const auto prepare_wave = [=](MachineState& state, Random& random) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned n = 0; n < dwords; ++n) {
        u32 held = 0;
        for (unsigned bit = 0; bit < 32; bit += m.bits) held |= (source_bits(random) & ((1U << m.bits) - 1)) << bit;
        state.vector[n][lane] = lane < 16 ? held : state.vector[n][lane % 16];
      }
      for (unsigned n = 8; n < 8 + sums; ++n) {
        if (m.sum == Element::i8) {
          if (m.saturates) state.vector[n][lane] = 0x7fffff00U + static_cast<u32>(random() % 512);
          continue;
        }
        u32 held = 0;
        if (m.sum == Element::f32)
          held = static_cast<u32>(small_bits(Element::f32, random));
        else
          for (unsigned bit = 0; bit < 32; bit += 16)
            held |= static_cast<u32>(m.sum == Element::bf16 ? 0x4000 : small_bits(m.sum, random)) << bit;
        state.vector[n][lane] = held;
      }
    }
  };
  const auto reference_wave = [=](MachineState& state) {
    const MachineState before = state;
    for (unsigned n = 0; n < sums; ++n)
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const unsigned i = n * (lanes / 16) + lane / 16;
        double sum = 0;
        for (unsigned k = 0; k < 16; ++k)
          sum +=
              wave_element(m, before, 0, i, k, m.a_is_signed) * wave_element(m, before, 3, lane % 16, k, m.b_is_signed);
        state.vector[8 + n][lane] = wave_sum(m, before.vector[8 + n][lane], sum);
      }
    state.set_scalar_value(16, 8, state.exec);
  };
  expect_match({{.assembly = text.str(), .prepare = prepare_wave, .reference = reference_wave}},
               {.gfx90a_lacks_them = true});
}

std::string wave_name(const testing::TestParamInfo<WaveMatrixCase>& info) {
  std::string name = std::string(info.param.mnemonic) + info.param.modifiers;
  std::ranges::replace_if(
      name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Rdna3, LaterWaveMatrix,
                         testing::Values(WaveMatrixCase{"v_wmma_f32_16x16x16_f16", Element::f16, 16, Element::f32},
                                         WaveMatrixCase{"v_wmma_f32_16x16x16_bf16", Element::bf16, 16, Element::f32},
                                         WaveMatrixCase{"v_wmma_f16_16x16x16_f16", Element::f16, 16, Element::f16},
                                         WaveMatrixCase{.mnemonic = "v_wmma_f16_16x16x16_f16",
                                                        .type = Element::f16,
                                                        .bits = 16,
                                                        .sum = Element::f16,
                                                        .modifiers = " op_sel:[0,0,1]",
                                                        .upper = true},
                                         WaveMatrixCase{"v_wmma_bf16_16x16x16_bf16", Element::bf16, 16, Element::bf16},
                                         WaveMatrixCase{.mnemonic = "v_wmma_bf16_16x16x16_bf16",
                                                        .type = Element::bf16,
                                                        .bits = 16,
                                                        .sum = Element::bf16,
                                                        .modifiers = " op_sel:[0,0,1]",
                                                        .upper = true},
                                         WaveMatrixCase{"v_wmma_i32_16x16x16_iu8", Element::i8, 8, Element::i8},
                                         WaveMatrixCase{"v_wmma_i32_16x16x16_iu8", Element::i8, 8, Element::i8,
                                                        " neg_lo:[1,0,0]", true},
                                         WaveMatrixCase{"v_wmma_i32_16x16x16_iu8", Element::i8, 8, Element::i8,
                                                        " neg_lo:[0,1,0]", false, true},
                                         WaveMatrixCase{"v_wmma_i32_16x16x16_iu8", Element::i8, 8, Element::i8,
                                                        " neg_lo:[1,1,0] clamp", true, true, true},
                                         WaveMatrixCase{"v_wmma_i32_16x16x16_iu4", Element::i8, 4, Element::i8},
                                         WaveMatrixCase{"v_wmma_i32_16x16x16_iu4", Element::i8, 4, Element::i8,
                                                        " neg_lo:[1,1,0]", true, true}),
                         wave_name);

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
}  // namespace softgpu::isa
