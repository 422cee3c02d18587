// Double precision.
#include <cmath>

#include "float_rules.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa::vector_double {
namespace {

constexpr double below_one = 0x1.fffffffffffffp-1;
constexpr Tolerance one_ulp = {.ulp = 1, .denormals_may_flush = true};

const VectorInstruction unary[] = {
    vop1("v_cvt_f64_i32", [](i32 a) { return static_cast<double>(a); }),
    vop1("v_cvt_f64_u32", [](u32 a) { return static_cast<double>(a); }),
    vop1("v_cvt_f64_f32", [](float a) { return static_cast<double>(a); }),
    vop1("v_cvt_i32_f64", [](double a) { return to_integer<i32>(a); }),
    vop1("v_cvt_u32_f64", [](double a) { return to_integer<u32>(a); }),
    vop1("v_cvt_f32_f64", [](double a) { return static_cast<float>(a); }),
    vop1("v_trunc_f64", [](double a) { return std::trunc(a); }),
    vop1("v_ceil_f64", [](double a) { return std::ceil(a); }),
    vop1("v_rndne_f64", [](double a) { return std::nearbyint(a); }),
    vop1("v_floor_f64", [](double a) { return std::floor(a); }),
    vop1("v_fract_f64", [](double a) { return fraction(a, below_one); }),
    vop1("v_frexp_exp_i32_f64", [](double a) { return static_cast<i32>(exponent_of(a)); }),
    vop1("v_frexp_mant_f64", [](double a) { return significand(a); }),
    vop1("v_rcp_f64", [](double a) { return 1 / a; }).within(one_ulp),
    vop1("v_rsq_f64", [](double a) { return 1 / std::sqrt(a); }).within(one_ulp),
    vop1("v_sqrt_f64", [](double a) { return std::sqrt(a); }).within(one_ulp),
};
FASTDISPATCH_VECTOR_SUITE(VectorDoubleUnary, unary);

const VectorInstruction arithmetic[] = {
    vop3("v_add_f64", [](double a, double b) { return a + b; }),
    vop3("v_mul_f64", [](double a, double b) { return a * b; }),
    vop3("v_min_f64", [](double a, double b) { return minimum(a, b); }).within({.quiets = true}),
    vop3("v_max_f64", [](double a, double b) { return maximum(a, b); }).within({.quiets = true}),
    vop3("v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); }),
    vop2("v_fmac_f64", [](double a, double b, Old<double> d) { return std::fma(a, b, d.value); }),
    vop3("v_ldexp_f64", [](double a, i32 b) { return std::ldexp(a, b); }),
    vop3("v_div_fixup_f64", [](double a, double b, double c) { return division_result(a, b, c); })
        .within({.quiets = true}),
    vop3("v_div_fmas_f64",
         [](double a, double b, double c, Condition scaled) { return division_step(a, b, c, scaled ? 128 : 0); })
        .with_implicit_vcc(),
};
FASTDISPATCH_VECTOR_SUITE(VectorDoubleArithmetic, arithmetic);

}  // namespace
}  // namespace softgpu::isa::vector_double
