// Lane functions that the floating-point types share. Each takes and returns <16 x float> or <16 x double>; rounding to
// half is the caller's.
#pragma once

#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {

/// The type of a double for each lane.
inline llvm::Type* doubles(Emitter& e) { return Emitter::lanes(e.ir.getDoubleTy()); }
/// A number for all lanes, of the type of `like`.
inline llvm::Value* number_like(llvm::Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

/// The bits of a float or double, and back.
llvm::Value* bits_of(Emitter& e, llvm::Value* value);
llvm::Value* from_bits(Emitter& e, llvm::Value* bits);
/// The exponent field, biased, as an integer of the number's width.
llvm::Value* biased_exponent(Emitter& e, llvm::Value* value);
llvm::Value* is_nan(Emitter& e, llvm::Value* value);
llvm::Value* is_zero(Emitter& e, llvm::Value* value);
llvm::Value* is_infinite(Emitter& e, llvm::Value* value);
/// NaNs made quiet, everything else as it is.
llvm::Value* quieted(Emitter& e, llvm::Value* value);
llvm::Value* is_denormal(Emitter& e, llvm::Value* value);

// v_min, v_max and instructions of several of them: if one operand is NaN the other one counts; -0 is below +0.
llvm::Value* minimum(Emitter& e, llvm::Value* a, llvm::Value* b);
llvm::Value* maximum(Emitter& e, llvm::Value* a, llvm::Value* b);
llvm::Value* float_min(Emitter& e, Sources s);
llvm::Value* float_max(Emitter& e, Sources s);
llvm::Value* float_min3(Emitter& e, Sources s);
llvm::Value* float_max3(Emitter& e, Sources s);
llvm::Value* float_median(Emitter& e, Sources s);

/// `either` is llvm.minimum or llvm.maximum, by which NaN is the result wherever it is a source.
template <llvm::Intrinsic::ID either>
llvm::Value* extreme_of_three(Emitter& e, Sources s) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);  // nothing is rounded
  llvm::Value* of_two = e.ir.CreateBinaryIntrinsic(either, s[0], s[1]);
  return quieted(e, e.ir.CreateBinaryIntrinsic(either, of_two, s[2]));
}

llvm::Value* fused_multiply_add(Emitter& e, Sources s);
/// Rounds the product before it adds.
llvm::Value* multiply_then_add(Emitter& e, Sources s);

/// What rounding took from `sum`, which is a + b.
llvm::Value* error_of_sum(Emitter& e, llvm::Value* a, llvm::Value* b, llvm::Value* sum);
/// The neighbour of `sum` on the side of `error`, where `condition` (<16 x i1>) holds and the sum is not exact. Done
/// where `is_even`, it makes the last digit odd: rounding to two or more digits less is then as good as rounding the
/// exact sum.
llvm::Value* step_towards_exact(Emitter& e, llvm::Value* sum, llvm::Value* error, llvm::Value* condition);
/// Whether the last digit is 0.
llvm::Value* is_even(Emitter& e, llvm::Value* value);

/// <16 x i32>: to the nearest bfloat16, of two to the even one; NaN is quiet.
llvm::Value* bfloat_bits(Emitter& e, llvm::Value* number);

llvm::Value* reciprocal(Emitter& e, Sources s);
llvm::Value* reciprocal_root(Emitter& e, Sources s);
llvm::Value* square_root(Emitter& e, Sources s);
llvm::Value* fraction(Emitter& e, Sources s);
/// To an integer of `bits` towards zero; too large numbers to the nearest that fits, NaN to 0.
template <llvm::Intrinsic::ID saturating, unsigned bits>
llvm::Value* to_integer(Emitter& e, Sources s) {
  return e.ir.CreateIntrinsic(saturating, {Emitter::lanes(e.ir.getIntNTy(bits)), s[0]->getType()}, {s[0]});
}
/// x * 2^n, `n` an integer of 32 bits a lane, rounded once.
llvm::Value* scale(Emitter& e, llvm::Value* x, llvm::Value* n);
llvm::Value* frexp_mantissa(Emitter& e, Sources s);
llvm::Value* frexp_exponent(Emitter& e, Sources s);  ///< <16 x i32>

// Of <16 x float>, evaluated in double precision: correctly rounded but for rare cases.
llvm::Value* exponential2(Emitter& e, Sources s);
llvm::Value* logarithm2(Emitter& e, Sources s);
/// Of an angle in revolutions.
llvm::Value* sine(Emitter& e, Sources s);
llvm::Value* cosine(Emitter& e, Sources s);
/// Of single precision. Where the architecture bounds the domain, 0 and 1 beyond 256 revolutions.
llvm::Value* bounded_sine(Emitter& e, Sources s);
llvm::Value* bounded_cosine(Emitter& e, Sources s);

/// A function of one source that takes and gives denormals as zeros whatever MODE says: of single precision, v_exp,
/// v_log, v_rcp, v_rsq and v_sqrt (the ISA manuals' notes at the instructions).
template <LaneFunction function>
llvm::Value* without_denormals(Emitter& e, Sources s) {
  llvm::Value* source = flush_denormals(e, s[0]);
  return flush_denormals(e, function(e, Sources(&source, 1)));
}

}  // namespace softgpu::compute
