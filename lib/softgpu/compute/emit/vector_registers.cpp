#include "softgpu/compute/emit/vector_registers.hpp"

#include <cstddef>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

llvm::AllocaInst* VectorRegisters::vector_slot(unsigned index, unsigned chunk) {
  if (index >= vector_register_count) unsupported("no such vector register");
  llvm::AllocaInst*& slot = vector_slots_.at(index).at(chunk);
  if (slot == nullptr) {
    llvm::Type* type = lanes(i32());
    slot = entry_ir_.CreateAlloca(type, nullptr, llvm::Twine("v") + llvm::Twine(index) + "." + llvm::Twine(chunk));
    Value* value = llvm::Constant::getNullValue(type);
    if (index < architecture().work_item_id_registers()) {
      Value* ids = entry_ir_.CreateLoad(
          entry_ir_.getPtrTy(),
          entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), state(), offsetof(WaveState, work_item_ids)));
      value = entry_ir_.CreateAlignedLoad(
          type, entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), ids, 64 * chunk), llvm::Align(4));
      if (!architecture().packs_work_item_ids)
        value = entry_ir_.CreateAnd(entry_ir_.CreateLShr(value, 10 * index), 0x3ff);
    }
    entry_ir_.CreateStore(value, slot);
  }
  return slot;
}

Value* VectorRegisters::vgpr(unsigned index, unsigned chunk) {
  return ir.CreateLoad(lanes(i32()), vector_slot(index, chunk));
}

void VectorRegisters::set_vgpr(unsigned index, unsigned chunk, Value* value, Value* also) {
  Value* mask = exec_mask(chunk);
  if (also != nullptr) mask = ir.CreateAnd(mask, also);
  set_vgpr_unmasked(index, chunk, ir.CreateSelect(mask, value, vgpr(index, chunk)));
}

void VectorRegisters::set_vgpr_unmasked(unsigned index, unsigned chunk, Value* value) {
  check_vector_write(index);
  llvm::AllocaInst* slot = vector_slot(index, chunk);
  if (postpones_)
    postponed_.push_back({slot, value});
  else
    ir.CreateStore(value, slot);
}

Value* VectorRegisters::vector(const Operand& operand, unsigned chunk, unsigned dword) {
  if (!operand.is_vector()) return splat(scalar(operand));
  if (operand.negated || operand.absolute || operand.sign_extend) unsupported("an operand modifier");
  if (dword >= operand.dwords) unsupported("a wider operand than " + operand.text + " was expected");
  return vgpr(operand.index + dword, chunk);
}

Value* VectorRegisters::vector64(const Operand& operand, unsigned chunk) {
  if (!operand.is_vector()) return splat(scalar64(operand));
  return combine(vector(operand, chunk, 0), vector(operand, chunk, 1));
}

void VectorRegisters::set_vector(const Operand& operand, unsigned chunk, Value* value, unsigned dword) {
  if (!operand.is_vector() || dword >= operand.dwords) unsupported("destination " + operand.text);
  set_vgpr(operand.index + dword, chunk, value);
}

void VectorRegisters::set_vector64(const Operand& operand, unsigned chunk, Value* value) {
  set_vector(operand, chunk, low_half(value), 0);
  set_vector(operand, chunk, high_half(value), 1);
}

void VectorRegisters::write_postponed() {
  for (const Write& write : postponed_) ir.CreateStore(write.value, write.slot);
  postponed_.clear();
}

}  // namespace softgpu::compute
