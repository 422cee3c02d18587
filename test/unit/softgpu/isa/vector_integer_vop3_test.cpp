// Integer and bit instructions that only the VOP3 encoding has.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "vector_suite.hpp"

namespace softgpu::isa::vector_integer_vop3 {
namespace {

u32 byte(u64 value, unsigned index) { return static_cast<u32>(value >> (8 * index)) & 0xff; }
u32 low_24(u32 value) { return value & 0xffffff; }
i32 low_24(i32 value) { return static_cast<i32>(static_cast<u32>(value) << 8) >> 8; }
u32 ones(u32 count) { return (u32{1} << (count & 31)) - 1; }
u64 joined(u32 high, u32 low) { return u64{high} << 32 | low; }

template <class T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

i32 signed_field(i32 value, u32 offset, u32 width) {
  if (width == 0) return 0;
  if (offset + width >= 32) return value >> offset;
  return static_cast<i32>(static_cast<u32>(value) << (32 - offset - width)) >> (32 - width);
}

u32 sum_of_differences(u32 a, u32 b, u32 sum) {
  for (unsigned i = 0; i < 4; ++i)
    sum += static_cast<u32>(std::abs(static_cast<int>(byte(a, i)) - static_cast<int>(byte(b, i))));
  return sum;
}
/// The same without the bytes where the second operand, the mask, is zero.
u32 masked_sum_of_differences(u32 a, u32 b, u32 sum) {
  for (unsigned i = 0; i < 4; ++i)
    if (byte(b, i) != 0) sum += static_cast<u32>(std::abs(static_cast<int>(byte(a, i)) - static_cast<int>(byte(b, i))));
  return sum;
}
/// One sum for each of four windows of `a`, which start a byte apart.
template <class Sum>
u64 four_windows(u64 a, u32 b, u64 sums, Sum sum) {
  u64 result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= u64{sum(static_cast<u32>(a >> (8 * i)), b, static_cast<u32>(sums >> (16 * i)) & 0xffff) & 0xffff}
              << (16 * i);
  return result;
}

u32 permuted(u32 a, u32 b, u32 selectors) {
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 selector = byte(selectors, i);
    u32 value = 0xff;
    if (selector < 8)
      value = byte(joined(a, b), selector);
    else if (selector < 12)
      value = (byte(joined(a, b), 2 * (selector - 8) + 1) & 0x80) != 0 ? 0xff : 0;
    else if (selector == 12)
      value = 0;
    result |= value << (8 * i);
  }
  return result;
}
u32 averaged_bytes(u32 a, u32 b, u32 rounding) {
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) result |= (byte(a, i) + byte(b, i) + (byte(rounding, i) & 1)) >> 1 << (8 * i);
  return result;
}
u32 packed(u32 low, u32 high) { return (low & 0xffff) | high << 16; }
u32 saturated_half(i32 value) { return static_cast<u32>(std::clamp(value, -32768, 32767)); }

WithMask<u64> multiply_add(u32 a, u32 b, u64 c) {
  const u64 sum = u64{a} * b + c;
  return {sum, sum < c};
}
/// The mask is bit 64 of the exact sum.
WithMask<i64> multiply_add(i32 a, i32 b, i64 c) {
  i64 sum = 0;
  const bool overflow = __builtin_add_overflow(i64{a} * b, c, &sum);
  return {sum, (sum < 0) != overflow};
}

const VectorInstruction words[] = {
    vop3("v_mad_i32_i24", [](i32 a, i32 b, i32 c) { return static_cast<i32>(i64{low_24(a)} * low_24(b) + c); }),
    vop3("v_mad_u32_u24", [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{low_24(a)} * low_24(b) + c); }),
    vop3("v_bfe_u32", [](u32 a, u32 b, u32 c) { return a >> (b & 31) & ones(c); }),
    vop3("v_bfe_i32", [](i32 a, u32 b, u32 c) { return signed_field(a, b & 31, c & 31); }),
    vop3("v_bfi_b32", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }),
    vop3("v_bfm_b32", [](u32 a, u32 b) { return ones(a) << (b & 31); }),
    vop3("v_alignbit_b32", [](u32 a, u32 b, u32 c) { return static_cast<u32>(joined(a, b) >> (c & 31)); }),
    vop3("v_alignbyte_b32", [](u32 a, u32 b, u32 c) { return static_cast<u32>(joined(a, b) >> (8 * (c & 3))); })
        .constrained([](std::size_t source, u64 bits) { return source == 2 ? bits & 3 : bits; })
        .without({Form::constant}),
    vop3("v_min3_i32",
         [](i32 a, i32 b, i32 c) {
           return std::min({a, b, c});
         }),
    vop3("v_min3_u32",
         [](u32 a, u32 b, u32 c) {
           return std::min({a, b, c});
         }),
    vop3("v_max3_i32",
         [](i32 a, i32 b, i32 c) {
           return std::max({a, b, c});
         }),
    vop3("v_max3_u32",
         [](u32 a, u32 b, u32 c) {
           return std::max({a, b, c});
         }),
    vop3("v_med3_i32", [](i32 a, i32 b, i32 c) { return median(a, b, c); }),
    vop3("v_med3_u32", [](u32 a, u32 b, u32 c) { return median(a, b, c); }),
    vop3("v_add3_u32", [](u32 a, u32 b, u32 c) { return a + b + c; }),
    vop3("v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }),
    vop3("v_lshl_add_u32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }),
    vop3("v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return a << (b & 31) | c; }),
    vop3("v_and_or_b32", [](u32 a, u32 b, u32 c) { return (a & b) | c; }),
    vop3("v_or3_b32", [](u32 a, u32 b, u32 c) { return a | b | c; }),
    vop3("v_xad_u32", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }),
    vop3("v_add_i32", [](u32 a, u32 b) { return a + b; }),
    vop3("v_sub_i32", [](u32 a, u32 b) { return a - b; }),
    vop3("v_mul_lo_u32", [](u32 a, u32 b) { return a * b; }),
    vop3("v_mul_hi_u32", [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }),
    vop3("v_mul_hi_i32", [](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }),
    vop3("v_bcnt_u32_b32", [](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }),
    vop3("v_perm_b32", [](u32 a, u32 b, u32 c) { return permuted(a, b, c); }),
    vop3("v_perm_b32", [](u32 a, u32 b, u32 c) { return permuted(a, b, c); })
        .constrained([](std::size_t source, u64 bits) { return source == 2 ? bits & 0x0f0f0f0f : bits; })
        .with_suffix("; in range"),
    vop3("v_lerp_u8", [](u32 a, u32 b, u32 c) { return averaged_bytes(a, b, c); }),
    vop3("v_sad_u8", [](u32 a, u32 b, u32 c) { return sum_of_differences(a, b, c); }),
    vop3("v_sad_hi_u8", [](u32 a, u32 b, u32 c) { return (sum_of_differences(a, b, 0) << 16) + c; }),
    vop3("v_sad_u16",
         [](PackedU16 a, PackedU16 b, u32 c) {
           return static_cast<u32>(std::abs(a.low - b.low)) + static_cast<u32>(std::abs(a.high - b.high)) + c;
         })
        .without({Form::constant}),
    vop3("v_sad_u32", [](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }),
    vop3("v_msad_u8", [](u32 a, u32 b, u32 c) { return masked_sum_of_differences(a, b, c); }),
    vop3("v_cvt_pk_u16_u32", [](u32 a, u32 b) { return packed(std::min(a, 0xffffU), std::min(b, 0xffffU)); }),
    vop3("v_cvt_pk_i16_i32", [](i32 a, i32 b) { return packed(saturated_half(a), saturated_half(b)); }),
};
FASTDISPATCH_VECTOR_SUITE(VectorIntegerVop3, words);

// The sums are kept below 16 bits: the manual does not say whether they saturate.
u64 small_sums(std::size_t source, u64 bits) { return source == 2 ? bits & 0x7fff7fff7fff7fff : bits; }
const VectorInstruction wide[] = {
    vop3("v_lshlrev_b64", [](u32 a, u64 b) { return b << (a & 63); }),
    vop3("v_lshrrev_b64", [](u32 a, u64 b) { return b >> (a & 63); }),
    vop3("v_ashrrev_i64", [](u32 a, i64 b) { return b >> (a & 63); }),
    vop3("v_mad_u64_u32", [](u32 a, u32 b, u64 c) { return multiply_add(a, b, c); }),
    vop3("v_mad_i64_i32", [](i32 a, i32 b, i64 c) { return multiply_add(a, b, c); }),
    vop3("v_qsad_pk_u16_u8", [](u64 a, u32 b, u64 c) { return four_windows(a, b, c, sum_of_differences); })
        .constrained(small_sums)
        .without({Form::constant, Form::in_place}),
    vop3("v_mqsad_pk_u16_u8", [](u64 a, u32 b, u64 c) { return four_windows(a, b, c, masked_sum_of_differences); })
        .constrained(small_sums)
        .without({Form::constant, Form::in_place}),
};
FASTDISPATCH_VECTOR_SUITE(VectorIntegerWide, wide);

TEST(VectorIntegerWide, MaskedQuadSumWithFourAccumulators) {
  expect_match(
      {Case{.assembly = "v_mqsad_u32_u8 v[8:11], v[0:1], v2, v[4:7]", .prepare = {}, .reference = [](MachineState& s) {
              for (unsigned lane = 0; lane < lane_count; ++lane)
                for (unsigned i = 0; i < 4 && s.active(lane); ++i)
                  s.vector[8 + i][lane] =
                      masked_sum_of_differences(static_cast<u32>(s.vector_value(0, lane, 8) >> (8 * i)),
                                                s.vector[2][lane], s.vector[4 + i][lane]);
            }}});
}

template <class T>
LowHalf<T> low(int value) {
  return LowHalf<T>{static_cast<T>(value)};
}
constexpr Tolerance low_half_only = {.high_half_is_undefined = true};

const VectorInstruction halves[] = {
    vop3("v_mad_u16", [](u16 a, u16 b, u16 c) { return low<u16>(static_cast<int>(u32{a} * b + c)); }).with_op_sel(),
    vop3("v_mad_i16", [](i16 a, i16 b, i16 c) { return low<i16>(a * b + c); }).with_op_sel(),
    vop3("v_mad_legacy_u16", [](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }),
    vop3("v_mad_legacy_i16", [](i16 a, i16 b, i16 c) { return static_cast<i16>(a * b + c); }),
    vop3("v_mad_u32_u16", [](u16 a, u16 b, u32 c) { return u32{a} * b + c; }).with_op_sel(),
    vop3("v_mad_i32_i16", [](i16 a, i16 b, i32 c) { return static_cast<i32>(i64{a} * b + c); }).with_op_sel(),
    vop3("v_add_i16", [](i16 a, i16 b) { return low<i16>(a + b); }).with_op_sel().within(low_half_only),
    vop3("v_sub_i16", [](i16 a, i16 b) { return low<i16>(a - b); }).with_op_sel().within(low_half_only),
    vop3("v_min3_i16",
         [](i16 a, i16 b, i16 c) {
           return low<i16>(std::min({a, b, c}));
         })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_min3_u16",
         [](u16 a, u16 b, u16 c) {
           return low<u16>(std::min({a, b, c}));
         })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_max3_i16",
         [](i16 a, i16 b, i16 c) {
           return low<i16>(std::max({a, b, c}));
         })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_max3_u16",
         [](u16 a, u16 b, u16 c) {
           return low<u16>(std::max({a, b, c}));
         })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_med3_i16", [](i16 a, i16 b, i16 c) { return low<i16>(median(a, b, c)); })
        .with_op_sel()
        .within(low_half_only),
    vop3("v_med3_u16", [](u16 a, u16 b, u16 c) { return low<u16>(median(a, b, c)); })
        .with_op_sel()
        .within(low_half_only),
};
FASTDISPATCH_VECTOR_SUITE(VectorIntegerHalvesVop3, halves);

}  // namespace
}  // namespace softgpu::isa::vector_integer_vop3
