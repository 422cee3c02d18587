// The matrix instructions: VOP3P-MAI, and v_wmma_* and v_swmmac_* of RDNA. Their operands go through WaveState to a
// function that multiplies.
#include <array>
#include <cstddef>
#include <string>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/run_time/matrix_product.hpp"
#include "softgpu/compute/run_time/scaled_product.hpp"
#include "softgpu/compute/run_time/spread_matrix.hpp"
#include "softgpu/compute/run_time/wave_matrix.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

Value* address(Emitter& e, std::size_t registers, unsigned dword, unsigned chunk) {
  return e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), registers + 256 * dword + 64 * chunk);
}

/// What becomes of the sign bits in each dword of an operand.
struct Signs {
  std::uint32_t cleared = 0;
  std::uint32_t flipped = 0;  ///< once they are cleared
};

/// A register tuple, or a constant for every element.
void put(Emitter& e, const Operand& operand, std::size_t registers, unsigned dwords, unsigned dwords_per_element,
         Signs signs = {}) {
  if (operand.is_vector() && operand.dwords != dwords) e.unsupported("operand " + operand.text);
  for (unsigned dword = 0; dword < dwords; ++dword)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* value = nullptr;
      if (operand.is_vector()) {
        value = e.vector(operand, chunk, dword);
      } else if (dwords_per_element == 2) {
        Value* wide = e.splat(e.scalar64(operand));
        value = dword % 2 == 0 ? e.low_half(wide) : e.high_half(wide);
      } else {
        value = e.vector(operand, chunk);
      }
      if (signs.cleared != 0) value = e.ir.CreateAnd(value, e.splat(~signs.cleared));
      if (signs.flipped != 0) value = e.ir.CreateXor(value, e.splat(signs.flipped));
      e.ir.CreateAlignedStore(value, address(e, registers, dword, chunk), llvm::Align(64));
    }
}

void take_sums(Emitter& e, const Operand& destination) {
  for (unsigned dword = 0; dword < destination.dwords; ++dword)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* from = address(e, offsetof(WaveState, matrix_sums), dword, chunk);
      e.set_vgpr_unmasked(destination.index + dword, chunk,
                          e.ir.CreateAlignedLoad(Emitter::lanes(e.i32()), from, llvm::Align(64)));
    }
}

/// Sums that are too large would be the greatest number ("Clamp" in the rules of the CDNA4 ISA manual).
void refuse_overflow_mode(Emitter& e) {
  if ((e.known_mode.current() & mode_register::fp16_overflow) != 0) e.unsupported("MODE.FP16_OVFL");
}

/// All lanes take part; EXEC is ignored. A sparse product adds to its destination, and its last operand has the
/// indices.
void multiply(Emitter& e, const Instruction& i, const MatrixProduct& product) {
  refuse_overflow_mode(e);
  const bool is_double = product.type == MatrixType::f64;
  const bool is_sparse = product.is_sparse();
  const auto modifier = [&](const char* name) {
    const std::int64_t value = is_double ? 0 : i.number(name);  // in f64 it means something else: refused unread
    return e.ir.getInt32(static_cast<std::uint32_t>(value));
  };
  const Operand& destination = i.operands.at(0);
  if (!destination.is_vector() || destination.dwords != product.sum_dwords()) e.unsupported("destination");
  const unsigned dwords_per_element = is_double ? 2 : 1;
  put(e, i.operands.at(1), offsetof(WaveState, matrix_a), product.a_dwords(), dwords_per_element);
  put(e, i.operands.at(2), offsetof(WaveState, matrix_b), product.b_dwords(), dwords_per_element);
  put(e, is_sparse ? destination : i.operands.at(3), offsetof(WaveState, matrix_sums), product.sum_dwords(),
      dwords_per_element);
  if (is_sparse) put(e, i.operands.at(3), offsetof(WaveState, matrix_indices), 1, 1);
  const auto denormals = e.architecture().flushes_matrix_denormals ? MatrixDenormals::flushed : MatrixDenormals::kept;
  const auto byte_floats = e.architecture().has_ocp_byte_floats ? MatrixByteFloats::ocp : MatrixByteFloats::fnuz;
  e.call(reinterpret_cast<const void*>(&multiply_matrices), e.ir.getVoidTy(),
         {e.state(), e.address_of(&product), e.ir.getInt8(static_cast<std::uint8_t>(denormals)),
          e.ir.getInt8(static_cast<std::uint8_t>(byte_floats)), modifier("cbsz"), modifier("abid"),
          is_sparse ? e.ir.getInt32(0) : modifier("blgp")});
  take_sums(e, destination);
}

/// All lanes take part; EXEC is ignored. OP_SEL and OP_SEL_HI number the byte of a register of scales.
void multiply(Emitter& e, const Instruction& i, const ScaledProduct& product) {
  refuse_overflow_mode(e);
  const auto type_of = [&](const char* modifier) {
    const std::int64_t number = i.number(modifier);
    if (number >= std::int64_t{narrow_types}) e.unsupported(std::string(modifier) + ":" + std::to_string(number));
    return static_cast<NarrowType>(number);
  };
  const NarrowType a = type_of("cbsz");
  const NarrowType b = type_of("blgp");
  const Operand& destination = i.operands.at(0);
  if (!destination.is_vector() || destination.dwords != product.sum_dwords()) e.unsupported("destination");
  put(e, i.operands.at(1), offsetof(WaveState, matrix_a), source_dwords(a), 1);
  put(e, i.operands.at(2), offsetof(WaveState, matrix_b), source_dwords(b), 1);
  put(e, i.operands.at(3), offsetof(WaveState, matrix_sums), product.sum_dwords(), 1);
  std::array<std::uint8_t, 2> bytes = {};
  for (std::size_t n = 0; n < 2 && product.has_scales; ++n) {
    const Operand& scales = i.operands.at(4 + n);
    if (!scales.is_vector()) e.unsupported("operand " + scales.text);
    put(e, scales, offsetof(WaveState, matrix_scales) + n * sizeof WaveState::matrix_scales[0], 1, 1);
    bytes.at(n) = static_cast<std::uint8_t>(i.element("op_sel", n, 0) + 2 * i.element("op_sel_hi", n, 1));
  }
  const auto byte = [&](auto value) { return e.ir.getInt8(static_cast<std::uint8_t>(value)); };
  e.call(reinterpret_cast<const void*>(&multiply_scaled_matrices), e.ir.getVoidTy(),
         {e.state(), e.address_of(&product), byte(a), byte(b), byte(bytes[0]), byte(bytes[1])});
  take_sums(e, destination);
}

/// NEG_LO and NEG_HI of A (n = 0) and B (n = 1) of RDNA's products. They negate elements of 16 bits in the lower and in
/// the upper halves. Of integers, NEG_LO says which are signed (integer_options).
Signs source_signs(Emitter& e, const Instruction& i, std::size_t n, WaveMatrixType type) {
  const bool negates_low = i.element("neg_lo", n, 0) != 0;
  const bool negates_high = i.element("neg_hi", n, 0) != 0;
  const bool is_integer = type == WaveMatrixType::iu8 || type == WaveMatrixType::iu4;
  const bool is_half = bits_of(type) == 16;
  if (negates_high && !is_half) e.unsupported("neg_hi");
  if (negates_low && !is_half && !is_integer) e.unsupported("neg_lo");
  if (!is_half) return {};
  return {.flipped = (negates_low ? 0x8000U : 0U) | (negates_high ? 0x80000000U : 0U)};
}

/// NEG_LO of C negates, behind NEG_HI, which takes the absolute value.
Signs addend_signs(Emitter& e, const Instruction& i, WaveMatrixType type) {
  const bool is_negated = i.element("neg_lo", 2, 0) != 0;
  const bool is_absolute = i.element("neg_hi", 2, 0) != 0;
  if (type == WaveMatrixType::i32) {
    if (is_negated || is_absolute) e.unsupported(is_negated ? "neg_lo" : "neg_hi");
    return {};
  }
  const std::uint32_t bits = bits_of(type) == 16 ? 0x80008000U : 0x80000000U;
  return {.cleared = is_absolute ? bits : 0, .flipped = is_negated ? bits : 0};
}

WaveMatrixOptions integer_options(const Instruction& i) {
  return {.a_is_signed = i.element("neg_lo", 0, 0) != 0,
          .b_is_signed = i.element("neg_lo", 1, 0) != 0,
          .saturates = i.has("clamp")};
}

/// Sums of 16 bits may be registers or 0: no source tells which halves a constant fills.
void check_addend(Emitter& e, const Operand& addend, WaveMatrixType type) {
  const bool is_zero = addend.kind == Operand::Kind::integer && addend.value == 0;
  if (bits_of(type) == 16 && !addend.is_vector() && !is_zero) e.unsupported("operand " + addend.text);
}

/// Sums of 16 bits are in one half of the registers; the other half of the destination stays.
Value* beside_other_half(Emitter& e, Value* sums, Value* old, bool upper) {
  return upper ? e.ir.CreateOr(e.ir.CreateShl(sums, 16), e.ir.CreateAnd(old, e.splat(0xffffU)))
               : e.ir.CreateOr(sums, e.ir.CreateAnd(old, e.splat(0xffff0000U)));
}

/// All lanes take part; EXEC is ignored.
void multiply(Emitter& e, const Instruction& i, const WaveMatrix& matrix) {
  const unsigned lanes = e.chunks() * 16;
  const unsigned sum_dwords = WaveMatrix::sum_dwords(lanes);
  const bool is_half = bits_of(matrix.sum) == 16;
  const Operand& destination = i.operands.at(0);
  const Operand& addend = i.operands.at(3);
  if (!destination.is_vector() || destination.dwords != sum_dwords) e.unsupported("destination");
  check_addend(e, addend, matrix.sum);
  if (is_half) refuse_overflow_mode(e);
  WaveMatrixOptions options;
  if (matrix.sum == WaveMatrixType::i32) options = integer_options(i);
  if (is_half) options.upper_half = i.element("op_sel", 2, 0) != 0;
  put(e, i.operands.at(1), offsetof(WaveState, matrix_a), matrix.source_dwords(), 1,
      source_signs(e, i, 0, matrix.source));
  put(e, i.operands.at(2), offsetof(WaveState, matrix_b), matrix.source_dwords(), 1,
      source_signs(e, i, 1, matrix.source));
  put(e, addend, offsetof(WaveState, matrix_sums), sum_dwords, 1, addend_signs(e, i, matrix.sum));
  e.call(reinterpret_cast<const void*>(&multiply_wave_matrices), e.ir.getVoidTy(),
         {e.state(), e.address_of(&matrix), e.ir.getInt32(lanes), e.ir.getInt32(options.encode())});
  for (unsigned dword = 0; dword < sum_dwords; ++dword)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* from = address(e, offsetof(WaveState, matrix_sums), dword, chunk);
      Value* sums = e.ir.CreateAlignedLoad(Emitter::lanes(e.i32()), from, llvm::Align(64));
      if (is_half) sums = beside_other_half(e, sums, e.vgpr(destination.index + dword, chunk), options.upper_half);
      e.set_vgpr_unmasked(destination.index + dword, chunk, sums);
    }
}

/// All lanes take part; EXEC is ignored. A sparse product adds to its destination, and its last operand has the
/// indices.
void multiply(Emitter& e, const Instruction& i, const SpreadMatrix& matrix) {
  const unsigned lanes = e.chunks() * 16;
  const unsigned sum_dwords = matrix.sum_dwords(lanes);
  const Operand& destination = i.operands.at(0);
  const Operand& addend = matrix.is_sparse ? destination : i.operands.at(3);
  if (!destination.is_vector() || destination.dwords != sum_dwords) e.unsupported("destination");
  check_addend(e, addend, matrix.sum);
  if (bits_of(matrix.sum) == 16) refuse_overflow_mode(e);
  WaveMatrixOptions options;
  if (matrix.sum == WaveMatrixType::i32) options = integer_options(i);
  const Signs of_sums = addend_signs(e, i, matrix.sum);
  if (matrix.is_sparse && (of_sums.cleared | of_sums.flipped) != 0) e.unsupported("neg_lo or neg_hi of indices");
  put(e, i.operands.at(1), offsetof(WaveState, matrix_a), matrix.a_dwords(lanes), 1, source_signs(e, i, 0, matrix.a));
  put(e, i.operands.at(2), offsetof(WaveState, matrix_b), matrix.b_dwords(lanes), 1, source_signs(e, i, 1, matrix.b));
  put(e, addend, offsetof(WaveState, matrix_sums), sum_dwords, 1, of_sums);
  std::uint32_t first_index_bit = 0;
  if (matrix.is_sparse) {
    const Operand& indices = i.operands.at(3);
    if (!indices.is_vector()) e.unsupported("operand " + indices.text);
    put(e, indices, offsetof(WaveState, matrix_indices), 1, 1);
    first_index_bit = static_cast<std::uint32_t>(i.number("index_key")) * matrix.index_bits(lanes);
    if (first_index_bit >= 32) e.unsupported("index_key");
  }
  e.call(reinterpret_cast<const void*>(&multiply_spread_matrices), e.ir.getVoidTy(),
         {e.state(), e.address_of(&matrix), e.ir.getInt32(lanes), e.ir.getInt32(options.encode()),
          e.ir.getInt32(first_index_bit)});
  take_sums(e, destination);
}

}  // namespace

void add_spread_matrices(HandlerTable& table) {
  for (const SpreadMatrix& matrix : spread_matrices)
    table.add(matrix.mnemonic, [&matrix](Emitter& e, const Instruction& i) { multiply(e, i, matrix); });
}

void add_matrix_instructions(HandlerTable& table) {
  for (const MatrixProduct& product : matrix_products)
    table.add(product.mnemonic, [&product](Emitter& e, const Instruction& i) { multiply(e, i, product); });
  for (const ScaledProduct& product : scaled_products)
    table.add(product.mnemonic, [&product](Emitter& e, const Instruction& i) { multiply(e, i, product); });
  for (const WaveMatrix& matrix : wave_matrices)
    table.add(matrix.mnemonic, [&matrix](Emitter& e, const Instruction& i) { multiply(e, i, matrix); });
}

}  // namespace softgpu::compute
