// The matrix instructions' arithmetic: D = A * B + C for one or several blocks of matrices that a wavefront holds.
//
// "Matrix Arithmetic Instructions" in the CDNA2 ISA manual; which lane and register hold which element is as AMD's
// matrix instruction calculator prints it. Each product is added to the sum with one rounding, in the order of K.
#pragma once

#include <cstdint>

namespace softgpu::compute {

struct WaveState;

enum class MatrixType : std::uint8_t { f32, f64, f16, bf16, i8 };

/// A is size x depth, B depth x size, C and D size x size; each `blocks` times.
struct MatrixProduct {
  const char* mnemonic;
  unsigned size, depth, blocks;
  MatrixType type;  ///< of A and B; sums are f32, f64 or i32

  /// How many elements of A, and of B, each lane holds: consecutive ones in the direction of `depth`.
  [[nodiscard]] constexpr unsigned elements_per_lane() const { return size * depth * blocks / 64; }
  [[nodiscard]] constexpr unsigned source_dwords() const {
    constexpr unsigned bits[] = {32, 64, 16, 16, 8};
    return elements_per_lane() * bits[static_cast<unsigned>(type)] / 32;
  }
  [[nodiscard]] constexpr unsigned sum_dwords() const {
    return size * size * blocks / 64 * (type == MatrixType::f64 ? 2 : 1);
  }
};

inline constexpr MatrixProduct matrix_products[] = {
    {"v_mfma_f32_32x32x1f32", 32, 1, 2, MatrixType::f32},
    {"v_mfma_f32_16x16x1f32", 16, 1, 4, MatrixType::f32},
    {"v_mfma_f32_4x4x1f32", 4, 1, 16, MatrixType::f32},
    {"v_mfma_f32_32x32x2f32", 32, 2, 1, MatrixType::f32},
    {"v_mfma_f32_16x16x4f32", 16, 4, 1, MatrixType::f32},
    {"v_mfma_f32_32x32x4f16", 32, 4, 2, MatrixType::f16},
    {"v_mfma_f32_16x16x4f16", 16, 4, 4, MatrixType::f16},
    {"v_mfma_f32_4x4x4f16", 4, 4, 16, MatrixType::f16},
    {"v_mfma_f32_32x32x8f16", 32, 8, 1, MatrixType::f16},
    {"v_mfma_f32_16x16x16f16", 16, 16, 1, MatrixType::f16},
    {"v_mfma_f32_32x32x2bf16", 32, 2, 2, MatrixType::bf16},
    {"v_mfma_f32_16x16x2bf16", 16, 2, 4, MatrixType::bf16},
    {"v_mfma_f32_4x4x2bf16", 4, 2, 16, MatrixType::bf16},
    {"v_mfma_f32_32x32x4bf16", 32, 4, 1, MatrixType::bf16},
    {"v_mfma_f32_16x16x8bf16", 16, 8, 1, MatrixType::bf16},
    {"v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, MatrixType::bf16},
    {"v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, MatrixType::bf16},
    {"v_mfma_f32_4x4x4bf16_1k", 4, 4, 16, MatrixType::bf16},
    {"v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, MatrixType::bf16},
    {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, MatrixType::bf16},
    {"v_mfma_i32_32x32x4i8", 32, 4, 2, MatrixType::i8},
    {"v_mfma_i32_16x16x4i8", 16, 4, 4, MatrixType::i8},
    {"v_mfma_i32_4x4x4i8", 4, 4, 16, MatrixType::i8},
    {"v_mfma_i32_32x32x8i8", 32, 8, 1, MatrixType::i8},
    {"v_mfma_i32_16x16x16i8", 16, 16, 1, MatrixType::i8},
    {"v_mfma_i32_32x32x16_i8", 32, 16, 1, MatrixType::i8},  // CDNA3's
    {"v_mfma_i32_16x16x32_i8", 16, 32, 1, MatrixType::i8},
    {"v_mfma_f64_16x16x4f64", 16, 4, 1, MatrixType::f64},
    {"v_mfma_f64_4x4x4f64", 4, 4, 4, MatrixType::f64},
};

/// Whether denormals of 16 bits, and sums of their products, count as zeros.
enum class MatrixDenormals : std::uint8_t { flushed, kept };

/// Adds A * B, from WaveState's matrix_a and matrix_b, to matrix_sums. Groups of 2^cbsz blocks share one block of A,
/// the one that abid numbers; blgp says from which lanes B is taken.
void multiply_matrices(WaveState* state, const MatrixProduct* product, MatrixDenormals denormals, std::uint32_t cbsz,
                       std::uint32_t abid, std::uint32_t blgp);

}  // namespace softgpu::compute
