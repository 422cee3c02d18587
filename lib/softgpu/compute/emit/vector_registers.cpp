#include "softgpu/compute/emit/vector_registers.hpp"

#include <cstddef>

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include "softgpu/compute/run_time/registers_in_memory.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

Value* VectorRegisters::vector_slot(unsigned index, unsigned chunk) {
  if (index >= vector_register_count) unsupported("no such vector register");
  if (const RegisterMemory* in = memory(); in != nullptr) {
    Value* place = place_in(in->vectors, index, RegistersInMemory::vector_bytes);
    return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), place, std::size_t{64} * chunk);
  }
  llvm::AllocaInst*& slot = vector_slots_.at(index).at(chunk);
  if (slot == nullptr) {
    llvm::Type* type = lanes(i32());
    slot = entry_ir_.CreateAlloca(type, nullptr, llvm::Twine("v") + llvm::Twine(index) + "." + llvm::Twine(chunk));
    Value* value = llvm::Constant::getNullValue(type);
    if (index < architecture().work_item_id_registers()) value = work_item_ids(index, type, lanes_per_chunk * chunk);
    entry_ir_.CreateStore(value, slot);
  }
  return slot;
}

/// From a lane on (`type`), in the entry block.
Value* VectorRegisters::work_item_ids(unsigned index, llvm::Type* type, unsigned first_lane) {
  const auto place = [&](Value* from, std::size_t bytes) {
    return entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), from, bytes);
  };
  Value* ids = entry_ir_.CreateLoad(entry_ir_.getPtrTy(), place(state(), offsetof(WaveState, work_item_ids)));
  Value* packed = entry_ir_.CreateAlignedLoad(type, place(ids, std::size_t{4} * first_lane), llvm::Align(4));
  if (architecture().packs_work_item_ids) return packed;
  return entry_ir_.CreateAnd(entry_ir_.CreateLShr(packed, 10 * index), 0x3ff);
}

Value* VectorRegisters::first_work_item_id(unsigned index) { return work_item_ids(index, i32(), 0); }

namespace {

/// Where LLVM selects between a sum and one of its summands, it would rather select the other summand or -0.0, and so
/// for products. Added to -0.0, a NaN becomes quiet: the register of a lane that is not enabled would change. It takes
/// a register that is loaded, which LLVM then makes a floating-point number from the start.
Value* kept_apart(llvm::IRBuilder<>& ir, Value* value) {
  auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value);
  auto* operation = cast == nullptr ? nullptr : llvm::dyn_cast<llvm::BinaryOperator>(cast->getOperand(0));
  if (operation == nullptr || !operation->getType()->isFPOrFPVectorTy()) return value;
  return ir.CreateBitCast(ir.CreateArithmeticFence(operation, operation->getType()), value->getType());
}

}  // namespace

Value* VectorRegisters::vgpr(unsigned index, unsigned chunk) {
  return ir.CreateLoad(lanes(i32()), vector_slot(index, chunk));
}

void VectorRegisters::set_vgpr(unsigned index, unsigned chunk, Value* value, Value* also) {
  Value* mask = exec_mask(chunk);
  if (memory() != nullptr) value = kept_apart(ir, value);
  if (also != nullptr) mask = ir.CreateAnd(mask, also);
  set_vgpr_unmasked(index, chunk, ir.CreateSelect(mask, value, vgpr(index, chunk)));
}

void VectorRegisters::set_vgpr_unmasked(unsigned index, unsigned chunk, Value* value) {
  check_vector_write(index);
  Value* slot = vector_slot(index, chunk);
  if (postpones_)
    postponed_.push_back({slot, value});
  else
    ir.CreateStore(value, slot);
}

Value* VectorRegisters::lane_in_memory(unsigned index, Value* lane) {
  if (memory() == nullptr) return nullptr;
  return ir.CreateInBoundsGEP(i32(), vector_slot(index, 0), ir.CreateZExt(lane, i64()));
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
