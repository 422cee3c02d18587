// RDNA4's matrix instructions (v_wmma_*, v_swmmac_*): D = A * B + C, where D is 16 x 16, and A may be sparse.
//
// Other than on RDNA3, each element is in one lane. Which lane and register hold which element is as AMD's matrix
// instruction calculator prints it. Of a sparse A, two of each four elements along K are in registers, and two bits of
// an index tell which of the four an element is ("Sparse Wave Matrix Multiply Accumulate" in the RDNA4 ISA manual).
// Each product is added to the sum with one rounding to a float, in the order of K; sums of 16 bits are rounded once
// more at the end.
#pragma once

#include "softgpu/compute/run_time/wave_matrix.hpp"

namespace softgpu::compute {

struct SpreadMatrix {
  static constexpr unsigned size = 16;  ///< of D

  const char* mnemonic;
  WaveMatrixType a;
  WaveMatrixType b;
  WaveMatrixType sum;  ///< of C and D; of 16 bits, two in a register
  unsigned depth;      ///< K
  bool is_sparse;

  /// The elements of a row of A, or of a column of B, that are in registers.
  [[nodiscard]] constexpr unsigned a_count() const { return is_sparse ? depth / 2 : depth; }
  [[nodiscard]] constexpr unsigned b_count() const { return depth; }

  /// The elements of a row or column that one lane has. Four lanes share a row of 64 lanes, or two if it is so short.
  [[nodiscard]] static constexpr unsigned per_lane(WaveMatrixType type, unsigned count, unsigned lanes) {
    return count / (spans_four(type, count, lanes) ? 4 : 2);
  }
  [[nodiscard]] static constexpr bool spans_four(WaveMatrixType type, unsigned count, unsigned lanes) {
    return lanes == 64 && count * bits_of(type) > 64;
  }
  [[nodiscard]] constexpr unsigned a_dwords(unsigned lanes) const {
    return per_lane(a, a_count(), lanes) * bits_of(a) / 32;
  }
  [[nodiscard]] constexpr unsigned b_dwords(unsigned lanes) const {
    return per_lane(b, b_count(), lanes) * bits_of(b) / 32;
  }
  [[nodiscard]] constexpr unsigned sum_dwords(unsigned lanes) const { return size * size / lanes * bits_of(sum) / 32; }
  /// The bits of a lane's index register that one instruction takes.
  [[nodiscard]] constexpr unsigned index_bits(unsigned lanes) const { return 2 * per_lane(a, a_count(), lanes); }
};

inline constexpr SpreadMatrix spread_matrices[] = {
    {"v_wmma_f32_16x16x16_f16", WaveMatrixType::f16, WaveMatrixType::f16, WaveMatrixType::f32, 16, false},
    {"v_wmma_f32_16x16x16_bf16", WaveMatrixType::bf16, WaveMatrixType::bf16, WaveMatrixType::f32, 16, false},
    {"v_wmma_f16_16x16x16_f16", WaveMatrixType::f16, WaveMatrixType::f16, WaveMatrixType::f16, 16, false},
    {"v_wmma_bf16_16x16x16_bf16", WaveMatrixType::bf16, WaveMatrixType::bf16, WaveMatrixType::bf16, 16, false},
    {"v_wmma_i32_16x16x16_iu8", WaveMatrixType::iu8, WaveMatrixType::iu8, WaveMatrixType::i32, 16, false},
    {"v_wmma_i32_16x16x16_iu4", WaveMatrixType::iu4, WaveMatrixType::iu4, WaveMatrixType::i32, 16, false},
    {"v_wmma_i32_16x16x32_iu4", WaveMatrixType::iu4, WaveMatrixType::iu4, WaveMatrixType::i32, 32, false},
    {"v_wmma_f32_16x16x16_fp8_fp8", WaveMatrixType::fp8, WaveMatrixType::fp8, WaveMatrixType::f32, 16, false},
    {"v_wmma_f32_16x16x16_fp8_bf8", WaveMatrixType::fp8, WaveMatrixType::bf8, WaveMatrixType::f32, 16, false},
    {"v_wmma_f32_16x16x16_bf8_fp8", WaveMatrixType::bf8, WaveMatrixType::fp8, WaveMatrixType::f32, 16, false},
    {"v_wmma_f32_16x16x16_bf8_bf8", WaveMatrixType::bf8, WaveMatrixType::bf8, WaveMatrixType::f32, 16, false},
    {"v_swmmac_f32_16x16x32_f16", WaveMatrixType::f16, WaveMatrixType::f16, WaveMatrixType::f32, 32, true},
    {"v_swmmac_f32_16x16x32_bf16", WaveMatrixType::bf16, WaveMatrixType::bf16, WaveMatrixType::f32, 32, true},
    {"v_swmmac_f16_16x16x32_f16", WaveMatrixType::f16, WaveMatrixType::f16, WaveMatrixType::f16, 32, true},
    {"v_swmmac_bf16_16x16x32_bf16", WaveMatrixType::bf16, WaveMatrixType::bf16, WaveMatrixType::bf16, 32, true},
    {"v_swmmac_i32_16x16x32_iu8", WaveMatrixType::iu8, WaveMatrixType::iu8, WaveMatrixType::i32, 32, true},
    {"v_swmmac_i32_16x16x32_iu4", WaveMatrixType::iu4, WaveMatrixType::iu4, WaveMatrixType::i32, 32, true},
    {"v_swmmac_i32_16x16x64_iu4", WaveMatrixType::iu4, WaveMatrixType::iu4, WaveMatrixType::i32, 64, true},
    {"v_swmmac_f32_16x16x32_fp8_fp8", WaveMatrixType::fp8, WaveMatrixType::fp8, WaveMatrixType::f32, 32, true},
    {"v_swmmac_f32_16x16x32_fp8_bf8", WaveMatrixType::fp8, WaveMatrixType::bf8, WaveMatrixType::f32, 32, true},
    {"v_swmmac_f32_16x16x32_bf8_fp8", WaveMatrixType::bf8, WaveMatrixType::fp8, WaveMatrixType::f32, 32, true},
    {"v_swmmac_f32_16x16x32_bf8_bf8", WaveMatrixType::bf8, WaveMatrixType::bf8, WaveMatrixType::f32, 32, true},
};

/// Adds A * B, from WaveState's matrix_a and matrix_b, to matrix_sums; of a sparse A, the indices are in the bits of
/// matrix_indices from `first_index_bit` on. `options` are a WaveMatrixOptions.
void multiply_spread_matrices(WaveState* state, const SpreadMatrix* matrix, std::uint32_t lanes, std::uint32_t options,
                              std::uint32_t first_index_bit);

}  // namespace softgpu::compute
