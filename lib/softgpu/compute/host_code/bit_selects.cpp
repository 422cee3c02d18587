#include "softgpu/compute/host_code/bit_selects.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace softgpu::compute {
namespace {

using llvm::Value;

const Value* without_casts(const Value* value) {
  while (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
  return value;
}

const llvm::BinaryOperator* operation(const Value* value, llvm::Instruction::BinaryOps which) {
  const auto* found = llvm::dyn_cast<llvm::BinaryOperator>(without_casts(value));
  return found != nullptr && found->getOpcode() == which ? found : nullptr;
}

bool is_and_with_constant(const Value* value) {
  const auto* both = operation(value, llvm::Instruction::And);
  return both != nullptr && (llvm::isa<llvm::Constant>(without_casts(both->getOperand(0))) ||
                             llvm::isa<llvm::Constant>(without_casts(both->getOperand(1))));
}

/// Also in the ways of writing it that LLVM knows to be the same: x & C and y & ~C added, or ((x ^ y) & C) ^ y.
bool is_bit_select(const Value* value) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(without_casts(value)))
    return call->getIntrinsicID() == llvm::Intrinsic::copysign;
  constexpr std::array ways = {llvm::Instruction::Or, llvm::Instruction::Xor, llvm::Instruction::Add};
  return std::ranges::any_of(ways, [&](llvm::Instruction::BinaryOps way) {
    const auto* merge = operation(value, way);
    if (merge == nullptr) return false;
    const bool first = is_and_with_constant(merge->getOperand(0)), second = is_and_with_constant(merge->getOperand(1));
    return way == llvm::Instruction::Xor ? first || second : first && second;
  });
}

/// Of whole numbers there is no fence.
Value* fenced(llvm::IRBuilder<>& ir, Value* value) {
  auto* type = llvm::cast<llvm::VectorType>(value->getType());
  llvm::Type* element = type->getScalarSizeInBits() == 64 ? ir.getDoubleTy() : ir.getFloatTy();
  Value* number = ir.CreateBitCast(value, llvm::VectorType::get(element, type->getElementCount()));
  return ir.CreateBitCast(ir.CreateUnaryIntrinsic(llvm::Intrinsic::arithmetic_fence, number), type);
}

}  // namespace

void keep_bit_selects_apart(llvm::Module& module) {
  std::vector<llvm::SelectInst*> selects;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block)
        if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
          if (select->getCondition()->getType()->isVectorTy() && select->getType()->getScalarSizeInBits() >= 32)
            selects.push_back(select);
  for (llvm::SelectInst* select : selects) {
    llvm::IRBuilder<> ir(select);
    if (is_bit_select(select->getTrueValue())) select->setTrueValue(fenced(ir, select->getTrueValue()));
    if (is_bit_select(select->getFalseValue())) select->setFalseValue(fenced(ir, select->getFalseValue()));
  }
}

}  // namespace softgpu::compute
