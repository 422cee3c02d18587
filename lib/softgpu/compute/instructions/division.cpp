#include "softgpu/compute/instructions/division.hpp"

#include <array>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>

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
  unsigned ordinary;  ///< exponents that differ from 1's by no more than this need no care
};
Limits limits_of(Value* value) {
  const bool is_double = value->getType()->getScalarSizeInBits() == 64;
  return is_double ? Limits{128, 768, 53, 1075, 1023, 380} : Limits{64, 96, 23, 150, 127, 45};
}

/// The same operand of all chunks.
Chunks all_chunks(Emitter& e, VectorInstruction& vector, unsigned n, Lane lane) {
  Chunks values = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) values.at(chunk) = vector.source(n, lane, chunk);
  return values;
}

/// Whether no enabled lane's bit is set (i1); <16 x i1> a chunk.
Value* is_no_lane(Emitter& e, const Chunks& lanes) {
  Value* any = nullptr;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* enabled = e.ir.CreateAnd(lanes.at(chunk), e.exec_mask(chunk));
    any = chunk == 0 ? enabled : e.ir.CreateOr(any, enabled);
  }
  return e.ir.CreateIsNull(e.ir.CreateBitCast(any, e.ir.getInt16Ty()));
}

/// Whether all enabled lanes divide ordinary numbers: the quotient, and all that leads to it, is an ordinary number,
/// too (i1).
Value* are_ordinary(Emitter& e, const Chunks& denominators, const Chunks& numerators) {
  Chunks special = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    const auto is_special = [&](Value* value) {
      const Limits limits = limits_of(value);
      Value* exponent = biased_exponent(e, value);
      Value* distance = e.ir.CreateSub(exponent, constant_like(exponent, limits.bias - limits.ordinary));
      return e.ir.CreateICmpUGT(distance, constant_like(exponent, std::uint64_t{2} * limits.ordinary));
    };
    special.at(chunk) = e.ir.CreateOr(is_special(denominators.at(chunk)), is_special(numerators.at(chunk)));
  }
  return is_no_lane(e, special);
}

/// Emits `usual` for the case that `is_usual` (i1) holds, and `any` for all cases, and what comes of them: each gives
/// `count` values for a chunk. Little code has `any` alone.
template <class IsUsual, class Usual, class Any>
std::vector<Chunks> by_case(Emitter& e, std::size_t count, IsUsual&& is_usual, Usual&& usual, Any&& any) {
  std::vector<Chunks> results(count);
  const auto emit = [&](auto&& values_of) {
    std::vector<Chunks> values(count);
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      const auto of_chunk = values_of(chunk);
      for (std::size_t n = 0; n < count; ++n) values[n].at(chunk) = of_chunk.at(n);
    }
    return values;
  };
  if (e.is_compact()) return emit(any);
  llvm::BasicBlock* usual_case = e.new_block("usual");
  llvm::BasicBlock* any_case = e.new_block("any");
  llvm::BasicBlock* done = e.new_block("divided");
  e.ir.CreateCondBr(is_usual(), usual_case, any_case);
  e.ir.SetInsertPoint(usual_case);
  const std::vector<Chunks> of_usual = emit(usual);
  usual_case = e.ir.GetInsertBlock();
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(any_case);
  const std::vector<Chunks> of_any = emit(any);
  any_case = e.ir.GetInsertBlock();
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(done);
  for (std::size_t n = 0; n < count; ++n)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      auto* either = e.ir.CreatePHI(of_any[n].at(chunk)->getType(), 2);
      either->addIncoming(of_usual[n].at(chunk), usual_case);
      either->addIncoming(of_any[n].at(chunk), any_case);
      results[n].at(chunk) = either;
    }
  return results;
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
    const Chunks s0 = all_chunks(e, vector, 0, lane);
    const Chunks denominator = all_chunks(e, vector, 1, lane);
    const Chunks numerator = all_chunks(e, vector, 2, lane);
    using Results = std::array<Value*, 2>;
    const auto results = by_case(
        e, 2, [&] { return are_ordinary(e, denominator, numerator); },
        [&](unsigned chunk) {
          return Results{s0.at(chunk), e.splat(e.ir.getFalse())};
        },
        [&](unsigned chunk) {
          const Scaled result = divide_scale(e, s0.at(chunk), denominator.at(chunk), numerator.at(chunk));
          return Results{result.value, result.flag};
        });
    vector.write(lane, results[0]);
    vector.write_mask(i.operands.at(1), results[1]);
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
    std::array<std::array<Value*, 3>, chunk_count> sources = {};
    Chunks is_scaled = {};
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      for (unsigned n = 0; n < 3; ++n) sources.at(chunk).at(n) = vector.source(n, lane, chunk);
      is_scaled.at(chunk) = e.mask_chunk(e.vcc(), chunk);
    }
    using Results = std::array<Value*, 1>;
    const auto results = by_case(
        e, 1, [&] { return is_no_lane(e, is_scaled); },
        [&](unsigned chunk) { return Results{fused_multiply_add(e, sources.at(chunk))}; },
        [&](unsigned chunk) { return Results{divide_fmas(e, sources.at(chunk), is_scaled.at(chunk))}; });
    vector.write(lane, results[0]);
  });
}

/// With the sign of the quotient of S2 by S1.
Value* with_sign(Emitter& e, Sources s, Value* magnitude) {
  Value* sign = e.ir.CreateXor(bits_of(e, s[1]), bits_of(e, s[2]));
  return e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, from_bits(e, sign));
}
Value* infinity(Emitter& e, Sources s) { return with_sign(e, s, llvm::ConstantFP::getInfinity(s[0]->getType())); }

void add_fixup(HandlerTable& table, const std::string& mnemonic, Lane lane) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    VectorInstruction vector(e, i);
    const std::array<Chunks, 3> s = {all_chunks(e, vector, 0, lane), all_chunks(e, vector, 1, lane),
                                     all_chunks(e, vector, 2, lane)};
    const auto sources_of = [&](unsigned chunk) {
      return std::array<Value*, 3>{s[0].at(chunk), s[1].at(chunk), s[2].at(chunk)};
    };
    using Results = std::array<Value*, 1>;
    const auto results = by_case(
        e, 1, [&] { return are_ordinary(e, s[1], s[2]); },
        [&](unsigned chunk) {
          const auto sources = sources_of(chunk);
          return Results{
              e.ir.CreateSelect(is_nan(e, sources[0]), infinity(e, sources), with_sign(e, sources, sources[0]))};
        },
        [&](unsigned chunk) { return Results{division_fixup(e, sources_of(chunk))}; });
    vector.write(lane, results[0]);
  });
}

}  // namespace

Value* division_fixup(Emitter& e, Sources s) {
  const Limits limits = limits_of(s[0]);
  Value* denominator = s[1];
  Value* numerator = s[2];
  Value* zero = with_sign(e, s, number_like(s[0], 0));
  Value* infinity = compute::infinity(e, s);
  Value* nan = e.ir.CreateFNeg(llvm::ConstantFP::getNaN(s[0]->getType()));

  // From the last of the ISA's cases to the first.
  Value* result = with_sign(e, s, s[0]);
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
  add_fixup(table, std::string("v_div_fixup_") + type, lane);
}

}  // namespace softgpu::compute
