// VOPC: compares and classifications, whose result is a 64-lane mask. The v_cmpx forms write EXEC as well.
#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;
using Predicate = llvm::CmpInst::Predicate;

/// A comparison of one chunk: <16 x i1>.
using Comparison = std::function<Value*(Emitter&, VectorInstruction&, unsigned chunk)>;

/// Both the v_cmp_ and the v_cmpx_ instruction.
void add_comparison(HandlerTable& table, const std::string& name, const Comparison& comparison) {
  for (const bool writes_exec : {false, true}) {
    table.add((writes_exec ? "v_cmpx_" : "v_cmp_") + name, [=](Emitter& e, const Instruction& i) {
      VectorInstruction vector(e, i);
      Chunks bits = {};
      for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) bits.at(chunk) = comparison(e, vector, chunk);
      vector.write_mask(i.operands.at(0), bits);
      if (writes_exec) e.set_exec(e.mask(i.operands.at(0)));
    });
  }
}

void add_comparison(HandlerTable& table, const std::string& name, Lane lane, Predicate predicate) {
  add_comparison(table, name, [=](Emitter& e, VectorInstruction& vector, unsigned chunk) {
    return e.ir.CreateCmp(predicate, vector.source(0, lane, chunk), vector.source(1, lane, chunk));
  });
}

/// The operands are there, for nothing.
void add_constant(HandlerTable& table, const std::string& name, Lane lane, bool value) {
  add_comparison(table, name, [=](Emitter& e, VectorInstruction& vector, unsigned chunk) {
    static_cast<void>(vector.source(0, lane, chunk));
    static_cast<void>(vector.source(1, lane, chunk));
    return e.splat(e.ir.getInt1(value));
  });
}

/// The bit patterns that v_cmp_class tells apart.
struct FloatFormat {
  std::uint64_t sign, exponent, quiet;
};

/// The bit of v_cmp_class's mask that describes a number: signaling NaN, quiet NaN, then from -infinity to +infinity.
Value* class_bit(Emitter& e, Value* bits, const FloatFormat& format) {
  const auto constant = [&](std::uint64_t value) { return constant_like(bits, value); };
  Value* magnitude = e.ir.CreateAnd(bits, constant(format.sign - 1));
  Value* negative = e.ir.CreateIsNotNull(e.ir.CreateAnd(bits, constant(format.sign)));
  const auto by_sign = [&](unsigned below, unsigned above) {
    return e.ir.CreateSelect(negative, constant(1U << below), constant(1U << above));
  };
  const std::uint64_t smallest_normal = format.exponent & (0 - format.exponent);
  Value* result = by_sign(3, 8);
  result = e.ir.CreateSelect(e.ir.CreateICmpULT(magnitude, constant(smallest_normal)), by_sign(4, 7), result);
  result = e.ir.CreateSelect(e.ir.CreateIsNull(magnitude), by_sign(5, 6), result);
  result = e.ir.CreateSelect(e.ir.CreateICmpEQ(magnitude, constant(format.exponent)), by_sign(2, 9), result);
  Value* is_quiet = e.ir.CreateICmpUGE(magnitude, constant(format.exponent | format.quiet));
  Value* nan = e.ir.CreateSelect(is_quiet, constant(2), constant(1));
  return e.ir.CreateSelect(e.ir.CreateICmpUGT(magnitude, constant(format.exponent)), nan, result);
}

void add_class(HandlerTable& table, const char* name, Lane lane, FloatFormat format) {
  add_comparison(table, name, [=](Emitter& e, VectorInstruction& vector, unsigned chunk) {
    Value* number = vector.source(0, lane, chunk);
    if (lane == f64) number = e.ir.CreateBitCast(number, Emitter::lanes(e.i64()));
    Value* mask = vector.source(1, lane == b16 ? u16 : u32, chunk);
    mask = e.ir.CreateZExt(mask, number->getType());
    return e.ir.CreateIsNotNull(e.ir.CreateAnd(class_bit(e, number, format), mask));
  });
}

void add_integer_comparisons(HandlerTable& table, const std::string& type, Lane lane, bool is_signed) {
  using P = llvm::CmpInst;
  add_constant(table, "f_" + type, lane, false);
  add_comparison(table, "lt_" + type, lane, is_signed ? P::ICMP_SLT : P::ICMP_ULT);
  add_comparison(table, "eq_" + type, lane, P::ICMP_EQ);
  add_comparison(table, "le_" + type, lane, is_signed ? P::ICMP_SLE : P::ICMP_ULE);
  add_comparison(table, "gt_" + type, lane, is_signed ? P::ICMP_SGT : P::ICMP_UGT);
  add_comparison(table, "ne_" + type, lane, P::ICMP_NE);
  add_comparison(table, "ge_" + type, lane, is_signed ? P::ICMP_SGE : P::ICMP_UGE);
  add_constant(table, "t_" + type, lane, true);
}

void add_float_comparisons(HandlerTable& table, const std::string& type, Lane lane) {
  using P = llvm::CmpInst;
  add_constant(table, "f_" + type, lane, false);
  add_comparison(table, "lt_" + type, lane, P::FCMP_OLT);
  add_comparison(table, "eq_" + type, lane, P::FCMP_OEQ);
  add_comparison(table, "le_" + type, lane, P::FCMP_OLE);
  add_comparison(table, "gt_" + type, lane, P::FCMP_OGT);
  add_comparison(table, "lg_" + type, lane, P::FCMP_ONE);
  add_comparison(table, "ge_" + type, lane, P::FCMP_OGE);
  add_comparison(table, "o_" + type, lane, P::FCMP_ORD);
  add_comparison(table, "u_" + type, lane, P::FCMP_UNO);
  add_comparison(table, "nge_" + type, lane, P::FCMP_ULT);
  add_comparison(table, "nlg_" + type, lane, P::FCMP_UEQ);
  add_comparison(table, "ngt_" + type, lane, P::FCMP_ULE);
  add_comparison(table, "nle_" + type, lane, P::FCMP_UGT);
  add_comparison(table, "neq_" + type, lane, P::FCMP_UNE);
  add_comparison(table, "nlt_" + type, lane, P::FCMP_UGE);
  add_constant(table, "tru_" + type, lane, true);
}

}  // namespace

void add_vector_compare(HandlerTable& table) {
  add_integer_comparisons(table, "i16", u16, true);
  add_integer_comparisons(table, "u16", u16, false);
  add_integer_comparisons(table, "i32", u32, true);
  add_integer_comparisons(table, "u32", u32, false);
  add_integer_comparisons(table, "i64", u64, true);
  add_integer_comparisons(table, "u64", u64, false);
  add_float_comparisons(table, "f16", f16);
  add_float_comparisons(table, "f32", f32);
  add_float_comparisons(table, "f64", f64);
  add_class(table, "class_f16", b16, {0x8000, 0x7c00, 0x200});
  add_class(table, "class_f32", b32, {0x80000000, 0x7f800000, 0x400000});
  add_class(table, "class_f64", f64, {1ULL << 63, 0x7ff0000000000000, 1ULL << 51});
}

}  // namespace softgpu::compute
