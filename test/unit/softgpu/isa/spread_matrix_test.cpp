// RDNA4's matrices, which a wavefront has in its lanes once: v_wmma_* and v_swmmac_*.
#include <algorithm>
#include <array>
#include <bit>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "byte_float_rules.hpp"
#include "half.hpp"
#include "harness.hpp"
#include "matrix.hpp"
#include "tested_target.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::spread_matrix {
namespace {

/// A is in v0 to v3, B in v4 to v7 and then v0 to v3, the sums in v8 to v15, the indices in v7: there are 16 registers
/// in all, and what overlaps is only read.
struct SpreadCase {
  const char* mnemonic;
  Element a;  ///< i8: integers
  Element b;
  unsigned bits;
  Element sum;  ///< f32, f16, bf16, or i8: integers
  unsigned depth;
  bool is_sparse = false;
  const char* modifiers = "";
  bool a_is_signed = false, b_is_signed = false, saturates = false;
  unsigned key = 0;
  SignChanges signs = {};
};
void PrintTo(const SpreadCase& matrix, std::ostream* stream) { *stream << matrix.mnemonic << matrix.modifiers; }

struct Place {
  unsigned dword, lane, shift;
};

/// Element k of row i, as the formulas of AMD's matrix instruction calculator have it. `count` are a row's elements in
/// registers: of a sparse A, half of K.
Place place(unsigned bits, unsigned count, unsigned lanes, unsigned i, unsigned k) {
  unsigned lane = 0;
  unsigned number = 0;  // in the lane
  const bool is_wide = lanes == 64;
  if (bits == 16 && count == 16) {
    lane = 16 * (k / 4 % 2) + (is_wide ? 32 * (k / 8) : 0);
    number = is_wide ? k % 4 : 4 * (k / 8) + k % 4;
  } else if (bits == 16) {  // 32
    lane = 16 * (k / 8 % 2) + (is_wide ? 32 * (k / 16) : 0);
    number = is_wide ? k % 8 : 8 * (k / 16) + k % 8;
  } else if (bits == 4 && count == 16) {
    lane = 16 * (k / 8);
    number = k % 8;
  } else {
    const unsigned quarter = count / 4;
    lane = 16 * (k / (2 * quarter)) + (is_wide ? 32 * (k / quarter % 2) : 0);
    number = is_wide ? k % quarter : k % (2 * quarter);
  }
  return {number * bits / 32, lane + i, number * bits % 32};
}

unsigned per_lane(unsigned bits, unsigned count, unsigned lanes) {
  return bits == 4 && count == 16 ? 8 : count * 16 / lanes;
}

Place sum_place(Element sum, unsigned lanes, unsigned i, unsigned j) {
  const unsigned number = lanes == 64 ? i % 4 : i % 8;
  const unsigned lane = 16 * (i / 8) + (lanes == 64 ? 32 * (i / 4 % 2) : 0) + j;
  const bool is_half = sum == Element::f16 || sum == Element::bf16;
  return is_half ? Place{number / 2, lane, number % 2 * 16} : Place{number, lane, 0};
}

double value(Element type, unsigned bits, u32 held, bool is_signed) {
  held &= (1U << bits) - 1;
  if (type == Element::fp8) return fp8_rules().widen(static_cast<std::uint8_t>(held));
  if (type == Element::bf8) return bf8_rules().widen(static_cast<std::uint8_t>(held));
  if (type != Element::i8) return number(type, held);
  return is_signed && held >> (bits - 1) != 0 ? static_cast<double>(held) - (1U << bits) : held;
}

u32 added(const SpreadCase& m, u32 before, double sum) {
  const u32 old = m.signs.of_c(before, m.sum == Element::f32 ? 32 : 16);
  switch (m.sum) {
  case Element::f16:
    return Half(number(Element::f16, old & 0xffff) + sum).bits;
  case Element::bf16:
    return std::bit_cast<u32>(static_cast<float>(number(Element::bf16, old & 0xffff) + sum)) >> 16;
  case Element::f32:
    return std::bit_cast<u32>(static_cast<float>(std::bit_cast<float>(old) + sum));
  default:
    break;
  }
  const double whole = static_cast<std::int32_t>(old) + sum;
  return static_cast<u32>(static_cast<i64>(m.saturates ? std::clamp(whole, -2147483648.0, 2147483647.0) : whole));
}

/// Of few digits, so that sums are exact.
u32 source_bits(const SpreadCase& m, Element type, Random& random) {
  if (m.sum == Element::bf16) return random() % 4 == 0 ? 0x3f80U : 0U;
  if (type == Element::fp8) return std::array{0x38U, 0xb8U, 0x40U, 0U, 0x30U}.at(random() % 5);
  if (type == Element::bf8) return std::array{0x3cU, 0xbcU, 0x40U, 0U, 0x38U}.at(random() % 5);
  return static_cast<u32>(small_bits(type, random)) & ((1U << m.bits) - 1);
}

class Rdna4Matrix : public testing::TestWithParam<SpreadCase> {};
TEST_P(Rdna4Matrix, MatchesTheManual) {
  const SpreadCase m = GetParam();
  const unsigned lanes = tested_target().wavefront_size;
  const unsigned a_count = m.is_sparse ? m.depth / 2 : m.depth;
  const unsigned a_dwords = per_lane(m.bits, a_count, lanes) * m.bits / 32;
  const unsigned b_dwords = per_lane(m.bits, m.depth, lanes) * m.bits / 32;
  const bool is_half = m.sum == Element::f16 || m.sum == Element::bf16;
  const unsigned sums = 256 / lanes / (is_half ? 2 : 1);
  std::ostringstream text;
  text << "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n";
  for (unsigned n = 0; n < b_dwords; ++n) text << "v_mov_b32 v" << 24 + n << ", v" << (n < 4 ? 4 + n : n - 4) << "\n";
  text << "s_mov_b64 exec, s[16:17]\n"
       << m.mnemonic << " " << registers('v', 8, sums) << ", " << registers('v', 0, a_dwords) << ", "
       << registers('v', 24, b_dwords) << ", " << (m.is_sparse ? "v7" : registers('v', 8, sums)) << m.modifiers;
  const auto b_register = [](unsigned n) { return n < 4 ? 4 + n : n - 4; };
  const auto prepare_wave = [=](MachineState& state, Random& random) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto fill = [&](unsigned vgpr, Element type) {
        u32 held = 0;
        for (unsigned bit = 0; bit < 32; bit += m.bits) held |= source_bits(m, type, random) << bit;
        state.vector.at(vgpr)[lane] = held;
      };
      for (unsigned n = 0; n < 4; ++n) fill(n, m.a);
      for (unsigned n = 0; n < std::min(b_dwords, 4U); ++n) fill(4 + n, m.b);
      if (m.is_sparse) {
        u32 indices = 0;  // pairs in ascending order
        for (unsigned bit = 0; bit < 32; bit += 4) {
          constexpr std::array pairs = {0x4U, 0x8U, 0xcU, 0x9U, 0xdU, 0xeU};
          indices |= pairs.at(random() % pairs.size()) << bit;
        }
        // Where v7 has elements of B, these are the indices: any bits are.
        if (b_dwords < 4) state.vector[7][lane] = indices;
      }
      for (unsigned n = 8; n < 8 + sums; ++n) {
        u32& former = state.vector[n][lane];
        former = former_sums(m.sum, m.saturates, random, former);
      }
    }
  };
  const auto reference_wave = [=](MachineState& state) {
    const MachineState before = state;
    for (unsigned i = 0; i < 16; ++i) {
      std::array<double, 64> row = {};
      for (unsigned n = 0; n < a_count; ++n) {
        const Place at = place(m.bits, a_count, lanes, i, n);
        const double element =
            value(m.a, m.bits, (before.vector.at(at.dword)[at.lane] ^ m.signs.of_a) >> at.shift, m.a_is_signed);
        unsigned k = n;
        if (m.is_sparse) {
          const unsigned elements = per_lane(m.bits, a_count, lanes);
          const unsigned in_lane = (at.dword * 32 + at.shift) / m.bits;
          k = n / 2 * 4 + (before.vector[7][at.lane] >> (m.key * 2 * elements + 2 * in_lane) & 3);
        }
        row.at(k) = element;
      }
      for (unsigned j = 0; j < 16; ++j) {
        double sum = 0;
        for (unsigned k = 0; k < m.depth; ++k) {
          const Place at = place(m.bits, m.depth, lanes, j, k);
          sum += row.at(k) * value(m.b, m.bits,
                                   (before.vector.at(b_register(at.dword))[at.lane] ^ m.signs.of_b) >> at.shift,
                                   m.b_is_signed);
        }
        const Place at = sum_place(m.sum, lanes, i, j);
        u32& held = state.vector.at(8 + at.dword)[at.lane];
        const u32 result = added(m, before.vector.at(8 + at.dword)[at.lane] >> at.shift, sum);
        held = is_half ? (held & ~(0xffffU << at.shift)) | (result & 0xffff) << at.shift : result;
      }
    }
    state.set_scalar_value(16, 8, state.exec);
  };
  expect_match({{.assembly = text.str(), .prepare = prepare_wave, .reference = reference_wave}},
               {.gfx90a_lacks_them = true});
}

constexpr auto f16 = Element::f16, bf16 = Element::bf16, f32 = Element::f32, fp8 = Element::fp8, bf8 = Element::bf8;
constexpr auto integer = Element::i8;
INSTANTIATE_TEST_SUITE_P(
    Rdna4, Rdna4Matrix,
    testing::Values(
        SpreadCase{"v_wmma_f32_16x16x16_f16", f16, f16, 16, f32, 16},
        SpreadCase{"v_wmma_f32_16x16x16_bf16", bf16, bf16, 16, f32, 16},
        SpreadCase{"v_wmma_f16_16x16x16_f16", f16, f16, 16, f16, 16},
        SpreadCase{"v_wmma_bf16_16x16x16_bf16", bf16, bf16, 16, bf16, 16},
        SpreadCase{"v_wmma_i32_16x16x16_iu8", integer, integer, 8, integer, 16},
        SpreadCase{"v_wmma_i32_16x16x16_iu8", integer, integer, 8, integer, 16, false, " neg_lo:[1,1,0] clamp", true,
                   true, true},
        SpreadCase{"v_wmma_i32_16x16x16_iu4", integer, integer, 4, integer, 16, false, " neg_lo:[1,0,0]", true},
        SpreadCase{"v_wmma_i32_16x16x32_iu4", integer, integer, 4, integer, 32, false, " neg_lo:[0,1,0]", false, true},
        SpreadCase{"v_wmma_f32_16x16x16_fp8_fp8", fp8, fp8, 8, f32, 16},
        SpreadCase{"v_wmma_f32_16x16x16_fp8_bf8", fp8, bf8, 8, f32, 16},
        SpreadCase{"v_wmma_f32_16x16x16_bf8_fp8", bf8, fp8, 8, f32, 16},
        SpreadCase{"v_wmma_f32_16x16x16_bf8_bf8", bf8, bf8, 8, f32, 16},
        SpreadCase{.mnemonic = "v_wmma_f16_16x16x16_f16",
                   .a = f16,
                   .b = f16,
                   .bits = 16,
                   .sum = f16,
                   .depth = 16,
                   .modifiers = " neg_lo:[0,1,1] neg_hi:[1,1,0]",
                   .signs = {0x80000000, 0x80008000, false, true}},
        SpreadCase{.mnemonic = "v_wmma_f32_16x16x16_bf16",
                   .a = bf16,
                   .b = bf16,
                   .bits = 16,
                   .sum = f32,
                   .depth = 16,
                   .modifiers = " neg_lo:[1,0,1] neg_hi:[0,0,1]",
                   .signs = {0x8000, 0, true, true}},
        SpreadCase{.mnemonic = "v_wmma_f32_16x16x16_fp8_bf8",
                   .a = fp8,
                   .b = bf8,
                   .bits = 8,
                   .sum = f32,
                   .depth = 16,
                   .modifiers = " neg_lo:[0,0,1]",
                   .signs = {0, 0, false, true}},
        SpreadCase{"v_swmmac_f32_16x16x32_f16", f16, f16, 16, f32, 32, true},
        SpreadCase{.mnemonic = "v_swmmac_f32_16x16x32_f16",
                   .a = f16,
                   .b = f16,
                   .bits = 16,
                   .sum = f32,
                   .depth = 32,
                   .is_sparse = true,
                   .modifiers = " neg_lo:[1,0,0] neg_hi:[1,1,0]",
                   .signs = {0x80008000, 0x80000000}},
        SpreadCase{"v_swmmac_f32_16x16x32_f16", f16, f16, 16, f32, 32, true, " index_key:1", false, false, false, 1},
        SpreadCase{"v_swmmac_f32_16x16x32_bf16", bf16, bf16, 16, f32, 32, true},
        SpreadCase{"v_swmmac_f16_16x16x32_f16", f16, f16, 16, f16, 32, true},
        SpreadCase{"v_swmmac_bf16_16x16x32_bf16", bf16, bf16, 16, bf16, 32, true},
        SpreadCase{"v_swmmac_i32_16x16x32_iu8", integer, integer, 8, integer, 32, true},
        SpreadCase{"v_swmmac_i32_16x16x32_iu8", integer, integer, 8, integer, 32, true, " neg_lo:[1,1,0] index_key:1",
                   true, true, false, 1},
        SpreadCase{"v_swmmac_i32_16x16x32_iu4", integer, integer, 4, integer, 32, true},
        SpreadCase{"v_swmmac_i32_16x16x64_iu4", integer, integer, 4, integer, 64, true, " neg_lo:[1,1,0] clamp", true,
                   true, true},
        SpreadCase{"v_swmmac_f32_16x16x32_fp8_bf8", fp8, bf8, 8, f32, 32, true},
        SpreadCase{"v_swmmac_f32_16x16x32_bf8_fp8", bf8, fp8, 8, f32, 32, true},
        SpreadCase{"v_swmmac_f32_16x16x32_fp8_fp8", fp8, fp8, 8, f32, 32, true},
        SpreadCase{"v_swmmac_f32_16x16x32_bf8_bf8", bf8, bf8, 8, f32, 32, true}),
    [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

}  // namespace
}  // namespace softgpu::isa::spread_matrix
