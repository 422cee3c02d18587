// Building blocks of the VALU tables: LLVM's instructions and intrinsics as lane functions.
#pragma once

#include <llvm/IR/Intrinsics.h>

#include "softgpu/compute/instructions/vector_instruction.hpp"

namespace softgpu::compute {

template <llvm::Instruction::BinaryOps operation>
llvm::Value* arithmetic(Emitter& e, llvm::Value* a, llvm::Value* b) {
  // CreateBinOp makes operations that may be moved to where the host rounds otherwise.
  if constexpr (operation == llvm::Instruction::FAdd) return e.ir.CreateFAdd(a, b);
  if constexpr (operation == llvm::Instruction::FSub) return e.ir.CreateFSub(a, b);
  if constexpr (operation == llvm::Instruction::FMul) return e.ir.CreateFMul(a, b);
  return e.ir.CreateBinOp(operation, a, b);
}

template <llvm::Instruction::BinaryOps operation>
llvm::Value* binary(Emitter& e, Sources s) {
  return arithmetic<operation>(e, s[0], s[1]);
}

/// The same with the operands exchanged: the "rev" instructions.
template <llvm::Instruction::BinaryOps operation>
llvm::Value* reversed(Emitter& e, Sources s) {
  return arithmetic<operation>(e, s[1], s[0]);
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
inline llvm::Value* low_bits(Emitter& e, llvm::Value* value, std::uint64_t mask) {
  return e.ir.CreateAnd(value, constant_like(value, mask));
}

/// Two lanes of 16 bits as the halves of a dword.
inline llvm::Value* pack(Emitter& e, llvm::Value* low, llvm::Value* high) {
  llvm::Type* dword = Emitter::lanes(e.i32());
  return e.ir.CreateOr(e.ir.CreateZExt(low, dword), e.ir.CreateShl(e.ir.CreateZExt(high, dword), 16));
}

/// S1 shifted by S0 modulo S1's width: the "rev" shifts.
template <llvm::Instruction::BinaryOps operation>
llvm::Value* shift_by_first(Emitter& e, Sources s) {
  llvm::Type* type = s[1]->getType();
  llvm::Value* count = low_bits(e, s[0], type->getScalarSizeInBits() - 1);
  return e.ir.CreateBinOp(operation, s[1], e.ir.CreateZExt(count, type));
}

/// S0 * S1 + S2 of integers.
inline llvm::Value* multiply_add(Emitter& e, Sources s) { return e.ir.CreateAdd(e.ir.CreateMul(s[0], s[1]), s[2]); }

/// S0 * S1 + S2 of 16-bit integers without loss, then saturated.
template <bool is_signed>
llvm::Value* multiply_add_saturated(Emitter& e, Sources s) {
  llvm::Type* wide = Emitter::lanes(e.i64());
  const auto widen = [&](llvm::Value* v) { return is_signed ? e.ir.CreateSExt(v, wide) : e.ir.CreateZExt(v, wide); };
  llvm::Value* sum = e.ir.CreateAdd(e.ir.CreateMul(widen(s[0]), widen(s[1])), widen(s[2]));
  if (is_signed) {
    sum = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sum, e.splat64(0x7fff));
    sum = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sum, e.splat64(~0x7fffULL));
  } else {
    sum = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, sum, e.splat64(0xffff));
  }
  return e.ir.CreateTrunc(sum, s[0]->getType());
}

struct DotSigns {
  bool first = false, second = false;  ///< whether the parts of these sources have signs
  bool sum = false;                    ///< whether S2 and the result have
};

/// Sum of the products of S0's and S1's parts of `bits`, and S2; exact, then wrapped or saturated to 32 bits.
llvm::Value* dot(Emitter& e, Sources s, unsigned bits, DotSigns signs, bool saturates);

/// The source in the first lane that EXEC enables; in lane 0 if EXEC is 0.
llvm::Value* first_active_lane(Emitter& e, const Operand& source);

}  // namespace softgpu::compute
