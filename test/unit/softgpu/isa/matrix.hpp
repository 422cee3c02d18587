// The matrices of matrix instructions, and numbers for them whose products and sums are exact, so that the order of the
// sums is of no matter.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "harness.hpp"

namespace softgpu::isa {

/// i8 stands for integers of any width where matrices are of a wavefront.
enum class Element { f32, f64, f16, bf16, i8, fp8, bf8, xf32 };

/// Dense matrices of v_mfma_*.
struct Matrix {
  std::string mnemonic;
  unsigned size, depth, blocks;
  Element type;
  std::string modifiers = {};
  unsigned cbsz = 0, abid = 0, blgp = 0;
  std::optional<Element> type_of_b = {};  ///< if it is another one

  [[nodiscard]] Element type_b() const { return type_of_b.value_or(type); }
  [[nodiscard]] unsigned bits() const;
  [[nodiscard]] unsigned per_lane() const { return size * depth * blocks / 64; }
  [[nodiscard]] unsigned source_dwords() const { return per_lane() * bits() / 32; }
  [[nodiscard]] unsigned sums() const { return size * size * blocks / 64; }
  [[nodiscard]] unsigned sum_dwords() const { return sums() * (type == Element::f64 ? 2 : 1); }
};
void PrintTo(const Matrix& matrix, std::ostream* stream);

/// Random bits of a number with a few bits of mantissa around 1, or of an integer. One in 8 is denormal where these
/// count as zeros: sums with others would not be exact.
[[nodiscard]] u64 small_bits(Element type, Random& random);

/// What a register of a wavefront's matrix has before products are added: a sum of 32 bits, or two of 16. Integers that
/// do not saturate may be `any`.
[[nodiscard]] u32 former_sums(Element type, bool saturates, Random& random, u32 any);

/// What NEG_LO and NEG_HI do to the operands of RDNA's products: bits of A and B that change, and C's absolute value,
/// its sign changed after that.
struct SignChanges {
  u32 of_a = 0, of_b = 0;
  bool takes_absolute = false, negates = false;

  /// C's register, of numbers of this many bits.
  [[nodiscard]] u32 of_c(u32 held, unsigned bits) const {
    const u32 signs = bits == 16 ? 0x80008000 : 0x80000000;
    return (takes_absolute ? held & ~signs : held) ^ (negates ? signs : 0);
  }
};

/// What these bits are for a matrix instruction.
[[nodiscard]] double number(Element type, u64 bits);

struct Position {
  unsigned block, i, j;
};

/// The contents of register n of D in a lane.
[[nodiscard]] Position position(const Matrix& m, unsigned n, unsigned lane);

/// A test's name: the mnemonic and its modifiers in letters that GoogleTest takes.
[[nodiscard]] std::string matrix_test_name(std::string mnemonic, const std::string& modifiers);

}  // namespace softgpu::isa
