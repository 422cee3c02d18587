// VALU double-precision instructions.
#include "softgpu/compute/instructions/division.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/run_time/trigonometric_reduction.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using Op = llvm::Instruction;
using enum Lane;

/// Rare, and table look-ups bit by bit: done in C++.
Value* trigonometric_preop(Emitter& e, Sources s) {
  const auto slot = [&](llvm::Type* type) { return e.entry_slot(type); };
  Value* angles = slot(s[0]->getType());
  Value* segments = slot(s[1]->getType());
  Value* results = slot(s[0]->getType());
  e.ir.CreateStore(s[0], angles);
  e.ir.CreateStore(s[1], segments);
  e.call(reinterpret_cast<const void*>(&softgpu::compute::trigonometric_preop), e.ir.getVoidTy(),
         {angles, segments, results});
  return e.ir.CreateLoad(s[0]->getType(), results);
}

}  // namespace

void add_vector_double(HandlerTable& table) {
  const auto op = [&](const char* mnemonic, unsigned source_count, LaneFunction function,
                      OperationOptions options = {}) {
    add_vector_operation(table, mnemonic, {f64, std::vector<Lane>(source_count, f64)}, function, options);
  };
  op("v_add_f64", 2, binary<Op::FAdd>);
  op("v_mul_f64", 2, binary<Op::FMul>);
  op("v_min_f64", 2, float_min);
  op("v_max_f64", 2, float_max);
  op("v_fma_f64", 3, fused_multiply_add);
  op("v_fmac_f64", 3, fused_multiply_add, {.accumulates = true});
  op("v_fract_f64", 1, fraction);
  op("v_trunc_f64", 1, unary_intrinsic<Intrinsic::trunc>);
  op("v_ceil_f64", 1, unary_intrinsic<Intrinsic::ceil>);
  op("v_rndne_f64", 1, unary_intrinsic<Intrinsic::roundeven>);
  op("v_floor_f64", 1, unary_intrinsic<Intrinsic::floor>);
  op("v_rcp_f64", 1, reciprocal);
  op("v_rsq_f64", 1, reciprocal_root);
  op("v_sqrt_f64", 1, square_root);
  op("v_frexp_mant_f64", 1, frexp_mantissa);
  add_vector_operation(table, "v_frexp_exp_i32_f64", {u32, {f64}}, frexp_exponent);
  add_vector_operation(table, "v_ldexp_f64", {f64, {f64, u32}}, [](auto& e, auto s) { return scale(e, s[0], s[1]); });
  add_vector_operation(table, "v_trig_preop_f64", {f64, {f64, u32}}, trigonometric_preop);
  add_division(table, "f64", f64);
}

}  // namespace softgpu::compute
