// The matrix instructions' arithmetic: D = A * B + C for one or several blocks of matrices that a wavefront holds.
//
// "Matrix Arithmetic Instructions" in the CDNA2 and CDNA3 ISA manuals; which lane and register hold which element is as
// AMD's matrix instruction calculator prints it. Each product is added to the sum with one rounding, in the order of K.
#pragma once

#include <cstdint>

#include "softgpu/compute/run_time/matrix_elements.hpp"

namespace softgpu::compute {

struct WaveState;

/// xf32 is the upper 19 bits of an f32, whose other bits do not count.
enum class MatrixType : std::uint8_t { f32, xf32, f64, f16, bf16, i8, fp8, bf8, ocp_fp8, ocp_bf8 };

[[nodiscard]] constexpr unsigned bits_of(MatrixType type) {
  constexpr unsigned bits[] = {32, 32, 64, 16, 16, 8, 8, 8, 8, 8};
  return bits[static_cast<unsigned>(type)];
}

/// What fp8 and bf8 of a product are: of the kind FNUZ, or the Open Compute Project's (byte_float.hpp).
enum class MatrixByteFloats : std::uint8_t { fnuz, ocp };

/// Of a sparse A, two of each four elements in the direction of K are stored. A register of indices says which two. An
/// A of twice CDNA3's depth is multiplied in two halves, whose elements the lanes of B share in their own way.
enum class MatrixForm : std::uint8_t { dense, sparse, sparse_halves };

/// A is size x depth, B depth x size, C and D size x size; each `blocks` times.
struct MatrixProduct {
  constexpr MatrixProduct(const char* name, unsigned rows, unsigned k, unsigned count, MatrixType a, MatrixType b,
                          MatrixForm form_of_a = MatrixForm::dense)
      : mnemonic(name), size(rows), depth(k), blocks(count), type(a), type_b(b), form(form_of_a) {}
  constexpr MatrixProduct(const char* name, unsigned rows, unsigned k, unsigned count, MatrixType both,
                          MatrixForm form_of_a = MatrixForm::dense)
      : MatrixProduct(name, rows, k, count, both, both, form_of_a) {}

  const char* mnemonic;
  unsigned size, depth, blocks;
  MatrixType type;    ///< of A; sums are f32, f64 or i32
  MatrixType type_b;  ///< as wide as A's
  MatrixForm form;

  /// How many elements of B each lane holds: consecutive ones in the direction of `depth`.
  [[nodiscard]] constexpr unsigned elements_per_lane() const { return size * depth * blocks / 64; }
  /// How many elements of A each lane holds, for as many of B.
  [[nodiscard]] constexpr unsigned stored_elements_per_lane() const {
    return is_sparse() ? elements_per_lane() / 2 : elements_per_lane();
  }
  [[nodiscard]] constexpr bool is_sparse() const { return form != MatrixForm::dense; }
  [[nodiscard]] constexpr unsigned a_dwords() const { return stored_elements_per_lane() * bits_of(type) / 32; }
  [[nodiscard]] constexpr unsigned b_dwords() const { return elements_per_lane() * bits_of(type_b) / 32; }
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
    {"v_mfma_f32_16x16x8_xf32", 16, 8, 1, MatrixType::xf32},  // CDNA3's, and not CDNA4's
    {"v_mfma_f32_32x32x4_xf32", 32, 4, 1, MatrixType::xf32},
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
    {"v_mfma_f32_32x32x16_f16", 32, 16, 1, MatrixType::f16},  // CDNA4's
    {"v_mfma_f32_16x16x32_f16", 16, 32, 1, MatrixType::f16},
    {"v_mfma_f32_32x32x16_bf16", 32, 16, 1, MatrixType::bf16},
    {"v_mfma_f32_16x16x32_bf16", 16, 32, 1, MatrixType::bf16},
    {"v_mfma_i32_32x32x32_i8", 32, 32, 1, MatrixType::i8},
    {"v_mfma_i32_16x16x64_i8", 16, 64, 1, MatrixType::i8},
    {"v_mfma_f32_16x16x32_bf8_bf8", 16, 32, 1, MatrixType::bf8, MatrixType::bf8},
    {"v_mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, MatrixType::bf8, MatrixType::fp8},
    {"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, MatrixType::fp8, MatrixType::bf8},
    {"v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, MatrixType::fp8, MatrixType::fp8},
    {"v_mfma_f32_32x32x16_bf8_bf8", 32, 16, 1, MatrixType::bf8, MatrixType::bf8},
    {"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, MatrixType::bf8, MatrixType::fp8},
    {"v_mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, MatrixType::fp8, MatrixType::bf8},
    {"v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, MatrixType::fp8, MatrixType::fp8},
    {"v_smfmac_f32_16x16x32_f16", 16, 32, 1, MatrixType::f16, MatrixForm::sparse},
    {"v_smfmac_f32_32x32x16_f16", 32, 16, 1, MatrixType::f16, MatrixForm::sparse},
    {"v_smfmac_f32_16x16x32_bf16", 16, 32, 1, MatrixType::bf16, MatrixForm::sparse},
    {"v_smfmac_f32_32x32x16_bf16", 32, 16, 1, MatrixType::bf16, MatrixForm::sparse},
    {"v_smfmac_i32_16x16x64_i8", 16, 64, 1, MatrixType::i8, MatrixForm::sparse},
    {"v_smfmac_i32_32x32x32_i8", 32, 32, 1, MatrixType::i8, MatrixForm::sparse},
    {"v_smfmac_f32_16x16x64_bf8_bf8", 16, 64, 1, MatrixType::bf8, MatrixType::bf8, MatrixForm::sparse},
    {"v_smfmac_f32_16x16x64_bf8_fp8", 16, 64, 1, MatrixType::bf8, MatrixType::fp8, MatrixForm::sparse},
    {"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, 1, MatrixType::fp8, MatrixType::bf8, MatrixForm::sparse},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 16, 64, 1, MatrixType::fp8, MatrixType::fp8, MatrixForm::sparse},
    {"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, 1, MatrixType::bf8, MatrixType::bf8, MatrixForm::sparse},
    {"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, 1, MatrixType::bf8, MatrixType::fp8, MatrixForm::sparse},
    {"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, 1, MatrixType::fp8, MatrixType::bf8, MatrixForm::sparse},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, 1, MatrixType::fp8, MatrixType::fp8, MatrixForm::sparse},
    {"v_smfmac_f32_16x16x64_f16", 16, 64, 1, MatrixType::f16, MatrixForm::sparse_halves},  // CDNA4's
    {"v_smfmac_f32_32x32x32_f16", 32, 32, 1, MatrixType::f16, MatrixForm::sparse_halves},
    {"v_smfmac_f32_16x16x64_bf16", 16, 64, 1, MatrixType::bf16, MatrixForm::sparse_halves},
    {"v_smfmac_f32_32x32x32_bf16", 32, 32, 1, MatrixType::bf16, MatrixForm::sparse_halves},
    {"v_smfmac_i32_16x16x128_i8", 16, 128, 1, MatrixType::i8, MatrixForm::sparse_halves},
    {"v_smfmac_i32_32x32x64_i8", 32, 64, 1, MatrixType::i8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_16x16x128_bf8_bf8", 16, 128, 1, MatrixType::bf8, MatrixType::bf8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_16x16x128_bf8_fp8", 16, 128, 1, MatrixType::bf8, MatrixType::fp8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_16x16x128_fp8_bf8", 16, 128, 1, MatrixType::fp8, MatrixType::bf8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_16x16x128_fp8_fp8", 16, 128, 1, MatrixType::fp8, MatrixType::fp8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_32x32x64_bf8_bf8", 32, 64, 1, MatrixType::bf8, MatrixType::bf8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_32x32x64_bf8_fp8", 32, 64, 1, MatrixType::bf8, MatrixType::fp8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_32x32x64_fp8_bf8", 32, 64, 1, MatrixType::fp8, MatrixType::bf8, MatrixForm::sparse_halves},
    {"v_smfmac_f32_32x32x64_fp8_fp8", 32, 64, 1, MatrixType::fp8, MatrixType::fp8, MatrixForm::sparse_halves},
    {"v_mfma_f64_16x16x4f64", 16, 4, 1, MatrixType::f64},
    {"v_mfma_f64_4x4x4f64", 4, 4, 4, MatrixType::f64},
};

/// Adds A * B, from WaveState's matrix_a and matrix_b, to matrix_sums. Of a dense A, groups of 2^cbsz blocks share one
/// block, the one that abid numbers; blgp says from which lanes B is taken. Of a sparse A, matrix_indices has several
/// sets of indices, of which abid numbers the one that counts; if cbsz is not 0, that is the first.
void multiply_matrices(WaveState* state, const MatrixProduct* product, MatrixDenormals denormals,
                       MatrixByteFloats byte_floats, std::uint32_t cbsz, std::uint32_t abid, std::uint32_t blgp);

}  // namespace softgpu::compute
