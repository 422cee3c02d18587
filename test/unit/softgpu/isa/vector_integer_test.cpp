// Integer and bit instructions of VOP1 and VOP2, 32 bits and carries.
#include <algorithm>
#include <bit>

#include "vector_suite.hpp"

namespace softgpu::isa::vector_integer {
namespace {

u32 low_24(u32 value) { return value & 0xffffff; }
i32 low_24(i32 value) { return static_cast<i32>(static_cast<u32>(value) << 8) >> 8; }
u32 high_word(u64 value) { return static_cast<u32>(value >> 32); }
u64 product(u32 a, u32 b) { return u64{a} * b; }
i64 product(i32 a, i32 b) { return i64{a} * b; }

/// How many leading bits equal the sign, or -1 when all do.
i32 first_bit_unlike_sign(i32 value) {
  const auto magnitude = static_cast<u32>(value < 0 ? ~value : value);
  return magnitude == 0 ? -1 : std::countl_zero(magnitude);
}
u32 reversed(u32 value) {
  u32 result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= (value >> i & 1) << (31 - i);
  return result;
}
u32 saturated_byte(u32 half) { return static_cast<u32>(std::clamp<int>(static_cast<i16>(half), 0, 255)); }

/// The manual's formula for the engine of a pixel, at one pixel of each tile of the rectangle.
u32 engines_of_rectangle(u32 select) {
  const auto field = [&](unsigned shift) { return (select >> shift & 3) * 32; };
  const u32 x_begin = field(6);
  const u32 y_begin = field(4);
  const u32 x_end = field(2) < x_begin ? field(2) + 128 : field(2);
  const u32 y_end = field(0) < y_begin ? field(0) + 128 : field(0);
  u32 engines = 0;
  for (u32 x = x_begin; x <= x_end; x += 32)
    for (u32 y = y_begin; y <= y_end; y += 32) {
      const u32 high = (x >> 5 ^ y >> 6) & 1;
      const u32 low = (y >> 5 ^ x >> 6) & 1;
      engines |= 1U << (2 * high + low);
    }
  return engines;
}

const VectorInstruction unary[] = {
    vop1("v_mov_b32", [](u32 a) { return a; }).without({Form::modifiers}),
    vop1("v_screen_partition_4se_b32", [](u32 a) { return engines_of_rectangle(a); }),
    vop1("v_not_b32", [](u32 a) { return ~a; }),
    vop1("v_bfrev_b32", [](u32 a) { return reversed(a); }),
    vop1("v_ffbh_u32", [](u32 a) { return a == 0 ? ~u32{0} : static_cast<u32>(std::countl_zero(a)); }),
    vop1("v_ffbl_b32", [](u32 a) { return a == 0 ? ~u32{0} : static_cast<u32>(std::countr_zero(a)); }),
    vop1("v_ffbh_i32", [](i32 a) { return first_bit_unlike_sign(a); }),
    vop1("v_sat_pk_u8_i16", [](u32 a) { return static_cast<u16>(saturated_byte(a) | saturated_byte(a >> 16) << 8); })
        .without({Form::sdwa}),
};
FASTDISPATCH_VECTOR_SUITE(VectorIntegerUnary, unary);

const VectorInstruction binary[] = {
    vop2("v_cndmask_b32", [](u32 a, u32 b, Condition select) { return select ? b : a; }).without({Form::modifiers}),
    vop2("v_mul_i32_i24", [](i32 a, i32 b) { return static_cast<i32>(product(low_24(a), low_24(b))); }),
    vop2("v_mul_hi_i32_i24", [](i32 a, i32 b) { return static_cast<i32>(product(low_24(a), low_24(b)) >> 32); }),
    vop2("v_mul_u32_u24", [](u32 a, u32 b) { return static_cast<u32>(product(low_24(a), low_24(b))); }),
    vop2("v_mul_hi_u32_u24", [](u32 a, u32 b) { return high_word(product(low_24(a), low_24(b))); }),
    vop2("v_min_i32", [](i32 a, i32 b) { return std::min(a, b); }),
    vop2("v_max_i32", [](i32 a, i32 b) { return std::max(a, b); }),
    vop2("v_min_u32", [](u32 a, u32 b) { return std::min(a, b); }),
    vop2("v_max_u32", [](u32 a, u32 b) { return std::max(a, b); }),
    vop2("v_lshrrev_b32", [](u32 a, u32 b) { return b >> (a & 31); }),
    vop2("v_ashrrev_i32", [](u32 a, i32 b) { return b >> (a & 31); }),
    vop2("v_lshlrev_b32", [](u32 a, u32 b) { return b << (a & 31); }),
    vop2("v_and_b32", [](u32 a, u32 b) { return a & b; }),
    vop2("v_or_b32", [](u32 a, u32 b) { return a | b; }),
    vop2("v_xor_b32", [](u32 a, u32 b) { return a ^ b; }),
    vop2("v_xnor_b32", [](u32 a, u32 b) { return ~(a ^ b); }),
    vop2("v_add_u32", [](u32 a, u32 b) { return a + b; }),
    vop2("v_sub_u32", [](u32 a, u32 b) { return a - b; }),
    vop2("v_subrev_u32", [](u32 a, u32 b) { return b - a; }),
    vop2("v_add_co_u32",
         [](u32 a, u32 b) {
           return WithMask{a + b, u64{a} + b > 0xffffffff};
         }),
    vop2("v_sub_co_u32",
         [](u32 a, u32 b) {
           return WithMask{a - b, b > a};
         }),
    vop2("v_subrev_co_u32",
         [](u32 a, u32 b) {
           return WithMask{b - a, a > b};
         }),
    vop2("v_addc_co_u32",
         [](u32 a, u32 b, Condition c) {
           return WithMask{a + b + c, u64{a} + b + c > 0xffffffff};
         }),
    vop2("v_subb_co_u32",
         [](u32 a, u32 b, Condition c) {
           return WithMask{a - b - c, u64{b} + c > a};
         }),
    vop2("v_subbrev_co_u32",
         [](u32 a, u32 b, Condition c) {
           return WithMask{b - a - c, u64{a} + c > b};
         }),
};
FASTDISPATCH_VECTOR_SUITE(VectorIntegerBinary, binary);

const VectorInstruction halves[] = {
    vop2("v_add_u16", [](u16 a, u16 b) { return static_cast<u16>(a + b); }),
    vop2("v_sub_u16", [](u16 a, u16 b) { return static_cast<u16>(a - b); }),
    vop2("v_subrev_u16", [](u16 a, u16 b) { return static_cast<u16>(b - a); }),
    vop2("v_mul_lo_u16", [](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }),
    vop2("v_lshlrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }),
    vop2("v_lshrrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); }),
    vop2("v_ashrrev_i16", [](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }),
    vop2("v_max_u16", [](u16 a, u16 b) { return std::max(a, b); }),
    vop2("v_max_i16", [](i16 a, i16 b) { return std::max(a, b); }),
    vop2("v_min_u16", [](u16 a, u16 b) { return std::min(a, b); }),
    vop2("v_min_i16", [](i16 a, i16 b) { return std::min(a, b); }),
};
FASTDISPATCH_VECTOR_SUITE(VectorIntegerHalves, halves);

i32 saturated(i64 value) { return static_cast<i32>(std::clamp<i64>(value, INT32_MIN, INT32_MAX)); }
i16 saturated_half(i32 value) { return static_cast<i16>(std::clamp<i32>(value, INT16_MIN, INT16_MAX)); }

// CLAMP makes integer results saturate.
const VectorInstruction saturating[] = {
    vop3("v_add_u32_e64", [](u32 a, u32 b) { return static_cast<u32>(std::min<u64>(u64{a} + b, 0xffffffff)); }),
    vop3("v_sub_u32_e64", [](u32 a, u32 b) { return a < b ? 0 : a - b; }),
    vop3("v_subrev_u32_e64", [](u32 a, u32 b) { return b < a ? 0 : b - a; }),
    vop3("v_add_u16_e64", [](u16 a, u16 b) { return static_cast<u16>(std::min(a + b, 0xffff)); }),
    vop3("v_sub_u16_e64", [](u16 a, u16 b) { return static_cast<u16>(a < b ? 0 : a - b); }),
    vop3("v_mad_u32_u24",
         [](u32 a, u32 b, u32 c) {
           return static_cast<u32>(std::min<u64>(product(low_24(a), low_24(b)) + c, 0xffffffff));
         }),
    vop3("v_mad_i32_i24", [](i32 a, i32 b, i32 c) { return saturated(product(low_24(a), low_24(b)) + c); }),
    vop3("v_add_i32", [](i32 a, i32 b) { return saturated(i64{a} + b); }),
    vop3("v_sub_i32", [](i32 a, i32 b) { return saturated(i64{a} - b); }),
    vop3("v_add_i16", [](i16 a, i16 b) { return saturated_half(a + b); }).within({.high_half_is_undefined = true}),
    vop3("v_sub_i16", [](i16 a, i16 b) { return saturated_half(a - b); }).within({.high_half_is_undefined = true}),
};
class VectorIntegerSaturating : public testing::TestWithParam<VectorInstruction> {};
TEST_P(VectorIntegerSaturating, MatchesTheManual) { expect_match(cases_of(GetParam().with_suffix("clamp"))); }
INSTANTIATE_TEST_SUITE_P(Isa, VectorIntegerSaturating, testing::ValuesIn(saturating),
                         [](const auto& row) { return test_name(row.param); });

// Every SDWA selector and DPP control, on representative instructions.
class SubDwordAndDataParallel : public testing::TestWithParam<VectorInstruction> {};
TEST_P(SubDwordAndDataParallel, MatchesTheManual) {
  expect_match(cases_of(GetParam().without({Form::e32, Form::e64}), Depth::all));
}
INSTANTIATE_TEST_SUITE_P(Isa, SubDwordAndDataParallel, testing::Values(unary[0], binary[16], binary[13], halves[0]),
                         [](const auto& row) { return test_name(row.param); });

}  // namespace
}  // namespace softgpu::isa::vector_integer
