// RDNA3's matrix instructions (v_wmma_*): D = A * B + C, all of 16 x 16.
//
// "Wave Matrix Multiply Accumulate" in the RDNA3 ISA manual; which lane and register hold which element is as AMD's
// matrix instruction calculator prints it. Each product is added to the sum with one rounding to a float, in the order
// of K; sums of 16 bits are rounded once more at the end.
#pragma once

#include <cstdint>

namespace softgpu::compute {

struct WaveState;

enum class WaveMatrixType : std::uint8_t { f32, f16, bf16, i32, iu8, iu4, fp8, bf8 };

[[nodiscard]] constexpr unsigned bits_of(WaveMatrixType type) {
  constexpr unsigned bits[] = {32, 16, 16, 32, 8, 4, 8, 8};
  return bits[static_cast<unsigned>(type)];
}

struct WaveMatrix {
  static constexpr unsigned size = 16;

  const char* mnemonic;
  WaveMatrixType source;  ///< of A and B
  WaveMatrixType sum;     ///< of C and D; of 16 bits, one half of a register each

  [[nodiscard]] constexpr unsigned source_dwords() const { return size * bits_of(source) / 32; }
  [[nodiscard]] static constexpr unsigned sum_dwords(unsigned lanes) { return size * size / lanes; }
};

inline constexpr WaveMatrix wave_matrices[] = {
    {"v_wmma_f32_16x16x16_f16", WaveMatrixType::f16, WaveMatrixType::f32},
    {"v_wmma_f32_16x16x16_bf16", WaveMatrixType::bf16, WaveMatrixType::f32},
    {"v_wmma_f16_16x16x16_f16", WaveMatrixType::f16, WaveMatrixType::f16},
    {"v_wmma_bf16_16x16x16_bf16", WaveMatrixType::bf16, WaveMatrixType::bf16},
    {"v_wmma_i32_16x16x16_iu8", WaveMatrixType::iu8, WaveMatrixType::i32},
    {"v_wmma_i32_16x16x16_iu4", WaveMatrixType::iu4, WaveMatrixType::i32},
};

/// How an instruction reads and writes integers, or sums of 16 bits.
struct WaveMatrixOptions {
  bool a_is_signed = false;
  bool b_is_signed = false;
  bool saturates = false;
  bool upper_half = false;  ///< C is in the upper halves

  [[nodiscard]] constexpr std::uint32_t encode() const {
    return (a_is_signed ? 1U : 0U) | (b_is_signed ? 2U : 0U) | (saturates ? 4U : 0U) | (upper_half ? 8U : 0U);
  }
  [[nodiscard]] static constexpr WaveMatrixOptions decode(std::uint32_t bits) {
    return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
  }
};

/// Adds A * B, from WaveState's matrix_a and matrix_b, to matrix_sums. Sums of 16 bits come back in the lower halves.
/// A row of A, and a column of B, is in lanes 0 to 15; the ISA wants the other lanes to hold the same.
void multiply_wave_matrices(WaveState* state, const WaveMatrix* matrix, std::uint32_t lanes, std::uint32_t options);

}  // namespace softgpu::compute
