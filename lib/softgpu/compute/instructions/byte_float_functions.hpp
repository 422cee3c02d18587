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

/// Gives the magnitude `code` of a rounded float, whose bits these are, the float's sign. What is too large becomes
/// infinite, or NaN where there is no infinity; where there is neither, the greatest number.
template <const ByteFloat& type>
llvm::Value* with_sign(Emitter& e, llvm::Value* code, llvm::Value* bits) {
  llvm::Value* sign = e.ir.CreateLShr(e.ir.CreateAnd(bits, e.splat(0x80000000U)), 31 - type.sign_bit());
  llvm::Value* is_too_large = e.ir.CreateICmpUGT(code, e.splat(type.greatest()));
  if (type.specials == ByteFloat::Specials::fnuz) {
    llvm::Value* is_zero = e.ir.CreateICmpEQ(code, e.splat(0U));
    code = e.ir.CreateSelect(is_zero, code, e.ir.CreateOr(code, sign));
    return e.ir.CreateSelect(is_too_large, e.splat(type.nan()), code);
  }
  llvm::Value* beyond = e.splat(type.specials == ByteFloat::Specials::none ? type.greatest() : type.nan());
  if (type.specials == ByteFloat::Specials::like_ieee) {
    llvm::Value* is_nan = e.ir.CreateICmpUGT(e.ir.CreateAnd(bits, e.splat(0x7fffffffU)), e.splat(0x7f800000U));
    beyond = e.ir.CreateSelect(is_nan, beyond, e.splat(type.infinity()));
  }
  return e.ir.CreateOr(e.ir.CreateSelect(is_too_large, beyond, code), sign);
}

/// The exponent that a float has for the least normal number.
template <const ByteFloat& type>
inline constexpr auto first_normal = static_cast<std::uint32_t>(127 + 1 - type.bias);

/// To the nearest number, of two to the even one.
template <const ByteFloat& type>
llvm::Value* narrowed(Emitter& e, llvm::Value* number) {
  constexpr unsigned dropped = 23 - type.fraction_bits;
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);
  llvm::Value* bits = bits_of(e, number);
  llvm::Value* magnitude = e.ir.CreateAnd(bits, e.splat(0x7fffffffU));
  // A carry out of the fraction goes into the exponent, as it should.
  llvm::Value* last = e.ir.CreateAnd(e.ir.CreateLShr(magnitude, dropped), e.splat(1U));
  llvm::Value* rounded = e.ir.CreateAdd(e.ir.CreateAdd(magnitude, e.splat((1U << (dropped - 1)) - 1)), last);
  llvm::Value* normal =
      e.ir.CreateSub(e.ir.CreateLShr(rounded, dropped), e.splat((first_normal<type> - 1) << type.fraction_bits));
  // Added to this number, the last digit of a float is that of a denormal number.
  llvm::Value* large = from_bits(e, e.splat((first_normal<type> + dropped) << 23));
  llvm::Value* sum = e.ir.CreateFAdd(from_bits(e, magnitude), large);
  llvm::Value* denormal = e.ir.CreateSub(bits_of(e, sum), bits_of(e, large));
  llvm::Value* is_normal = e.ir.CreateICmpUGE(magnitude, e.splat(first_normal<type> << 23));
  return with_sign<type>(e, e.ir.CreateSelect(is_normal, normal, denormal), bits);
}

/// Rounded by random bits: the highest of them are added to the fraction's digits that the narrow number lacks, and
/// what is left of these is cut off. Of a denormal number these are the digits behind its last one.
template <const ByteFloat& type>
llvm::Value* narrowed_by(Emitter& e, llvm::Value* number, llvm::Value* random) {
  constexpr unsigned dropped = 23 - type.fraction_bits;
  llvm::Value* bits = bits_of(e, number);
  llvm::Value* magnitude = e.ir.CreateAnd(bits, e.splat(0x7fffffffU));
  random = e.ir.CreateLShr(random, 32 - dropped);
  llvm::Value* normal = e.ir.CreateSub(e.ir.CreateLShr(e.ir.CreateAdd(magnitude, random), dropped),
                                       e.splat((first_normal<type> - 1) << type.fraction_bits));
  llvm::Value* exponent = e.ir.CreateLShr(magnitude, 23);
  llvm::Value* is_normal = e.ir.CreateICmpUGE(exponent, e.splat(first_normal<type>));
  llvm::Value* shift = e.ir.CreateSub(e.splat(first_normal<type>), exponent);
  shift = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, shift, e.splat(31U));  // a normal number's is not used
  llvm::Value* digits = e.ir.CreateOr(e.ir.CreateAnd(magnitude, e.splat(0x7fffffU)), e.splat(0x800000U));
  llvm::Value* denormal = e.ir.CreateLShr(e.ir.CreateAdd(e.ir.CreateLShr(digits, shift), random), dropped);
  return with_sign<type>(e, e.ir.CreateSelect(is_normal, normal, denormal), bits);
}

}  // namespace softgpu::compute
