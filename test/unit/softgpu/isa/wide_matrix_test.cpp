// CDNA4's matrix instructions: those that take four registers of A and B, and v_mfma_*_f8f6f4 with and without scales.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "matrix.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::wide_matrix {
namespace {

constexpr Options later = {.gfx90a_lacks_them = true};
constexpr unsigned visible_sums = 8;  // in the case that reads them back

std::string with_all_lanes(const std::string& text) {
  return "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, -1\n" + text + "s_mov_b64 exec, s[16:17]";
}
std::string sums_read_back(unsigned first, unsigned count) {
  std::ostringstream text;
  for (unsigned n = 0; n < count; ++n) text << "v_accvgpr_read_b32 v" << n << ", a" << first + n << "\n";
  return text.str();
}

// --- Elements of 16 bits, and integers of 8: v[0:3] has A, v[4:7] B, v8 and on have the sums.

u32 element_bits(const MachineState& state, unsigned first, unsigned lane, unsigned item, unsigned bits) {
  return state.vector[first + item * bits / 32][lane] >> item * bits % 32 & ((1U << bits) - 1);
}

class WideMatrixInstruction : public testing::TestWithParam<Matrix> {};
TEST_P(WideMatrixInstruction, LaterMatchesTheManual) {
  const Matrix m = GetParam();
  const bool is_integer = m.type == Element::i8;
  std::vector<Case> cases;
  for (unsigned first = 0; first < m.sum_dwords(); first += visible_sums) {
    const unsigned count = std::min(m.sum_dwords() - first, visible_sums);
    std::ostringstream text;
    for (unsigned n = 0; n < m.sum_dwords(); ++n) text << "v_accvgpr_write_b32 a" << n << ", v" << 8 + n % 8 << "\n";
    const std::string sums = registers('a', 0, m.sum_dwords());
    text << m.mnemonic << " " << sums << ", v[0:3], v[4:7], " << sums << "\n" << sums_read_back(first, count);
    cases.push_back({.assembly = with_all_lanes(text.str()),
                     .prepare =
                         [=](MachineState& state, Random& random) {
                           for (unsigned lane = 0; lane < lane_count; ++lane) {
                             for (unsigned n = 0; n < 8; ++n) {
                               u32 held = 0;
                               for (unsigned bit = 0; bit < 32; bit += m.bits())
                                 held |= static_cast<u32>(small_bits(m.type, random)) << bit;
                               state.vector[n][lane] = held;
                             }
                             for (unsigned n = 8; n < 16 && !is_integer; ++n)
                               state.vector[n][lane] = static_cast<u32>(small_bits(Element::f32, random));
                           }
                         },
                     .reference =
                         [=](MachineState& state) {
                           const MachineState before = state;
                           const auto source = [&](unsigned from, unsigned i, unsigned k) {
                             const unsigned lane = i + m.size * (k / m.per_lane());
                             return number(m.type, element_bits(before, from, lane, k % m.per_lane(), m.bits()));
                           };
                           for (unsigned n = 0; n < count; ++n)
                             for (unsigned lane = 0; lane < lane_count; ++lane) {
                               const auto [block, i, j] = position(m, first + n, lane);
                               double sum = 0;
                               for (unsigned k = 0; k < m.depth; ++k) sum += source(0, i, k) * source(4, j, k);
                               const u32 old = before.vector[8 + (first + n) % 8][lane];
                               state.vector[n][lane] =
                                   is_integer ? old + static_cast<u32>(static_cast<i64>(sum))
                                              : std::bit_cast<u32>(static_cast<float>(std::bit_cast<float>(old) + sum));
                             }
                           state.set_scalar_value(16, 8, state.exec);
                         }});
  }
  expect_match(cases, later);
}
INSTANTIATE_TEST_SUITE_P(Cdna4, WideMatrixInstruction,
                         testing::Values(Matrix{"v_mfma_f32_16x16x32_f16", 16, 32, 1, Element::f16},
                                         Matrix{"v_mfma_f32_32x32x16_f16", 32, 16, 1, Element::f16},
                                         Matrix{"v_mfma_f32_16x16x32_bf16", 16, 32, 1, Element::bf16},
                                         Matrix{"v_mfma_f32_32x32x16_bf16", 32, 16, 1, Element::bf16},
                                         Matrix{"v_mfma_i32_16x16x64_i8", 16, 64, 1, Element::i8},
                                         Matrix{"v_mfma_i32_32x32x32_i8", 32, 32, 1, Element::i8}),
                         [](const auto& row) { return matrix_test_name(row.param.mnemonic, row.param.modifiers); });

// --- Elements of 8, 6 and 4 bits ("Small Float Data Formats")

struct Format {
  const char* name;
  unsigned exponent_bits, fraction_bits;
  int bias;

  [[nodiscard]] unsigned bits() const { return 1 + exponent_bits + fraction_bits; }
  [[nodiscard]] double value(u32 code) const {
    const u32 fraction = code & ((1U << fraction_bits) - 1);
    const auto exponent = static_cast<int>(code >> fraction_bits & ((1U << exponent_bits) - 1));
    const double part = std::ldexp(fraction, -static_cast<int>(fraction_bits));
    const double magnitude = exponent == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1 + part, exponent - bias);
    return (code >> (bits() - 1) & 1) != 0 ? -magnitude : magnitude;
  }
};
/// In the order of their numbers.
constexpr std::array<Format, 5> formats = {
    {{"fp8", 4, 3, 7}, {"bf8", 5, 2, 15}, {"fp6", 2, 3, 1}, {"bf6", 3, 2, 3}, {"fp4", 2, 1, 1}}};

struct ScaledMatrix {
  unsigned size, depth;
  unsigned a, b;  ///< formats
  bool has_scales = false;
  unsigned a_byte = 0, b_byte = 0;

  /// Two sources of 8 bits are in the same registers if there are scales, which are in v14 and v15.
  [[nodiscard]] unsigned first_of_a() const { return has_scales && b < 2 && a >= 2 ? 8 : 0; }
  [[nodiscard]] unsigned first_of_b() const { return has_scales && b < 2 ? 0 : 8; }
  [[nodiscard]] std::string modifiers() const {
    std::ostringstream text;
    if (has_scales)
      text << " op_sel:[" << a_byte % 2 << "," << b_byte % 2 << ",0] op_sel_hi:[" << a_byte / 2 << "," << b_byte / 2
           << ",0]";
    text << " cbsz:" << a << " blgp:" << b;
    return text.str();
  }
};
std::string name_of(const testing::TestParamInfo<ScaledMatrix>& row) {
  const ScaledMatrix& m = row.param;
  return std::string(m.has_scales ? "scaled_" : "") + std::to_string(m.size) + "_" + formats.at(m.a).name + "_" +
         formats.at(m.b).name;
}
void PrintTo(const ScaledMatrix& m, std::ostream* stream) { *stream << m.size << m.modifiers(); }

u32 narrow_code(const MachineState& state, unsigned first, unsigned lane, unsigned item, unsigned bits) {
  u32 code = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned place = item * bits + bit;
    code |= (state.vector[first + place / 32][lane] >> place % 32 & 1) << bit;
  }
  return code;
}

/// Element k of row or column i, as "Dense Matrix Layouts: 8-bit and Smaller" places it.
double narrow_source(const ScaledMatrix& m, const MachineState& state, unsigned format, unsigned first, unsigned i,
                     unsigned k) {
  const Format& type = formats.at(format);
  const unsigned half = m.depth / 2;
  const unsigned group = type.bits() == 8 ? k % half / 16 : k / 32;
  const unsigned item = type.bits() == 8 ? k / half * 16 + k % 16 : k % 32;
  return type.value(narrow_code(state, first, i + m.size * group, item, type.bits()));
}

/// Of the 32 elements around k.
double scale_of(const ScaledMatrix& m, const MachineState& state, unsigned scales, unsigned byte, unsigned i,
                unsigned k) {
  if (!m.has_scales) return 1;
  return std::ldexp(1.0, static_cast<int>(state.vector[scales][i + m.size * (k / 32)] >> 8 * byte & 0xff) - 127);
}

/// Numbers whose products have few bits.
u32 small_code(const Format& format, Random& random) {
  while (true) {
    const auto code = static_cast<u32>(random() % (1U << format.bits()));
    const double doubled = 2 * format.value(code);
    if (std::fabs(doubled) <= 8 && doubled == std::floor(doubled)) return code;
  }
}

void fill(const Format& format, MachineState& state, unsigned first, Random& random) {
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    for (unsigned n = 0; n < format.bits(); ++n) state.vector[first + n][lane] = 0;
    for (unsigned item = 0; item < 32; ++item) {
      const u32 code = small_code(format, random);
      for (unsigned bit = 0; bit < format.bits(); ++bit) {
        const unsigned place = item * format.bits() + bit;
        state.vector[first + place / 32][lane] |= (code >> bit & 1) << place % 32;
      }
    }
  }
}

class ScaledMatrixInstruction : public testing::TestWithParam<ScaledMatrix> {};
TEST_P(ScaledMatrixInstruction, LaterMatchesTheManual) {
  const ScaledMatrix m = GetParam();
  const Matrix sums{"", m.size, m.depth, 1, Element::f32};
  const std::string mnemonic = std::string(m.has_scales ? "v_mfma_scale_f32_" : "v_mfma_f32_") +
                               (m.size == 16 ? "16x16x128_f8f6f4 " : "32x32x64_f8f6f4 ");
  const std::string d = registers('a', 0, sums.sum_dwords());
  const std::string sources = ", " + registers('v', m.first_of_a(), formats.at(m.a).bits()) + ", " +
                              registers('v', m.first_of_b(), formats.at(m.b).bits()) + ", ";
  const std::string rest = (m.has_scales ? ", v14, v15" : "") + m.modifiers() + "\n";
  std::vector<Case> cases;
  for (unsigned first = 0; first < sums.sum_dwords(); first += visible_sums) {
    const unsigned count = std::min(sums.sum_dwords() - first, visible_sums);
    // Twice the product, and 1.
    const std::string text = mnemonic + d + sources + "1.0" + rest + mnemonic + d + sources + d + rest;
    cases.push_back({.assembly = with_all_lanes(text + sums_read_back(first, count)),
                     .prepare =
                         [=](MachineState& state, Random& random) {
                           fill(formats.at(m.b), state, m.first_of_b(), random);
                           if (m.first_of_a() != m.first_of_b() || formats.at(m.a).bits() != 8)
                             fill(formats.at(m.a), state, m.first_of_a(), random);
                           for (unsigned lane = 0; lane < lane_count && m.has_scales; ++lane)
                             for (const unsigned scales : {14U, 15U}) {
                               u32& held = state.vector[scales][lane];
                               const unsigned shift = 8 * (scales == 14 ? m.a_byte : m.b_byte);
                               held &= ~(0xffU << shift);
                               held |= static_cast<u32>(126 + random() % 3) << shift;
                             }
                         },
                     .reference =
                         [=](MachineState& state) {
                           const MachineState before = state;
                           for (unsigned n = 0; n < count; ++n)
                             for (unsigned lane = 0; lane < lane_count; ++lane) {
                               const auto [block, i, j] = position(sums, first + n, lane);
                               double sum = 0;
                               for (unsigned k = 0; k < m.depth; ++k)
                                 sum += narrow_source(m, before, m.a, m.first_of_a(), i, k) *
                                        narrow_source(m, before, m.b, m.first_of_b(), j, k) *
                                        scale_of(m, before, 14, m.a_byte, i, k) *
                                        scale_of(m, before, 15, m.b_byte, j, k);
                               state.vector[n][lane] = std::bit_cast<u32>(static_cast<float>(1 + 2 * sum));
                             }
                           state.set_scalar_value(16, 8, state.exec);
                         }});
  }
  expect_match(cases, later);
}

INSTANTIATE_TEST_SUITE_P(Plain, ScaledMatrixInstruction,
                         testing::Values(ScaledMatrix{16, 128, 0, 0}, ScaledMatrix{16, 128, 0, 1},
                                         ScaledMatrix{16, 128, 1, 2}, ScaledMatrix{16, 128, 2, 4},
                                         ScaledMatrix{16, 128, 3, 0}, ScaledMatrix{16, 128, 4, 3},
                                         ScaledMatrix{16, 128, 4, 4}, ScaledMatrix{32, 64, 0, 0},
                                         ScaledMatrix{32, 64, 1, 0}, ScaledMatrix{32, 64, 0, 4},
                                         ScaledMatrix{32, 64, 2, 3}, ScaledMatrix{32, 64, 4, 1}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(
    Scaled, ScaledMatrixInstruction,
    testing::Values(ScaledMatrix{16, 128, 4, 4, true, 0, 0}, ScaledMatrix{16, 128, 4, 2, true, 1, 2},
                    ScaledMatrix{16, 128, 0, 4, true, 3, 1}, ScaledMatrix{16, 128, 3, 1, true, 2, 3},
                    ScaledMatrix{16, 128, 0, 0, true, 0, 2}, ScaledMatrix{32, 64, 4, 4, true, 3, 0},
                    ScaledMatrix{32, 64, 2, 0, true, 0, 3}, ScaledMatrix{32, 64, 1, 3, true, 1, 1},
                    ScaledMatrix{32, 64, 1, 1, true, 2, 0}),
    name_of);

}  // namespace
}  // namespace softgpu::isa::wide_matrix
