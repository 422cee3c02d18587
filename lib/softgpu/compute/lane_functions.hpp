// Building blocks of the VALU tables: LLVM's instructions and intrinsics as lane functions.
#pragma once

#include <llvm/IR/Intrinsics.h>

#include "vector_instruction.hpp"

namespace softgpu::compute {

template <llvm::Instruction::BinaryOps operation>
llvm::Value* binary(Emitter& e, Sources s) {
  return e.ir.CreateBinOp(operation, s[0], s[1]);
}

/// The same with the operands exchanged: the "rev" instructions.
template <llvm::Instruction::BinaryOps operation>
llvm::Value* reversed(Emitter& e, Sources s) {
  return e.ir.CreateBinOp(operation, s[1], s[0]);
}

template <llvm::Intrinsic::ID id>
llvm::Value* unary_intrinsic(Emitter& e, Sources s) {
  return e.ir.CreateUnaryIntrinsic(id, s[0]);
}
template <llvm::Intrinsic::ID id>
llvm::Value* binary_intrinsic(Emitter& e, Sources s) {
  return e.ir.CreateBinaryIntrinsic(id, s[0], s[1]);
}
template <llvm::Intrinsic::ID id>
llvm::Value* reversed_intrinsic(Emitter& e, Sources s) {
  return e.ir.CreateBinaryIntrinsic(id, s[1], s[0]);
}

/// A constant for all lanes, of the type of `like`.
inline llvm::Value* constant_like(llvm::Value* like, std::uint64_t value) {
  return llvm::ConstantInt::get(like->getType(), value);
}

}  // namespace softgpu::compute
