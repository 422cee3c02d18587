#include "softgpu/compute/emit/ir_code.hpp"

#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "softgpu/compute/run_time/loaded_module.hpp"

namespace softgpu::compute {

using llvm::Value;

void set_attributes(llvm::Function& function) {
  function.setDoesNotThrow();
  function.addFnAttr(llvm::Attribute::NullPointerIsValid);  // a kernel's access to address 0 is to fault
  function.addFnAttr("stackrealign");                       // or else spilled vectors lie across two cache lines each
  for (llvm::Argument& argument : function.args())
    if (argument.getType()->isPointerTy()) argument.addAttr(llvm::Attribute::NoAlias);
}

IrCode::IrCode(llvm::Function& function, const Target& target, const EmitOptions& options)
    : ir(function.getContext()), entry_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)),
      entry_ir_(entry_), function_(function), target_(target), options_(options), state_(function.getArg(0)) {}

void IrCode::unsupported(const std::string& why) const {
  throw UnsupportedInstruction{instruction_->offset, instruction_->text + (why.empty() ? "" : ": " + why)};
}

void IrCode::check_vector_write(unsigned index) const {
  if (expected_writes_ && !expected_writes_->has_vector(index)) unsupported("an unexpected write of a vector register");
}

void IrCode::check_scalar_write(unsigned index) const {
  // Nothing is known of registers above VCC but EXEC.
  const bool matters = index < scalar_register::vcc + 2 || (index & ~1U) == scalar_register::exec;
  if (matters && expected_writes_ && !expected_writes_->has_scalar(index))
    unsupported("an unexpected write of a scalar register");
}

llvm::BasicBlock* IrCode::new_block(const char* name) {
  return llvm::BasicBlock::Create(function_.getContext(), name, &function_);
}

llvm::Type* IrCode::lanes(llvm::Type* element) { return llvm::FixedVectorType::get(element, lanes_per_chunk); }

Value* IrCode::splat(Value* scalar) { return ir.CreateVectorSplat(lanes_per_chunk, scalar); }

Value* IrCode::field(std::size_t offset, llvm::Type* type) {
  auto* load = ir.CreateLoad(type, ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), state_, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir.getContext(), {}));
  return load;
}

Value* IrCode::call(const void* function, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  return ir.CreateCall(function_.getParent()->getOrInsertFunction(own_symbol(function), type), arguments);
}

Value* IrCode::address_of(const void* constant) {
  return function_.getParent()->getOrInsertGlobal(own_symbol(constant), ir.getInt8Ty());
}

Value* IrCode::combine(Value* low, Value* high) {
  llvm::Type* wide = lanes(i64());
  return ir.CreateOr(ir.CreateZExt(low, wide), ir.CreateShl(ir.CreateZExt(high, wide), 32));
}

Value* IrCode::low_half(Value* pair) { return ir.CreateTrunc(pair, lanes(i32())); }
Value* IrCode::high_half(Value* pair) { return ir.CreateTrunc(ir.CreateLShr(pair, 32), lanes(i32())); }

Value* IrCode::mask_chunk(Value* mask, unsigned chunk) {
  if (chunk >= chunks()) return llvm::Constant::getNullValue(lanes(i1()));
  Value* bits = ir.CreateTrunc(chunk == 0 ? mask : ir.CreateLShr(mask, lanes_per_chunk * chunk), ir.getInt16Ty());
  if (is_compact() && vectors() == HostVectors::any) {  // LLVM finds the same, and takes its time for it
    std::vector<llvm::Constant*> places;
    for (unsigned lane = 0; lane < lanes_per_chunk; ++lane) places.push_back(ir.getInt32(1U << lane));
    return ir.CreateIsNotNull(ir.CreateAnd(splat(ir.CreateZExt(bits, i32())), llvm::ConstantVector::get(places)));
  }
  return ir.CreateBitCast(bits, lanes(i1()));
}

Value* IrCode::mask_from_chunks(const Chunks& bits) {
  Value* mask = nullptr;
  for (unsigned chunk = 0; chunk < chunks(); ++chunk) {
    Value* part = ir.CreateZExt(ir.CreateBitCast(bits.at(chunk), ir.getInt16Ty()), i64());
    if (chunk != 0) part = ir.CreateShl(part, lanes_per_chunk * chunk);
    mask = chunk == 0 ? part : ir.CreateOr(mask, part);
  }
  return mask;
}

}  // namespace softgpu::compute
