// VOP3P-MAI: the matrix instructions. Their operands go through WaveState to a function that multiplies.
#include <cstddef>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/run_time/matrix_product.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

Value* address(Emitter& e, std::size_t registers, unsigned dword, unsigned chunk) {
  return e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), registers + 256 * dword + 64 * chunk);
}

/// A register tuple, or a constant for every element.
void put(Emitter& e, const Operand& operand, std::size_t registers, unsigned dwords, unsigned dwords_per_element) {
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
      e.ir.CreateAlignedStore(value, address(e, registers, dword, chunk), llvm::Align(64));
    }
}

/// All lanes take part; EXEC is ignored. A sparse product adds to its destination, and its last operand has the
/// indices.
void multiply(Emitter& e, const Instruction& i, const MatrixProduct& product) {
  const bool is_double = product.type == MatrixType::f64;
  const bool is_sparse = product.form == MatrixForm::sparse;
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
  e.call(reinterpret_cast<const void*>(&multiply_matrices), e.ir.getVoidTy(),
         {e.state(), e.address_of(&product), e.ir.getInt8(static_cast<std::uint8_t>(denormals)), modifier("cbsz"),
          modifier("abid"), is_sparse ? e.ir.getInt32(0) : modifier("blgp")});
  for (unsigned dword = 0; dword < product.sum_dwords(); ++dword)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* from = address(e, offsetof(WaveState, matrix_sums), dword, chunk);
      e.set_vgpr_unmasked(destination.index + dword, chunk,
                          e.ir.CreateAlignedLoad(Emitter::lanes(e.i32()), from, llvm::Align(64)));
    }
}

}  // namespace

void add_matrix_instructions(HandlerTable& table) {
  for (const MatrixProduct& product : matrix_products)
    table.add(product.mnemonic, [&product](Emitter& e, const Instruction& i) { multiply(e, i, product); });
}

}  // namespace softgpu::compute
