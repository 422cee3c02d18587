// The arithmetic of v_mfma_*_f8f6f4, whose elements have 8, 6 or 4 bits, of a type for A and one for B; and of
// v_mfma_scale_*, where each 32 elements of a row of A, or of a column of B, have a scale.
//
// "8-bit and Smaller Matrix Operations and Layouts" and "Block Scaled Matrices" in the CDNA4 ISA manual. The products
// of 32 elements are summed and scaled, and then added to the sum with one rounding, in the order of K.
#pragma once

#include <cstdint>

namespace softgpu::compute {

struct WaveState;

/// By the number that CBSZ and BLGP have for it.
enum class NarrowType : std::uint8_t { fp8, bf8, fp6, bf6, fp4 };
inline constexpr unsigned narrow_types = 5;

[[nodiscard]] constexpr unsigned bits_of(NarrowType type) {
  constexpr unsigned bits[] = {8, 8, 6, 6, 4};
  return bits[static_cast<unsigned>(type)];
}

/// A is size x depth, B depth x size, C and D size x size. A lane holds 32 elements of A and of B.
struct ScaledProduct {
  const char* mnemonic;
  unsigned size, depth;
  bool has_scales;

  [[nodiscard]] constexpr unsigned sum_dwords() const { return size * size / 64; }
};
[[nodiscard]] constexpr unsigned source_dwords(NarrowType type) { return bits_of(type); }

inline constexpr ScaledProduct scaled_products[] = {
    {"v_mfma_f32_16x16x128_f8f6f4", 16, 128, false},
    {"v_mfma_f32_32x32x64_f8f6f4", 32, 64, false},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", 16, 128, true},
    {"v_mfma_scale_f32_32x32x64_f8f6f4", 32, 64, true},
};

/// Adds A * B, from WaveState's matrix_a and matrix_b, to matrix_sums. Byte `a_byte` of a lane of matrix_scales[0] is a
/// scale of A, and byte `b_byte` of one of matrix_scales[1] a scale of B.
void multiply_scaled_matrices(WaveState* state, const ScaledProduct* product, NarrowType a, NarrowType b,
                              std::uint8_t a_byte, std::uint8_t b_byte);

}  // namespace softgpu::compute
