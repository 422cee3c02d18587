// VALU instructions that do the same in half, single and double precision: a row for all types of an instruction.
// Instructions of one type stand in vector_half.cpp, vector_float.cpp and vector_double.cpp.
#include <string>

#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"

namespace softgpu::compute {
namespace {

namespace Intrinsic = llvm::Intrinsic;
using Op = llvm::Instruction;
using enum Lane;

const char* suffix(Lane type) { return type == f16 ? "_f16" : type == f32 ? "_f32" : "_f64"; }

class FloatFamily {
public:
  explicit FloatFamily(HandlerTable& table) : table_(table) {}

  void operator()(const std::string& name, const std::vector<Lane>& types, unsigned source_count, LaneFunction function,
                  OperationOptions options = {}) {
    for (const Lane type : types) {
      add_vector_operation(table_, name + suffix(type), {type, std::vector<Lane>(source_count, type)}, function,
                           options);
    }
  }

private:
  HandlerTable& table_;
};

}  // namespace

void add_float_family(HandlerTable& table) {
  // Of the instructions with three sources the half-precision form keeps the register's upper half.
  constexpr OperationOptions preserving = {.upper = VectorInstruction::UpperHalf::preserved};
  FloatFamily op(table);
  op("v_add", {f16, f32, f64}, 2, binary<Op::FAdd>);
  op("v_sub", {f16, f32}, 2, binary<Op::FSub>);
  op("v_subrev", {f16, f32}, 2, reversed<Op::FSub>);
  op("v_mul", {f16, f32, f64}, 2, binary<Op::FMul>);
  op("v_min", {f16, f32, f64}, 2, float_min);
  op("v_max", {f16, f32, f64}, 2, float_max);
  op("v_min3", {f16, f32}, 3, float_min3, preserving);
  op("v_max3", {f16, f32}, 3, float_max3, preserving);
  op("v_med3", {f16, f32}, 3, float_median, preserving);
  op("v_fma", {f32, f64}, 3, fused_multiply_add);
  op("v_fmac", {f32, f64}, 3, fused_multiply_add, {.accumulates = true});
  op("v_fract", {f32, f64}, 1, fraction);
  op("v_trunc", {f16, f32, f64}, 1, unary_intrinsic<Intrinsic::trunc>);
  op("v_ceil", {f16, f32, f64}, 1, unary_intrinsic<Intrinsic::ceil>);
  op("v_rndne", {f16, f32, f64}, 1, unary_intrinsic<Intrinsic::roundeven>);
  op("v_floor", {f16, f32, f64}, 1, unary_intrinsic<Intrinsic::floor>);
  op("v_exp", {f16}, 1, exponential2);
  op("v_log", {f16}, 1, logarithm2);
  op("v_rcp", {f16, f64}, 1, reciprocal);
  op("v_rsq", {f16, f64}, 1, reciprocal_root);
  op("v_sqrt", {f16, f64}, 1, square_root);
  op("v_exp", {f32}, 1, without_denormals<exponential2>);
  op("v_log", {f32}, 1, without_denormals<logarithm2>);
  op("v_rcp", {f32}, 1, without_denormals<reciprocal>);
  op("v_rsq", {f32}, 1, without_denormals<reciprocal_root>);
  op("v_sqrt", {f32}, 1, without_denormals<square_root>);
  op("v_frexp_mant", {f16, f32, f64}, 1, frexp_mantissa);
  for (const Lane type : {f32, f64}) {
    const auto name = [&](const char* stem) { return std::string(stem) + suffix(type); };
    add_vector_operation(table, name("v_frexp_exp_i32"), {u32, {type}}, frexp_exponent);
    add_vector_operation(table, name("v_ldexp"), {type, {type, u32}},
                         [](auto& e, auto s) { return scale(e, s[0], s[1]); });
  }
}

}  // namespace softgpu::compute
