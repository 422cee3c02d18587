// VALU single-precision instructions.
#include "softgpu/compute/instructions/division.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using enum Lane;

Value* product_where_zero_wins(Emitter& e, Value* a, Value* b) {
  Value* any_zero = e.ir.CreateOr(is_zero(e, a), is_zero(e, b));
  return e.ir.CreateSelect(any_zero, number_like(a, 0), e.ir.CreateFMul(a, b));
}
Value* multiply_legacy(Emitter& e, Sources s) { return product_where_zero_wins(e, s[0], s[1]); }

/// v_mad and v_mac flush denormals in every MODE.
Value* multiply_add_flushing(Emitter& e, Sources s) {
  const auto flush = [&](Value* value) { return flush_denormals(e, value); };
  Value* product = flush(e.ir.CreateFMul(flush(s[0]), flush(s[1])));
  return flush(e.ir.CreateFAdd(product, flush(s[2])));
}
Value* multiply_add_legacy(Emitter& e, Sources s) {
  const auto flush = [&](Value* value) { return flush_denormals(e, value); };
  Value* product = flush(product_where_zero_wins(e, flush(s[0]), flush(s[1])));
  return flush(e.ir.CreateFAdd(product, flush(s[2])));
}

/// RDNA's, with one rounding: a factor of zero gives the addend, whatever the other one is.
Value* fused_multiply_add_legacy(Emitter& e, Sources s) {
  Value* zero = number_like(s[0], 0);
  Value* is_zero = e.ir.CreateOr(e.ir.CreateFCmpOEQ(s[0], zero), e.ir.CreateFCmpOEQ(s[1], zero));
  return e.ir.CreateSelect(is_zero, e.ir.CreateFAdd(zero, s[2]), fused_multiply_add(e, s));
}

/// Which face of a cube a direction hits: the axis of the largest component, z before y before x.
struct CubeFace {
  Value* is_z;
  Value* is_y;
};
CubeFace cube_face(Emitter& e, Sources s) {
  const auto magnitude = [&](Value* v) { return e.ir.CreateUnaryIntrinsic(Intrinsic::fabs, v); };
  Value* x = magnitude(s[0]);
  Value* y = magnitude(s[1]);
  Value* z = magnitude(s[2]);
  Value* is_z = e.ir.CreateAnd(e.ir.CreateFCmpOGE(z, x), e.ir.CreateFCmpOGE(z, y));
  return {is_z, e.ir.CreateFCmpOGE(y, x)};
}
Value* choose(Emitter& e, const CubeFace& face, Value* on_z, Value* on_y, Value* on_x) {
  return e.ir.CreateSelect(face.is_z, on_z, e.ir.CreateSelect(face.is_y, on_y, on_x));
}
Value* is_negative(Emitter& e, Value* v) { return e.ir.CreateFCmpOLT(v, number_like(v, 0)); }
Value* negated_if(Emitter& e, Value* condition, Value* v) {
  return e.ir.CreateSelect(condition, e.ir.CreateFNeg(v), v);
}

Value* cube_id(Emitter& e, Sources s) {
  const auto id = [&](Value* axis, double positive) {
    return e.ir.CreateSelect(is_negative(e, axis), number_like(axis, positive + 1), number_like(axis, positive));
  };
  return choose(e, cube_face(e, s), id(s[2], 4), id(s[1], 2), id(s[0], 0));
}
Value* cube_s(Emitter& e, Sources s) {
  Value* on_x = negated_if(e, e.ir.CreateNot(is_negative(e, s[0])), s[2]);
  return choose(e, cube_face(e, s), negated_if(e, is_negative(e, s[2]), s[0]), s[0], on_x);
}
Value* cube_t(Emitter& e, Sources s) {
  Value* down = e.ir.CreateFNeg(s[1]);
  return choose(e, cube_face(e, s), down, negated_if(e, is_negative(e, s[1]), s[2]), down);
}
Value* cube_major_axis(Emitter& e, Sources s) {
  Value* axis = choose(e, cube_face(e, s), s[2], s[1], s[0]);
  return e.ir.CreateFMul(axis, number_like(axis, 2));
}

}  // namespace

void add_vector_float(HandlerTable& table) {
  const auto op = [&](const char* mnemonic, unsigned source_count, LaneFunction function,
                      OperationOptions options = {}) {
    add_vector_operation(table, mnemonic, {f32, std::vector<Lane>(source_count, f32)}, function, options);
  };
  op("v_mul_legacy_f32", 2, multiply_legacy);
  op("v_mac_f32", 3, multiply_add_flushing, {.accumulates = true});
  op("v_mad_f32", 3, multiply_add_flushing);
  op("v_madmk_f32", 3, multiply_add_flushing);
  op("v_madak_f32", 3, multiply_add_flushing);
  op("v_mad_legacy_f32", 3, multiply_add_legacy);
  op("v_fma_legacy_f32", 3, fused_multiply_add_legacy);
  op("v_fmac_legacy_f32", 3, fused_multiply_add_legacy, {.accumulates = true});
  op("v_cubeid_f32", 3, cube_id);
  op("v_cubesc_f32", 3, cube_s);
  op("v_cubetc_f32", 3, cube_t);
  op("v_cubema_f32", 3, cube_major_axis);
  op("v_exp_legacy_f32", 1, without_denormals<exponential2>);
  op("v_log_legacy_f32", 1, without_denormals<logarithm2>);
  op("v_rcp_iflag_f32", 1, without_denormals<reciprocal>);
  op("v_sin_f32", 1, bounded_sine);
  op("v_cos_f32", 1, bounded_cosine);
  add_division(table, "f32", f32);
}

}  // namespace softgpu::compute
