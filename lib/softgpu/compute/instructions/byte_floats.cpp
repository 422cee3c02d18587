// Conversions of CDNA3 and CDNA4 from and to floating-point numbers of 8 bits (run_time/byte_float.hpp). Those that
// round by random bits (v_cvt_sr_*) are refused: no source tells how the bits count where the result is denormal.
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/vector_instruction.hpp"
#include "softgpu/compute/run_time/byte_float.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;

using Specials = ByteFloat::Specials;

/// The lowest byte of each lane as a float. Shifted to where a float has its exponent and fraction, the number is off
/// by a power of two, as a normal number and as a denormal one.
template <const ByteFloat& type>
Value* widened(Emitter& e, Value* bits) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);  // nothing is rounded
  Value* code = e.ir.CreateAnd(bits, e.splat(0x7fU));
  Value* number = from_bits(e, e.ir.CreateShl(code, 23 - type.fraction_bits));
  const auto power_of_two = static_cast<std::uint32_t>(127 + 127 - type.bias) << 23;
  number = e.ir.CreateFMul(number, from_bits(e, e.splat(power_of_two)));
  Value* sign = e.ir.CreateShl(e.ir.CreateAnd(bits, e.splat(0x80U)), 24);
  number = from_bits(e, e.ir.CreateOr(bits_of(e, number), sign));
  Value* is_nan = type.specials == Specials::fnuz
                      ? e.ir.CreateICmpEQ(e.ir.CreateAnd(bits, e.splat(0xffU)), e.splat(type.nan()))
                      : e.ir.CreateICmpUGT(code, e.splat(type.greatest()));
  Value* nan = type.specials == Specials::fnuz ? e.splat(0x7fc00000U) : e.ir.CreateOr(e.splat(0x7fc00000U), sign);
  number = e.ir.CreateSelect(is_nan, from_bits(e, nan), number);
  if (type.specials != Specials::like_ieee) return number;
  Value* is_infinite = e.ir.CreateICmpEQ(code, e.splat(type.infinity()));
  return e.ir.CreateSelect(is_infinite, from_bits(e, e.ir.CreateOr(e.splat(0x7f800000U), sign)), number);
}

template <const ByteFloat& type>
Value* widen_one(Emitter& e, Sources s) {
  return widened<type>(e, s[0]);
}
template <const ByteFloat& type>
Value* widen_two(Emitter& e, Sources s) {
  return e.combine(bits_of(e, widened<type>(e, s[0])), bits_of(e, widened<type>(e, e.ir.CreateLShr(s[0], 8))));
}

/// To the nearest number, of two to the even one. What is too large becomes infinite, or NaN where there is no
/// infinity.
template <const ByteFloat& type>
Value* narrowed(Emitter& e, Value* number) {
  constexpr unsigned dropped = 23 - type.fraction_bits;
  constexpr auto first_normal = static_cast<std::uint32_t>(127 + 1 - type.bias);  // its exponent in a float
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);
  Value* bits = bits_of(e, number);
  Value* magnitude = e.ir.CreateAnd(bits, e.splat(0x7fffffffU));
  // A carry out of the fraction goes into the exponent, as it should.
  Value* last = e.ir.CreateAnd(e.ir.CreateLShr(magnitude, dropped), e.splat(1U));
  Value* rounded = e.ir.CreateAdd(e.ir.CreateAdd(magnitude, e.splat((1U << (dropped - 1)) - 1)), last);
  Value* normal = e.ir.CreateSub(e.ir.CreateLShr(rounded, dropped), e.splat((first_normal - 1) << type.fraction_bits));
  // Added to this number, the last digit of a float is that of a denormal number.
  Value* large = from_bits(e, e.splat((first_normal + dropped) << 23));
  Value* sum = e.ir.CreateFAdd(from_bits(e, magnitude), large);
  Value* denormal = e.ir.CreateSub(bits_of(e, sum), bits_of(e, large));
  Value* is_normal = e.ir.CreateICmpUGE(magnitude, e.splat(first_normal << 23));
  Value* result = e.ir.CreateSelect(is_normal, normal, denormal);
  Value* sign = e.ir.CreateLShr(e.ir.CreateAnd(bits, e.splat(0x80000000U)), 24);
  Value* is_too_large = e.ir.CreateICmpUGT(result, e.splat(type.greatest()));
  if (type.specials == Specials::fnuz) {
    Value* is_zero = e.ir.CreateICmpEQ(result, e.splat(0U));
    result = e.ir.CreateSelect(is_zero, result, e.ir.CreateOr(result, sign));
    return e.ir.CreateSelect(is_too_large, e.splat(type.nan()), result);
  }
  Value* beyond = e.splat(type.nan());
  if (type.specials == Specials::like_ieee) {
    Value* is_nan = e.ir.CreateICmpUGT(magnitude, e.splat(0x7f800000U));
    beyond = e.ir.CreateSelect(is_nan, beyond, e.splat(type.infinity()));
  }
  return e.ir.CreateOr(e.ir.CreateSelect(is_too_large, beyond, result), sign);
}

template <const ByteFloat& type>
Value* narrow_two(Emitter& e, Sources s) {
  if ((e.known_mode.current() & 3) != 0) e.unsupported("a rounding mode other than to nearest even");
  if ((e.known_mode.current() & mode_register::fp16_overflow) != 0) e.unsupported("MODE.FP16_OVFL");
  Value* both = e.ir.CreateOr(narrowed<type>(e, s[0]), e.ir.CreateShl(narrowed<type>(e, s[1]), 8));
  return e.ir.CreateTrunc(both, Emitter::lanes(e.ir.getInt16Ty()));
}

template <const ByteFloat& type>
void add_format(HandlerTable& table, const std::string& name) {
  add_vector_operation(table, "v_cvt_f32_" + name, {f32, {u32}}, widen_one<type>);
  add_vector_operation(table, "v_cvt_pk_f32_" + name, {u64, {u32}}, widen_two<type>);
  add_vector_operation(table, "v_cvt_pk_" + name + "_f32", {u16, {f32, f32}}, narrow_two<type>,
                       {.upper = VectorInstruction::UpperHalf::preserved});
}

}  // namespace

void add_byte_floats(HandlerTable& table) {
  add_format<fp8_format>(table, "fp8");
  add_format<bf8_format>(table, "bf8");
}

void add_ocp_byte_floats(HandlerTable& table) {
  add_format<ocp_fp8_format>(table, "fp8");
  add_format<ocp_bf8_format>(table, "bf8");
}

}  // namespace softgpu::compute
