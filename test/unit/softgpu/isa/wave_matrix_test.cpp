// Matrices that a wavefront has in its lanes: v_wmma_*.
#include <algorithm>
#include <bit>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "half.hpp"
#include "harness.hpp"
#include "matrix.hpp"
#include "tested_target.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::wave_matrix {
namespace {

/// A is in v0 to v7, and B in the same registers, turned by three; C in v8 to v15. A row, or a column, is in all groups
/// of 16 lanes.
struct WaveMatrixCase {
  const char* mnemonic;
  Element type;  ///< i8: integers
  unsigned bits;
  Element sum;  ///< f32, f16, bf16, or i8: integers
  const char* modifiers = "";
  bool a_is_signed = false, b_is_signed = false, saturates = false, upper = false;
  SignChanges signs = {};
};
void PrintTo(const WaveMatrixCase& matrix, std::ostream* stream) { *stream << matrix.mnemonic << matrix.modifiers; }

double wave_element(const WaveMatrixCase& m, const MachineState& state, unsigned turned, unsigned lane, unsigned k,
                    bool is_signed) {
  const unsigned dword = (k * m.bits / 32 + turned) % (16 * m.bits / 32);
  const u32 flipped = turned == 0 ? m.signs.of_a : m.signs.of_b;
  const u32 bits = (state.vector[dword][lane] ^ flipped) >> (k * m.bits % 32) & ((1U << m.bits) - 1);
  if (m.type != Element::i8) return number(m.type, bits);
  return is_signed && bits >> (m.bits - 1) != 0 ? static_cast<double>(bits) - (1U << m.bits) : bits;
}

u32 wave_sum(const WaveMatrixCase& m, u32 old, double sum) {
  const u32 changed = m.signs.of_c(old, m.sum == Element::f32 ? 32 : 16);
  const u32 c = m.upper ? changed >> 16 : changed & 0xffff;
  const u32 other = m.upper ? old & 0xffff : old & 0xffff0000;
  const auto placed = [&](u32 half) { return other | (m.upper ? half << 16 : half); };
  switch (m.sum) {
  case Element::f16:
    return placed(Half(number(Element::f16, c) + sum).bits);
  case Element::bf16:
    return placed(std::bit_cast<u32>(static_cast<float>(number(Element::bf16, c) + sum)) >> 16);
  case Element::f32:
    return std::bit_cast<u32>(static_cast<float>(std::bit_cast<float>(changed) + sum));
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
       << m.mnemonic << " " << registers('v', 8, sums) << ", " << registers('v', 0, dwords) << ", "
       << registers('v', 24, dwords) << ", " << registers('v', 8, sums) << m.modifiers;
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
        u32& former = state.vector[n][lane];
        former = former_sums(m.sum, m.saturates, random, former);
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
                                         WaveMatrixCase{.mnemonic = "v_wmma_f16_16x16x16_f16",
                                                        .type = Element::f16,
                                                        .bits = 16,
                                                        .sum = Element::f16,
                                                        .modifiers = " neg_lo:[0,1,1] neg_hi:[1,1,0]",
                                                        .signs = {0x80000000, 0x80008000, false, true}},
                                         WaveMatrixCase{.mnemonic = "v_wmma_f32_16x16x16_bf16",
                                                        .type = Element::bf16,
                                                        .bits = 16,
                                                        .sum = Element::f32,
                                                        .modifiers = " neg_lo:[1,0,1] neg_hi:[0,0,1]",
                                                        .signs = {0x8000, 0, true, true}},
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
                         [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

}  // namespace
}  // namespace softgpu::isa::wave_matrix
