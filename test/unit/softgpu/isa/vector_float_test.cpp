// Single precision: conversions, arithmetic, approximations.
#include <algorithm>
#include <cmath>

#include "float_rules.hpp"
#include "tested_target.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa::vector_float {
namespace {

constexpr float below_one = 0x1.fffffep-1F;
constexpr double turn = 6.283185307179586476925286766559;

float byte_as_float(u32 word, unsigned index) { return static_cast<float>(word >> (8 * index) & 0xff); }
/// A signed 4-bit number in sixteenths.
float offset_of(u32 word) { return static_cast<float>(static_cast<i32>(word << 28) >> 28) / 16; }

const VectorInstruction conversions[] = {
    vop1("v_cvt_f32_i32", [](i32 a) { return static_cast<float>(a); }),
    vop1("v_cvt_f32_u32", [](u32 a) { return static_cast<float>(a); }),
    vop1("v_cvt_u32_f32", [](float a) { return to_integer<u32>(a); }),
    vop1("v_cvt_i32_f32", [](float a) { return to_integer<i32>(a); }),
    vop1("v_cvt_flr_i32_f32", [](float a) { return to_integer<i32>(std::floor(a)); }),
    // Whether a + 0.5 is rounded before floor() sees it is not said: few significant bits make it exact.
    vop1("v_cvt_rpi_i32_f32", [](float a) { return to_integer<i32>(std::floor(static_cast<double>(a) + 0.5)); })
        .constrained([](std::size_t, u64 bits) { return bits & 0xffff0000; })
        .without({Form::constant}),
    vop1("v_cvt_f16_f32", [](float a) { return Half(a); }),
    vop1("v_cvt_f32_f16", [](Half a) { return static_cast<float>(a); }),
    vop1("v_cvt_f32_ubyte0", [](u32 a) { return byte_as_float(a, 0); }),
    vop1("v_cvt_f32_ubyte1", [](u32 a) { return byte_as_float(a, 1); }),
    vop1("v_cvt_f32_ubyte2", [](u32 a) { return byte_as_float(a, 2); }),
    vop1("v_cvt_f32_ubyte3", [](u32 a) { return byte_as_float(a, 3); }),
    vop1("v_cvt_off_f32_i4", [](u32 a) { return offset_of(a); }),
};
FASTDISPATCH_VECTOR_SUITE(VectorFloatConversions, conversions);

const VectorInstruction roundings[] = {
    vop1("v_fract_f32", [](float a) { return fraction(a, below_one); }),
    vop1("v_trunc_f32", [](float a) { return std::trunc(a); }),
    vop1("v_ceil_f32", [](float a) { return std::ceil(a); }),
    vop1("v_rndne_f32", [](float a) { return std::nearbyint(a); }),
    vop1("v_floor_f32", [](float a) { return std::floor(a); }),
    vop1("v_frexp_exp_i32_f32", [](float a) { return static_cast<i32>(exponent_of(a)); }),
    vop1("v_frexp_mant_f32", [](float a) { return static_cast<float>(significand(a)); }),
};
FASTDISPATCH_VECTOR_SUITE(VectorFloatRoundings, roundings);

constexpr Tolerance one_ulp = {.ulp = 1};
constexpr Tolerance trigonometric = {.ulp = 1, .absolute = 0x1p-20};

/// Keeps |a| below 2 or, with the second one, below 256.
u64 small_angle(std::size_t /*source*/, u64 bits) { return bits & 0xbfffffff; }
u64 large_angle(std::size_t /*source*/, u64 bits) { return (bits & 0xc37fffff) | 0x40000000; }

float sine(float turns) {
  return static_cast<float>(std::sin(turn * (turns - std::nearbyint(static_cast<double>(turns)))));
}
float cosine(float turns) {
  return static_cast<float>(std::cos(turn * (turns - std::nearbyint(static_cast<double>(turns)))));
}

/// From 256 turns up. Older GPUs have no sine beyond.
u64 huge_angle(std::size_t /*source*/, u64 bits) { return (bits & 0x81ffffff) | 0x43800000; }
bool is_beyond(float turns) { return tested_target().architecture->bounds_sine_domain && std::fabs(turns) > 256; }
float sine_of_any(float turns) { return is_beyond(turns) ? 0 : sine(turns); }
float cosine_of_any(float turns) { return is_beyond(turns) ? 1 : cosine(turns); }

float flushed(float value) { return std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value; }

/// Takes and gives denormals as zeros, though MODE keeps them.
VectorInstruction without_denormals(const char* mnemonic, double (*function)(double)) {
  return vop1(mnemonic, [=](float a) { return flushed(static_cast<float>(function(static_cast<double>(flushed(a))))); })
      .within(one_ulp);
}

const VectorInstruction approximations[] = {
    without_denormals("v_exp_f32", [](double a) { return std::exp2(a); }),
    without_denormals("v_log_f32", [](double a) { return std::log2(a); }),
    without_denormals("v_exp_legacy_f32", [](double a) { return std::exp2(a); }),
    without_denormals("v_log_legacy_f32", [](double a) { return std::log2(a); }),
    without_denormals("v_rcp_f32", [](double a) { return 1 / a; }),
    without_denormals("v_rcp_iflag_f32", [](double a) { return 1 / a; }),
    without_denormals("v_rsq_f32", [](double a) { return 1 / std::sqrt(a); }),
    without_denormals("v_sqrt_f32", [](double a) { return std::sqrt(a); }),
    vop1("v_sin_f32", sine).within(trigonometric).constrained(small_angle),
    vop1("v_cos_f32", cosine).within(trigonometric).constrained(small_angle),
    vop1("v_sin_f32", sine).within(trigonometric).constrained(large_angle).with_suffix("; large angles"),
    vop1("v_cos_f32", cosine).within(trigonometric).constrained(large_angle).with_suffix("; large angles"),
    vop1("v_sin_f32", sine_of_any).within(trigonometric).constrained(huge_angle).with_suffix("; huge angles"),
    vop1("v_cos_f32", cosine_of_any).within(trigonometric).constrained(huge_angle).with_suffix("; huge angles"),
};
FASTDISPATCH_VECTOR_SUITE(VectorFloatApproximations, approximations);

/// Zero times anything is zero.
float legacy_product(float a, float b) { return a == 0 || b == 0 ? 0 : a * b; }

const VectorInstruction arithmetic[] = {
    vop2("v_add_f32", [](float a, float b) { return a + b; }),
    vop2("v_sub_f32", [](float a, float b) { return a - b; }),
    vop2("v_subrev_f32", [](float a, float b) { return b - a; }),
    vop2("v_mul_f32", [](float a, float b) { return a * b; }),
    vop3("v_mul_legacy_f32", [](float a, float b) { return legacy_product(a, b); }),
    vop2("v_min_f32", [](float a, float b) { return minimum(a, b); }).within({.quiets = true}),
    vop2("v_max_f32", [](float a, float b) { return maximum(a, b); }).within({.quiets = true}),
    vop2("v_fmac_f32", [](float a, float b, Old<float> d) { return std::fma(a, b, d.value); }).without({Form::sdwa}),
    vop3("v_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
    vop3("v_min3_f32", [](float a, float b, float c) { return minimum(minimum(a, b), c); }).within({.quiets = true}),
    vop3("v_max3_f32", [](float a, float b, float c) { return maximum(maximum(a, b), c); }).within({.quiets = true}),
    vop3("v_med3_f32", [](float a, float b, float c) { return median(a, b, c); }).within({.quiets = true}),
    vop3("v_ldexp_f32", [](float a, i32 b) { return std::ldexp(a, b); }),
    vop3("v_div_fixup_f32", [](float a, float b, float c) { return division_result(a, b, c); })
        .within({.quiets = true}),
    vop3("v_div_fmas_f32",
         [](float a, float b, float c, Condition scaled) { return division_step(a, b, c, scaled ? 64 : 0); })
        .with_implicit_vcc(),
};
FASTDISPATCH_VECTOR_SUITE(VectorFloatArithmetic, arithmetic);

// v_mad_f32 and v_mac_f32 round the product, and flush denormals whatever MODE says; numbers near 1 have none.
u64 near_one(std::size_t /*source*/, u64 bits) { return (bits & 0x87ffffff) | 0x38000000; }
const VectorInstruction unfused[] = {
    vop2("v_mac_f32", [](float a, float b, Old<float> d) { return a * b + flushed(d.value); }).without({Form::sdwa}),
    vop3("v_mad_f32", [](float a, float b, float c) { return a * b + c; }),
    vop3("v_mad_legacy_f32", [](float a, float b, float c) { return legacy_product(a, b) + c; }),
};
class VectorFloatUnfused : public testing::TestWithParam<VectorInstruction> {};
TEST_P(VectorFloatUnfused, MatchesTheManual) {
  expect_match(cases_of(GetParam().constrained(near_one).without({Form::constant})));
}
INSTANTIATE_TEST_SUITE_P(Isa, VectorFloatUnfused, testing::ValuesIn(unfused),
                         [](const auto& row) { return test_name(row.param); });

u64 whole_number(std::size_t source, u64 bits) {
  const auto value = from_bits<float>(bits);
  return source == 0 && std::isfinite(value) ? to_bits(std::trunc(value)) : bits;
}
u32 with_byte(float value, u32 index, u32 word) {
  const unsigned shift = 8 * (index & 3);
  return (word & ~(u32{0xff} << shift)) | std::min<u32>(to_integer<u32>(value), 255) << shift;
}
i16 signed_norm(float value) {
  return std::isnan(value) ? i16{0} : static_cast<i16>(std::nearbyint(std::clamp<double>(value, -1, 1) * 32767));
}
u16 unsigned_norm(float value) {
  return std::isnan(value) ? u16{0} : static_cast<u16>(std::nearbyint(std::clamp<double>(value, 0, 1) * 65535));
}

const VectorInstruction packing[] = {
    vop3("v_cvt_pkrtz_f16_f32",
         [](float a, float b) {
           return PackedHalf{Half(a, Rounding::toward_zero), Half(b, Rounding::toward_zero)};
         }),
    vop3("v_cvt_pknorm_i16_f32",
         [](float a, float b) {
           return PackedI16{signed_norm(a), signed_norm(b)};
         }),
    vop3("v_cvt_pknorm_u16_f32",
         [](float a, float b) {
           return PackedU16{unsigned_norm(a), unsigned_norm(b)};
         }),
    vop3("v_cvt_pk_u8_f32", [](float a, u32 b, u32 c) { return with_byte(a, b, c); }).constrained(whole_number),
    vop3("v_cvt_pkaccum_u8_f32", [](float a, u32 b, Old<u32> d) { return with_byte(a, b, d.value); })
        .constrained(whole_number),
};
FASTDISPATCH_VECTOR_SUITE(VectorFloatPacking, packing);

}  // namespace
}  // namespace softgpu::isa::vector_float
