// VOP3P: two 16-bit or two 32-bit operations at once, mixed precision, and dot products.
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/half_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using Op = llvm::Instruction;
using enum Lane;

enum class Half : std::uint8_t { low, high };

/// Which half of source `n` the low or the high result is made from.
bool takes_upper(const Instruction& i, unsigned n, Half half) {
  return half == Half::low ? i.element("op_sel", n, 0) != 0 : i.element("op_sel_hi", n, 1) != 0;
}

bool is_negated(const Instruction& i, unsigned n, Half half) {
  return i.element(half == Half::low ? "neg_lo" : "neg_hi", n, 0) != 0;
}

const Operand& source_operand(Emitter& e, const Instruction& i, unsigned n) {
  if (n + 1 >= i.operands.size()) e.unsupported("too few operands");
  return i.operands[n + 1];
}

/// Whether MODE has denormal halves of inputs (1) or outputs (2) become zeros.
bool flushes_halves(Emitter& e, unsigned side) { return (e.known_mode.current() >> 6 & side) == 0; }

/// One half of a packed 16-bit source: <16 x i16>, or <16 x float> for f16. Constants are dwords, whose bits 16 to 31
/// are the upper half. There integers have their sign, literals their own bits, and numbers of f16 instructions 0;
/// numbers of integer instructions are single precision (LLVM, getInlineEncodingV216 in AMDGPUBaseInfo.cpp).
Value* half_source(Emitter& e, const Instruction& i, unsigned n, Half half, Lane lane, unsigned chunk) {
  const Operand& operand = source_operand(e, i, n);
  const bool upper = takes_upper(i, n, half);
  if (lane == f16 && operand.kind == Operand::Kind::real) {
    const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
    e.ir.setIsFPConstrained(false);  // a constant is to become one
    Value* number = llvm::ConstantFP::get(Emitter::lanes(e.ir.getHalfTy()), upper ? 0.0 : operand.real);
    number = e.ir.CreateFPExt(number, Emitter::lanes(e.ir.getFloatTy()));
    return is_negated(i, n, half) ? e.ir.CreateFNeg(number) : number;
  }
  Value* dword = e.vector(operand, chunk);
  Value* bits = e.ir.CreateTrunc(upper ? e.ir.CreateLShr(dword, 16) : dword, Emitter::lanes(e.ir.getInt16Ty()));
  if (lane == u16) {
    if (is_negated(i, n, half)) e.unsupported("a negated integer");
    return bits;
  }
  if (flushes_halves(e, 1)) bits = flush_denormals(e, bits);
  Value* number = half_to_float(e, bits);
  return is_negated(i, n, half) ? e.ir.CreateFNeg(number) : number;
}

Value* half_bits(Emitter& e, Value* value, Lane lane) {
  if (lane == f16) {
    value = round_to_half(e, value);
    if (flushes_halves(e, 2)) value = flush_denormals(e, value);
    value = e.ir.CreateBitCast(value, Emitter::lanes(e.ir.getInt16Ty()));
  }
  return e.ir.CreateZExt(value, Emitter::lanes(e.i32()));
}

/// v_pk_add_u16 v0, v1, v2 op_sel_hi:[1,0] clamp
void add_packed_halves(HandlerTable& table, const char* mnemonic, Lane lane, unsigned source_count,
                       LaneFunction function, LaneFunction clamped = nullptr) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    if (i.operands.size() != source_count + 1) e.unsupported("operands");
    const bool clamps = i.has("clamp");
    if (clamps && lane == u16 && clamped == nullptr) e.unsupported("clamp");
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      const auto result = [&](Half half) {
        std::vector<Value*> sources;
        for (unsigned n = 0; n < source_count; ++n) sources.push_back(half_source(e, i, n, half, lane, chunk));
        Value* value = (clamps && lane == u16 ? clamped : function)(e, sources);
        if (clamps && lane == f16) value = clamp_to_one(e, value);
        return half_bits(e, value, lane);
      };
      Value* low = result(Half::low);
      e.set_vector(i.operands[0], chunk, e.ir.CreateOr(low, e.ir.CreateShl(result(Half::high), 16)));
    }
  });
}

/// v_pk_fmac_f16 v0, v1, v2: VOP2, so that each half comes from the same half of every operand. From RDNA3 on, both
/// halves of an inline constant are its lower one (LLVM, issue 94116, as seen on Navi31).
void packed_multiply_accumulate(Emitter& e, const Instruction& i) {
  if (i.operands.size() != 3 || i.encoding == Encoding::sdwa || i.encoding == Encoding::dpp) e.unsupported("this form");
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    const auto result = [&](Half half) {
      const Operand& first = source_operand(e, i, 0);
      const bool is_inline_constant = !first.is_vector() && !first.is_scalar() && !first.is_literal;
      const Half of_first = is_inline_constant && e.architecture().repeats_packed_inline_constants ? Half::low : half;
      std::array<Value*, 3> sources = {half_source(e, i, 0, of_first, f16, chunk),
                                       half_source(e, i, 1, half, f16, chunk)};
      Value* old = e.vector(i.operands[0], chunk);
      if (half == Half::high) old = e.ir.CreateLShr(old, 16);
      old = e.ir.CreateTrunc(old, Emitter::lanes(e.ir.getInt16Ty()));
      sources[2] = half_to_float(e, flushes_halves(e, 1) ? flush_denormals(e, old) : old);
      return half_bits(e, fused_multiply_add_half(e, sources), f16);
    };
    Value* low = result(Half::low);
    e.set_vector(i.operands[0], chunk, e.ir.CreateOr(low, e.ir.CreateShl(result(Half::high), 16)));
  }
}

/// One dword of a source pair.
Value* dword_source(Emitter& e, const Instruction& i, unsigned n, bool upper, unsigned chunk) {
  const Operand& operand = source_operand(e, i, n);
  if (operand.is_vector()) return e.vector(operand, chunk, upper ? 1 : 0);
  if (operand.is_scalar()) return e.splat(e.sgpr(operand.index + (upper ? 1 : 0)));
  // The manuals do not tell its meaning.
  const bool is_zero = operand.kind == Operand::Kind::integer && operand.value == 0;
  if (upper && !is_zero) e.unsupported("the upper dword of a constant");
  return e.vector(operand, chunk);
}

/// v_pk_fma_f32 v[0:1], v[2:3], s[0:1], v[4:5] op_sel_hi:[1,0,1] neg_lo:[0,0,1]
void add_packed_floats(HandlerTable& table, const char* mnemonic, unsigned source_count, LaneFunction function) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    if (i.operands.size() != source_count + 1) e.unsupported("operands");
    const bool flushes_inputs = (e.known_mode.current() >> 4 & 1) == 0;
    const bool flushes_outputs = (e.known_mode.current() >> 4 & 2) == 0;
    const bool clamps = i.has("clamp");
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      const auto result = [&](Half half) {
        std::vector<Value*> sources;
        for (unsigned n = 0; n < source_count; ++n) {
          Value* bits = dword_source(e, i, n, takes_upper(i, n, half), chunk);
          Value* number = e.ir.CreateBitCast(bits, Emitter::lanes(e.ir.getFloatTy()));
          if (flushes_inputs) number = flush_denormals(e, number);
          sources.push_back(is_negated(i, n, half) ? e.ir.CreateFNeg(number) : number);
        }
        Value* value = function(e, sources);
        if (flushes_outputs) value = flush_denormals(e, value);
        if (clamps) value = clamp_to_one(e, value);
        return e.ir.CreateBitCast(value, Emitter::lanes(e.i32()));
      };
      Value* low = result(Half::low);
      Value* high = result(Half::high);
      e.set_vector(i.operands[0], chunk, low, 0);
      e.set_vector(i.operands[0], chunk, high, 1);
    }
  });
}

/// The low result is half of S0, the high one half of S1.
void packed_move(Emitter& e, const Instruction& i) {
  static_cast<void>(i.has("op_sel_hi"));  // has no meaning here
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* low = dword_source(e, i, 0, i.element("op_sel", 0, 0) != 0, chunk);
    Value* high = dword_source(e, i, 1, i.element("op_sel", 1, 0) != 0, chunk);
    e.set_vector(i.operands[0], chunk, low, 0);
    e.set_vector(i.operands[0], chunk, high, 1);
  }
}

/// v_fma_mix: each source is a float or, by op_sel_hi, a half that op_sel picks.
Value* mixed_fma(Emitter& e, VectorInstruction& vector, const Instruction& i, unsigned chunk) {
  std::array<Value*, 3> sources;
  for (unsigned n = 0; n < 3; ++n) {
    const bool is_half = i.element("op_sel_hi", n, 0) != 0;
    if (!is_half && i.element("op_sel", n, 0) != 0) e.unsupported("op_sel of a 32-bit source");
    sources.at(n) = vector.source(n, is_half ? f16 : f32, chunk);
  }
  return fused_multiply_add(e, sources);
}

void mixed_fma_float(Emitter& e, const Instruction& i) {
  VectorInstruction vector(e, i);
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) results.at(chunk) = mixed_fma(e, vector, i, chunk);
  vector.write(f32, results);
}

/// v_fma_mixlo_f16 and v_fma_mixhi_f16 write one half and keep the other.
template <Half half>
void mixed_fma_half(Emitter& e, const Instruction& i) {
  VectorInstruction vector(e, i);
  const bool clamps = i.has("clamp");
  const Operand& destination = i.operands.at(0);
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* value = mixed_fma(e, vector, i, chunk);
    Value* bits = half_bits(e, clamps ? clamp_to_one(e, value) : value, f16);
    if (half == Half::high) bits = e.ir.CreateShl(bits, 16);
    Value* kept = e.ir.CreateAnd(e.vector(destination, chunk), e.splat(half == Half::low ? 0xffff0000U : 0xffffU));
    results.at(chunk) = e.ir.CreateOr(bits, kept);
  }
  vector.write(u32, results);
}

template <unsigned bits, bool is_signed, bool saturates>
Value* dot_integers(Emitter& e, Sources s) {
  return dot(e, s, bits, {.first = is_signed, .second = is_signed, .sum = is_signed}, saturates);
}

template <unsigned bits, bool is_signed>
void add_dot(HandlerTable& table, const char* mnemonic, const char* accumulating = nullptr) {
  OperationOptions options{.clamped = dot_integers<bits, is_signed, true>};
  add_vector_operation(table, mnemonic, {u32, {u32, u32, u32}}, dot_integers<bits, is_signed, false>, options);
  if (accumulating == nullptr) return;
  options.accumulates = true;
  add_vector_operation(table, accumulating, {u32, {u32, u32, u32}}, dot_integers<bits, is_signed, false>, options);
}

void add_halves(HandlerTable& t) {
  add_packed_halves(t, "v_pk_add_u16", u16, 2, binary<Op::Add>, binary_intrinsic<Intrinsic::uadd_sat>);
  add_packed_halves(t, "v_pk_add_i16", u16, 2, binary<Op::Add>, binary_intrinsic<Intrinsic::sadd_sat>);
  add_packed_halves(t, "v_pk_sub_u16", u16, 2, binary<Op::Sub>, binary_intrinsic<Intrinsic::usub_sat>);
  add_packed_halves(t, "v_pk_sub_i16", u16, 2, binary<Op::Sub>, binary_intrinsic<Intrinsic::ssub_sat>);
  add_packed_halves(t, "v_pk_mul_lo_u16", u16, 2, binary<Op::Mul>);
  add_packed_halves(t, "v_pk_mad_u16", u16, 3, multiply_add, multiply_add_saturated<false>);
  add_packed_halves(t, "v_pk_mad_i16", u16, 3, multiply_add, multiply_add_saturated<true>);
  add_packed_halves(t, "v_pk_lshlrev_b16", u16, 2, shift_by_first<Op::Shl>);
  add_packed_halves(t, "v_pk_lshrrev_b16", u16, 2, shift_by_first<Op::LShr>);
  add_packed_halves(t, "v_pk_ashrrev_i16", u16, 2, shift_by_first<Op::AShr>);
  add_packed_halves(t, "v_pk_min_u16", u16, 2, binary_intrinsic<Intrinsic::umin>);
  add_packed_halves(t, "v_pk_max_u16", u16, 2, binary_intrinsic<Intrinsic::umax>);
  add_packed_halves(t, "v_pk_min_i16", u16, 2, binary_intrinsic<Intrinsic::smin>);
  add_packed_halves(t, "v_pk_max_i16", u16, 2, binary_intrinsic<Intrinsic::smax>);
  add_packed_halves(t, "v_pk_add_f16", f16, 2, binary<Op::FAdd>);
  add_packed_halves(t, "v_pk_mul_f16", f16, 2, binary<Op::FMul>);
  add_packed_halves(t, "v_pk_fma_f16", f16, 3, fused_multiply_add_half);
  add_packed_halves(t, "v_pk_min_f16", f16, 2, float_min);
  add_packed_halves(t, "v_pk_max_f16", f16, 2, float_max);
  add_packed_halves(t, "v_pk_minimum3_f16", f16, 3, extreme_of_three<Intrinsic::minimum>);
  add_packed_halves(t, "v_pk_maximum3_f16", f16, 3, extreme_of_three<Intrinsic::maximum>);
}

}  // namespace

void add_packed_half_operation(HandlerTable& table, const char* mnemonic, LaneFunction function) {
  add_packed_halves(table, mnemonic, f16, 2, function);
}

// The products are exact in double precision, and their sum all but exact: rounded once.
Value* dot_halves(Emitter& e, Sources s) {
  const auto widen = [&](Value* v) { return e.ir.CreateFPExt(v, Emitter::lanes(e.ir.getDoubleTy())); };
  const auto half = [&](Value* dword, unsigned shift) {
    Value* bits = e.ir.CreateTrunc(e.ir.CreateLShr(dword, shift), Emitter::lanes(e.ir.getInt16Ty()));
    return widen(half_to_float(e, bits));
  };
  const auto product = [&](unsigned shift) { return e.ir.CreateFMul(half(s[0], shift), half(s[1], shift)); };
  Value* sum = e.ir.CreateFAdd(e.ir.CreateFAdd(product(0), product(16)), widen(s[2]));
  return e.ir.CreateFPTrunc(sum, s[2]->getType());
}

/// On CDNA, v_dot2_f32_f16 takes and gives denormals as zeros whatever MODE says (CDNA's ISA manual, "Denormalized and
/// Rounding Modes").
static Value* dot_halves_to_float(Emitter& e, Sources s) {
  if (e.architecture().is_rdna()) return dot_halves(e, s);
  const auto flush_half = [&](Value* dword, unsigned shift) {
    Value* bits = e.ir.CreateTrunc(e.ir.CreateLShr(dword, shift), Emitter::lanes(e.ir.getInt16Ty()));
    return e.ir.CreateShl(e.ir.CreateZExt(flush_denormals(e, bits), dword->getType()), shift);
  };
  const auto flush_halves = [&](Value* dword) { return e.ir.CreateOr(flush_half(dword, 0), flush_half(dword, 16)); };
  std::array<Value*, 3> flushed = {flush_halves(s[0]), flush_halves(s[1]), flush_denormals(e, s[2])};
  return flush_denormals(e, dot_halves(e, flushed));
}

/// v_dot2_f32_f16 v0, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[1,0,1] neg_lo:[1,0,0]: which halves of S0 and S1.
static void dot_of_halves(Emitter& e, const Instruction& i) {
  VectorInstruction vector(e, i);
  const auto arranged = [&](unsigned n, unsigned chunk) {
    Value* dword = vector.source(n, packed_f16, chunk);
    const auto half = [&](Half which) {
      Value* bits = takes_upper(i, n, which) ? e.ir.CreateLShr(dword, 16) : e.ir.CreateAnd(dword, e.splat(0xffffU));
      return is_negated(i, n, which) ? e.ir.CreateXor(bits, e.splat(0x8000U)) : bits;
    };
    return e.ir.CreateOr(half(Half::low), e.ir.CreateShl(half(Half::high), 16));
  };
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    const std::array sources = {arranged(0, chunk), arranged(1, chunk), vector.source(2, f32, chunk)};
    results.at(chunk) = dot_halves_to_float(e, sources);
  }
  vector.write(f32, results);
}

void add_vector_packed(HandlerTable& table) {
  add_halves(table);
  add_packed_floats(table, "v_pk_fma_f32", 3, fused_multiply_add);
  add_packed_floats(table, "v_pk_mul_f32", 2, binary<Op::FMul>);
  add_packed_floats(table, "v_pk_add_f32", 2, binary<Op::FAdd>);
  table.add("v_pk_fmac_f16", packed_multiply_accumulate);
  table.add("v_pk_mov_b32", packed_move);
  table.add("v_fma_mix_f32", mixed_fma_float);
  table.add("v_fma_mixlo_f16", mixed_fma_half<Half::low>);
  table.add("v_fma_mixhi_f16", mixed_fma_half<Half::high>);
  add_dot<16, true>(table, "v_dot2_i32_i16", "v_dot2c_i32_i16");
  add_dot<16, false>(table, "v_dot2_u32_u16");
  add_dot<8, true>(table, "v_dot4_i32_i8", "v_dot4c_i32_i8");
  add_dot<8, false>(table, "v_dot4_u32_u8");
  add_dot<4, true>(table, "v_dot8_i32_i4", "v_dot8c_i32_i4");
  add_dot<4, false>(table, "v_dot8_u32_u4");
  table.add("v_dot2_f32_f16", dot_of_halves);
  add_vector_operation(table, "v_dot2c_f32_f16", {f32, {packed_f16, packed_f16, f32}}, dot_halves_to_float,
                       {.accumulates = true});
}

}  // namespace softgpu::compute
