#include "softgpu/compute/instructions/division.hpp"

#include <string>

#include "softgpu/compute/instructions/float_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

struct Limits {
  unsigned scale;           ///< the power of two that v_div_scale scales by
  unsigned near_overflow;   ///< how much larger the numerator's exponent may be
  unsigned tiny_numerator;  ///< biased exponents up to this need scaling
  unsigned underflow;       ///< how much smaller the numerator's exponent may be before the quotient is 0
  unsigned bias;
};
Limits limits_of(Value* value) {
  const bool is_double = value->getType()->getScalarSizeInBits() == 64;
  return is_double ? Limits{128, 768, 53, 1075, 1023} : Limits{64, 96, 23, 150, 127};
}

Value* scaled(Emitter& e, Value* value, int power) {
  return e.ir.CreateFMul(value, number_like(value, power > 0 ? 0x1p64 * (power == 128 ? 0x1p64 : 1)
                                                             : 0x1p-64 * (power == -128 ? 0x1p-64 : 1)));
}

struct Scaled {
  Value* value;
  Value* flag;
};

/// "V_DIV_SCALE" in the ISA: S0 is either the denominator S1 or the numerator S2, scaled where the division needs it.
Scaled divide_scale(Emitter& e, Value* s0, Value* denominator, Value* numerator) {
  const Limits limits = limits_of(s0);
  const auto power = static_cast<int>(limits.scale);
  const auto same = [&](Value* a, Value* b) { return e.ir.CreateICmpEQ(bits_of(e, a), bits_of(e, b)); };
  Value* up = scaled(e, s0, power);
  Value* down = scaled(e, s0, -power);
  Value* is_denominator = same(s0, denominator);
  Value* is_numerator = same(s0, numerator);
  Value* numerator_exponent = biased_exponent(e, numerator);
  Value* difference = e.ir.CreateSub(numerator_exponent, biased_exponent(e, denominator));
  Value* inverse_is_denormal = is_denormal(e, e.ir.CreateFDiv(number_like(s0, 1), denominator));
  Value* quotient_is_denormal = is_denormal(e, e.ir.CreateFDiv(numerator, denominator));
  Value* yes = e.splat(e.ir.getTrue());
  Value* no = e.splat(e.ir.getFalse());

  // From the last of the ISA's cases to the first.
  const auto constant = [&](unsigned value) { return constant_like(numerator_exponent, value); };
  Scaled result = {e.ir.CreateSelect(e.ir.CreateICmpULE(numerator_exponent, constant(limits.tiny_numerator)), up, s0),
                   no};
  const auto when = [&](Value* condition, Value* value, Value* flag) {
    result = {e.ir.CreateSelect(condition, value, result.value), e.ir.CreateSelect(condition, flag, result.flag)};
  };
  when(quotient_is_denormal, e.ir.CreateSelect(is_numerator, up, s0), yes);
  when(inverse_is_denormal, down, no);
  // The ISA's text scales the denominator up here, which would overflow. Scaled down, the division is right.
  when(e.ir.CreateAnd(inverse_is_denormal, quotient_is_denormal), e.ir.CreateSelect(is_denominator, down, s0), yes);
  when(is_denormal(e, denominator), up, no);
  when(e.ir.CreateICmpSGE(difference, constant(limits.near_overflow)), e.ir.CreateSelect(is_denominator, up, s0), yes);
  Value* any_zero = e.ir.CreateOr(is_zero(e, numerator), is_zero(e, denominator));
  when(any_zero, llvm::ConstantFP::getNaN(s0->getType()), no);
  return result;
}

/// v_div_scale_f32 v0, vcc, v1, v2, v3
void add_scale(HandlerTable& table, const std::string& mnemonic, Lane lane) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    VectorInstruction vector(e, i, 2);
    Chunks values = {};
    Chunks flags = {};
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      const auto source = [&](unsigned n) { return vector.source(n, lane, chunk); };
      const Scaled result = divide_scale(e, source(0), source(1), source(2));
      values.at(chunk) = result.value;
      flags.at(chunk) = result.flag;
    }
    vector.write(lane, values);
    vector.write_mask(i.operands.at(1), flags);
  });
}

/// What rounding took from a fused multiply-add, up to rounding of its own.
Value* error_of_fma(Emitter& e, Sources s, Value* sum) {
  Value* product = e.ir.CreateFMul(s[0], s[1]);
  const std::array<Value*, 3> rest = {s[0], s[1], e.ir.CreateFNeg(product)};
  return e.ir.CreateFAdd(error_of_sum(e, product, s[2], sum), fused_multiply_add(e, rest));
}

/// Fused multiply-add; lanes whose bit in VCC is set take v_div_scale's scaling back, up or down as S2's size tells.
/// Scaled down to a denormal, the result is still rounded only once.
Value* divide_fmas(Emitter& e, Sources s, Value* is_scaled) {
  Value* plain = fused_multiply_add(e, s);
  const Limits limits = limits_of(plain);
  const auto power = static_cast<int>(limits.scale);
  Value* exponent = biased_exponent(e, s[2]);
  Value* is_large = e.ir.CreateICmpUGT(exponent, constant_like(exponent, limits.bias));
  // A denormal that loses one digit only needs help where it would be a tie, with an odd last digit.
  const double least_normal = limits.bias == 127 ? 0x1p-126 * 0x1p64 : 0x1p-1022 * 0x1p128;
  Value* magnitude = e.ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, plain);
  Value* loses_digits = e.ir.CreateFCmpOLT(magnitude, number_like(plain, least_normal));
  Value* loses_one = e.ir.CreateFCmpOGE(magnitude, number_like(plain, least_normal / 2));
  Value* needs_step = e.ir.CreateAnd(loses_digits, e.ir.CreateXor(is_even(e, plain), loses_one));
  Value* stepped = step_towards_exact(e, plain, error_of_fma(e, s, plain), needs_step);
  Value* unscaled = e.ir.CreateSelect(is_large, scaled(e, plain, power), scaled(e, stepped, -power));
  return e.ir.CreateSelect(is_scaled, unscaled, plain);
}

void add_fmas(HandlerTable& table, const std::string& mnemonic, Lane lane) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    VectorInstruction vector(e, i);
    Chunks results = {};
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      const std::array<Value*, 3> sources = {vector.source(0, lane, chunk), vector.source(1, lane, chunk),
                                             vector.source(2, lane, chunk)};
      results.at(chunk) = divide_fmas(e, sources, e.mask_chunk(e.vcc(), chunk));
    }
    vector.write(lane, results);
  });
}

}  // namespace

Value* division_fixup(Emitter& e, Sources s) {
  const Limits limits = limits_of(s[0]);
  Value* denominator = s[1];
  Value* numerator = s[2];
  const auto with_sign = [&](Value* magnitude) {
    Value* sign = e.ir.CreateXor(bits_of(e, denominator), bits_of(e, numerator));
    return e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, from_bits(e, sign));
  };
  Value* zero = with_sign(number_like(s[0], 0));
  Value* infinity = with_sign(llvm::ConstantFP::getInfinity(s[0]->getType()));
  Value* nan = e.ir.CreateFNeg(llvm::ConstantFP::getNaN(s[0]->getType()));

  // From the last of the ISA's cases to the first.
  Value* result = with_sign(s[0]);
  // Neither operand is a NaN by then: the steps before met infinities, since the quotient is beyond all numbers.
  const auto when = [&](Value* condition, Value* value) { result = e.ir.CreateSelect(condition, value, result); };
  when(is_nan(e, s[0]), infinity);
  Value* difference = e.ir.CreateSub(biased_exponent(e, numerator), biased_exponent(e, denominator));
  when(e.ir.CreateICmpSLT(difference, constant_like(difference, std::uint64_t{0} - limits.underflow)), zero);
  when(e.ir.CreateOr(is_infinite(e, denominator), is_zero(e, numerator)), zero);
  when(e.ir.CreateOr(is_zero(e, denominator), is_infinite(e, numerator)), infinity);
  when(e.ir.CreateAnd(is_infinite(e, denominator), is_infinite(e, numerator)), nan);
  when(e.ir.CreateAnd(is_zero(e, denominator), is_zero(e, numerator)), nan);
  when(is_nan(e, denominator), quieted(e, denominator));
  when(is_nan(e, numerator), quieted(e, numerator));
  return result;
}

void add_division(HandlerTable& table, const char* type, Lane lane) {
  add_scale(table, std::string("v_div_scale_") + type, lane);
  add_fmas(table, std::string("v_div_fmas_") + type, lane);
  add_vector_operation(table, std::string("v_div_fixup_") + type, {lane, {lane, lane, lane}}, division_fixup);
}

}  // namespace softgpu::compute
