// VALU half-precision instructions: computed in single precision, rounded to half.
//
// For one addition, multiplication, division or root that is exactly the half-precision result: a float has more than
// twice a half's digits. A fused multiply-add needs care, see `fused_multiply_add_half`. Where both roundings go in the
// same direction, up, down or toward zero, two are as good as one.
#include "softgpu/compute/instructions/division.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/half_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using enum Lane;

/// Where a result is rounded to half and used again.
Value* rounded(Emitter& e, Value* value) {
  Value* half = round_to_half(e, value);
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);
  return e.ir.CreateFPExt(half, value->getType());
}

Value* multiply_add_half(Emitter& e, Sources s) {
  return e.ir.CreateFAdd(rounded(e, e.ir.CreateFMul(s[0], s[1])), s[2]);
}

Value* fraction_half(Emitter& e, Sources s) {
  Value* result = e.ir.CreateFSub(s[0], e.ir.CreateUnaryIntrinsic(Intrinsic::floor, s[0]));
  Value* below_one = number_like(result, 0x1.ffcp-1);
  return e.ir.CreateSelect(e.ir.CreateFCmpOGT(result, below_one), below_one, result);
}

Value* load_exponent(Emitter& e, Sources s) { return scale(e, s[0], e.ir.CreateSExt(s[1], Emitter::lanes(e.i32()))); }

}  // namespace

// The product is exact in a float, the sum may not be.
Value* fused_multiply_add_half(Emitter& e, Sources s) {
  Value* product = e.ir.CreateFMul(s[0], s[1]);
  Value* sum = e.ir.CreateFAdd(product, s[2]);
  if ((e.known_mode.current() >> 2 & 3) != 0) return sum;
  return step_towards_exact(e, sum, error_of_sum(e, product, s[2], sum), is_even(e, sum));
}

void add_vector_half(HandlerTable& table) {
  constexpr OperationOptions preserving = {.upper = VectorInstruction::UpperHalf::preserved};
  const auto op = [&](const char* mnemonic, unsigned source_count, LaneFunction function,
                      OperationOptions options = {}) {
    add_vector_operation(table, mnemonic, {f16, std::vector<Lane>(source_count, f16)}, function, options);
  };
  op("v_mac_f16", 3, multiply_add_half, {.accumulates = true, .upper = VectorInstruction::UpperHalf::preserved});
  op("v_madmk_f16", 3, multiply_add_half, preserving);
  op("v_madak_f16", 3, multiply_add_half, preserving);
  op("v_mad_legacy_f16", 3, multiply_add_half);
  op("v_fma_legacy_f16", 3, fused_multiply_add_half);
  op("v_div_fixup_legacy_f16", 3, division_fixup);
  op("v_mad_f16", 3, multiply_add_half, preserving);
  op("v_fma_f16", 3, fused_multiply_add_half, preserving);
  op("v_div_fixup_f16", 3, division_fixup, preserving);
  op("v_fract_f16", 1, fraction_half);
  op("v_sin_f16", 1, sine);
  op("v_cos_f16", 1, cosine);
  add_vector_operation(table, "v_ldexp_f16", {f16, {f16, u16}}, load_exponent);
  add_vector_operation(table, "v_frexp_exp_i16_f16", {u16, {f16}}, [](auto& e, auto s) {
    return e.ir.CreateTrunc(frexp_exponent(e, s), Emitter::lanes(e.ir.getInt16Ty()));
  });
}

}  // namespace softgpu::compute
