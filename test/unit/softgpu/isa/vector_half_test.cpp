// Half precision and 16-bit conversions.
#include <algorithm>
#include <cmath>

#include "float_rules.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa::vector_half {
namespace {

const Half below_one = Half::from_bits(0x3bff);
constexpr double turn = 6.283185307179586476925286766559;

Half half_fraction(Half a) {
  const Half result(a - std::floor(static_cast<double>(a)));
  return result >= 1 ? below_one : result;
}
i16 signed_norm(Half value) {
  return std::isnan(static_cast<double>(value))
             ? i16{0}
             : static_cast<i16>(std::nearbyint(std::clamp<double>(value, -1, 1) * 32767));
}
u16 unsigned_norm(Half value) {
  return std::isnan(static_cast<double>(value))
             ? u16{0}
             : static_cast<u16>(std::nearbyint(std::clamp<double>(value, 0, 1) * 65535));
}

/// Where the product with 32767 or 65535 must not be rounded to a float first.
u64 just_above_a_half(std::size_t /*source*/, u64 bits) { return (bits & 0x8007'8007) | 0x3800'3800; }

const VectorInstruction conversions[] = {
    vop1("v_cvt_f16_u16", [](u16 a) { return Half(a); }),
    vop1("v_cvt_f16_i16", [](i16 a) { return Half(a); }),
    vop1("v_cvt_u16_f16", [](Half a) { return to_integer<u16>(a); }),
    vop1("v_cvt_i16_f16", [](Half a) { return to_integer<i16>(a); }),
    vop1("v_cvt_norm_i16_f16", [](Half a) { return signed_norm(a); }),
    vop1("v_cvt_norm_u16_f16", [](Half a) { return unsigned_norm(a); }),
    vop1("v_cvt_norm_i16_f16", [](Half a) { return signed_norm(a); })
        .constrained(just_above_a_half)
        .with_suffix("; just above 0.5"),
    vop1("v_cvt_norm_u16_f16", [](Half a) { return unsigned_norm(a); })
        .constrained(just_above_a_half)
        .with_suffix("; just above 0.5"),
    vop1("v_trunc_f16", [](Half a) { return Half(std::trunc(static_cast<double>(a))); }),
    vop1("v_ceil_f16", [](Half a) { return Half(std::ceil(static_cast<double>(a))); }),
    vop1("v_rndne_f16", [](Half a) { return Half(std::nearbyint(static_cast<double>(a))); }),
    vop1("v_floor_f16", [](Half a) { return Half(std::floor(static_cast<double>(a))); }),
    vop1("v_fract_f16", [](Half a) { return half_fraction(a); }),
    vop1("v_frexp_exp_i16_f16", [](Half a) { return static_cast<i16>(exponent_of(a)); }),
    vop1("v_frexp_mant_f16", [](Half a) { return Half(significand(a)); }),
};
FASTDISPATCH_VECTOR_SUITE(VectorHalfConversions, conversions);

constexpr Tolerance one_ulp = {.ulp = 1};
constexpr Tolerance trigonometric = {.ulp = 1, .absolute = 0x1p-10};
/// Keeps |a| below 256.
u64 angle(std::size_t /*source*/, u64 bits) { return (bits & 0x4000) != 0 ? bits & ~u64{0x2000} : bits; }

const VectorInstruction approximations[] = {
    vop1("v_rcp_f16", [](Half a) { return Half(1 / static_cast<double>(a)); }).within(one_ulp),
    vop1("v_sqrt_f16", [](Half a) { return Half(std::sqrt(static_cast<double>(a))); }).within(one_ulp),
    vop1("v_rsq_f16", [](Half a) { return Half(1 / std::sqrt(static_cast<double>(a))); }).within(one_ulp),
    vop1("v_log_f16", [](Half a) { return Half(std::log2(static_cast<double>(a))); }).within(one_ulp),
    vop1("v_exp_f16", [](Half a) { return Half(std::exp2(static_cast<double>(a))); }).within(one_ulp),
    vop1("v_sin_f16", [](Half a) { return Half(std::sin(turn * a)); }).within(trigonometric).constrained(angle),
    vop1("v_cos_f16", [](Half a) { return Half(std::cos(turn * a)); }).within(trigonometric).constrained(angle),
};
FASTDISPATCH_VECTOR_SUITE(VectorHalfApproximations, approximations);

Half product(Half a, Half b) { return Half(static_cast<double>(a) * static_cast<double>(b)); }
Half sum(Half a, Half b) { return Half(static_cast<double>(a) + static_cast<double>(b)); }
Half difference(Half a, Half b) { return Half(static_cast<double>(a) - static_cast<double>(b)); }

const VectorInstruction binary[] = {
    vop2("v_add_f16", [](Half a, Half b) { return sum(a, b); }),
    vop2("v_sub_f16", [](Half a, Half b) { return difference(a, b); }),
    vop2("v_subrev_f16", [](Half a, Half b) { return difference(b, a); }),
    vop2("v_mul_f16", [](Half a, Half b) { return product(a, b); }),
    vop2("v_min_f16", [](Half a, Half b) { return minimum(a, b); }).within({.quiets = true}),
    vop2("v_max_f16", [](Half a, Half b) { return maximum(a, b); }).within({.quiets = true}),
    vop2("v_mac_f16", [](Half a, Half b, Old<Half> d) { return LowHalf{sum(product(a, b), d.value)}; })
        .without({Form::sdwa}),
    vop2("v_ldexp_f16", [](Half a, i16 b) { return Half(std::ldexp(static_cast<double>(a), b)); }),
};
FASTDISPATCH_VECTOR_SUITE(VectorHalfBinary, binary);

constexpr Tolerance low_half_only = {.high_half_is_undefined = true, .quiets = true};
const VectorInstruction ternary[] = {
    vop3("v_mad_f16", [](Half a, Half b, Half c) { return LowHalf{sum(product(a, b), c)}; }).with_op_sel(),
    vop3("v_mad_legacy_f16", [](Half a, Half b, Half c) { return sum(product(a, b), c); }),
    vop3("v_fma_f16", [](Half a, Half b, Half c) { return LowHalf{fused_multiply_add(a, b, c)}; }).with_op_sel(),
    vop3("v_fma_legacy_f16", [](Half a, Half b, Half c) { return fused_multiply_add(a, b, c); }),
    vop3("v_div_fixup_f16", [](Half a, Half b, Half c) { return LowHalf{division_result(a, b, c)}; })
        .with_op_sel()
        .within({.quiets = true}),
    vop3("v_div_fixup_legacy_f16", [](Half a, Half b, Half c) { return division_result(a, b, c); })
        .within({.quiets = true}),
    vop3("v_min3_f16", [](Half a, Half b, Half c) { return LowHalf{minimum(minimum(a, b), c)}; })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_max3_f16", [](Half a, Half b, Half c) { return LowHalf{maximum(maximum(a, b), c)}; })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_med3_f16", [](Half a, Half b, Half c) { return LowHalf{median(a, b, c)}; })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_pack_b32_f16",
         [](Half a, Half b) {
           return PackedHalf{a, b};
         })
        .with_op_sel(),
    vop3("v_cvt_pknorm_i16_f16",
         [](Half a, Half b) {
           return PackedI16{signed_norm(a), signed_norm(b)};
         })
        .with_op_sel(),
    vop3("v_cvt_pknorm_u16_f16",
         [](Half a, Half b) {
           return PackedU16{unsigned_norm(a), unsigned_norm(b)};
         })
        .with_op_sel(),
};
FASTDISPATCH_VECTOR_SUITE(VectorHalfTernary, ternary);

}  // namespace
}  // namespace softgpu::isa::vector_half
