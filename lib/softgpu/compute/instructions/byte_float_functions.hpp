// Between floats and floating-point numbers of up to 8 bits (run_time/byte_float.hpp), a lane vector at a time.
#pragma once

#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/run_time/byte_float.hpp"

namespace softgpu::compute {

/// The number in the lowest bits of each lane as a float. Shifted to where a float has its exponent and fraction, the
/// number is off by a power of two, as a normal number and as a denormal one.
template <const ByteFloat& type>
llvm::Value* widened(Emitter& e, llvm::Value* bits) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);  // nothing is rounded
  llvm::Value* code = e.ir.CreateAnd(bits, e.splat(type.sign() - 1));
  llvm::Value* number = from_bits(e, e.ir.CreateShl(code, 23 - type.fraction_bits));
  const auto power_of_two = static_cast<std::uint32_t>(127 + 127 - type.bias) << 23;
  number = e.ir.CreateFMul(number, from_bits(e, e.splat(power_of_two)));
  llvm::Value* sign = e.ir.CreateShl(e.ir.CreateAnd(bits, e.splat(type.sign())), 31 - type.sign_bit());
  number = from_bits(e, e.ir.CreateOr(bits_of(e, number), sign));
  if (type.specials == ByteFloat::Specials::none) return number;
  llvm::Value* is_nan = type.specials == ByteFloat::Specials::fnuz
                            ? e.ir.CreateICmpEQ(e.ir.CreateAnd(bits, e.splat(2 * type.sign() - 1)), e.splat(type.nan()))
                            : e.ir.CreateICmpUGT(code, e.splat(type.greatest()));
  llvm::Value* nan =
      type.specials == ByteFloat::Specials::fnuz ? e.splat(0x7fc00000U) : e.ir.CreateOr(e.splat(0x7fc00000U), sign);
  number = e.ir.CreateSelect(is_nan, from_bits(e, nan), number);
  if (type.specials != ByteFloat::Specials::like_ieee) return number;
  llvm::Value* is_infinite = e.ir.CreateICmpEQ(code, e.splat(type.infinity()));
  return e.ir.CreateSelect(is_infinite, from_bits(e, e.ir.CreateOr(e.splat(0x7f800000U), sign)), number);
}

/// To the nearest number, of two to the even one. What is too large becomes infinite, or NaN where there is no
/// infinity; where there is neither, the greatest number.
template <const ByteFloat& type>
llvm::Value* narrowed(Emitter& e, llvm::Value* number) {
  constexpr unsigned dropped = 23 - type.fraction_bits;
  constexpr auto first_normal = static_cast<std::uint32_t>(127 + 1 - type.bias);  // its exponent in a float
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);
  llvm::Value* bits = bits_of(e, number);
  llvm::Value* magnitude = e.ir.CreateAnd(bits, e.splat(0x7fffffffU));
  // A carry out of the fraction goes into the exponent, as it should.
  llvm::Value* last = e.ir.CreateAnd(e.ir.CreateLShr(magnitude, dropped), e.splat(1U));
  llvm::Value* rounded = e.ir.CreateAdd(e.ir.CreateAdd(magnitude, e.splat((1U << (dropped - 1)) - 1)), last);
  llvm::Value* normal =
      e.ir.CreateSub(e.ir.CreateLShr(rounded, dropped), e.splat((first_normal - 1) << type.fraction_bits));
  // Added to this number, the last digit of a float is that of a denormal number.
  llvm::Value* large = from_bits(e, e.splat((first_normal + dropped) << 23));
  llvm::Value* sum = e.ir.CreateFAdd(from_bits(e, magnitude), large);
  llvm::Value* denormal = e.ir.CreateSub(bits_of(e, sum), bits_of(e, large));
  llvm::Value* is_normal = e.ir.CreateICmpUGE(magnitude, e.splat(first_normal << 23));
  llvm::Value* result = e.ir.CreateSelect(is_normal, normal, denormal);
  llvm::Value* sign = e.ir.CreateLShr(e.ir.CreateAnd(bits, e.splat(0x80000000U)), 31 - type.sign_bit());
  llvm::Value* is_too_large = e.ir.CreateICmpUGT(result, e.splat(type.greatest()));
  if (type.specials == ByteFloat::Specials::fnuz) {
    llvm::Value* is_zero = e.ir.CreateICmpEQ(result, e.splat(0U));
    result = e.ir.CreateSelect(is_zero, result, e.ir.CreateOr(result, sign));
    return e.ir.CreateSelect(is_too_large, e.splat(type.nan()), result);
  }
  llvm::Value* beyond = e.splat(type.specials == ByteFloat::Specials::none ? type.greatest() : type.nan());
  if (type.specials == ByteFloat::Specials::like_ieee) {
    llvm::Value* is_nan = e.ir.CreateICmpUGT(magnitude, e.splat(0x7f800000U));
    beyond = e.ir.CreateSelect(is_nan, beyond, e.splat(type.infinity()));
  }
  return e.ir.CreateOr(e.ir.CreateSelect(is_too_large, beyond, result), sign);
}

}  // namespace softgpu::compute
