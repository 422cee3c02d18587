// SOP1, SOP2, SOPC and SOPK.
#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "scalar_instruction.hpp"

namespace softgpu::isa {
namespace {

// NOLINTBEGIN(bugprone-macro-parentheses): a class's name can't be in parentheses
#define FASTDISPATCH_SCALAR_SUITE(SUITE, TABLE)                                                                        \
  class SUITE : public testing::TestWithParam<ScalarInstruction> {};                                                   \
  TEST_P(SUITE, MatchesTheManual) { expect_match(cases_of(GetParam()), {.states = scalar_states}); }                   \
  INSTANTIATE_TEST_SUITE_P(Isa, SUITE, testing::ValuesIn(TABLE), [](const auto& row) { return row.param.mnemonic; })
// NOLINTEND(bugprone-macro-parentheses)

/// SCC tells whether the result is other than zero.
template <class T>
WithMask<T> nonzero(T value) {
  return {value, value != 0};
}

template <class T>
i32 count(T value) {
  return std::popcount(value);
}
template <class T>
i32 trailing_zeros(T value) {
  return value == 0 ? -1 : std::countr_zero(value);
}
template <class T>
i32 leading_zeros(T value) {
  return value == 0 ? -1 : std::countl_zero(value);
}
template <class T>
T without_sign(T value) {
  return value < 0 ? ~value : value;
}
template <class T>
T reversed(T value) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) result |= (value >> i & 1) << (8 * sizeof(T) - 1 - i);
  return result;
}
/// Each group of four bits becomes four ones if any of them is one.
template <class T>
T whole_quads(T value) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); i += 4) result |= (value >> i & 15) != 0 ? T{15} << i : 0;
  return result;
}
/// Each group of four bits becomes one bit.
template <class T>
T quad_mask(T value) {
  T result = 0;
  for (unsigned i = 0; i < 2 * sizeof(T); ++i) result |= T{(value >> (4 * i) & 15) != 0} << i;
  return result;
}
u32 magnitude(i32 value) { return value < 0 ? 0 - static_cast<u32>(value) : static_cast<u32>(value); }
u64 doubled_bits(u32 value) {
  u64 result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= u64{value >> i & 1} * 3 << (2 * i);
  return result;
}

const ScalarInstruction unary[] = {
    sop1("s_mov_b32", [](u32 a) { return a; }),
    sop1("s_mov_b64", [](u64 a) { return a; }),
    sop1("s_cmov_b32", [](u32 a, Condition scc, Old<u32> d) { return scc ? a : d.value; }),
    sop1("s_cmov_b64", [](u64 a, Condition scc, Old<u64> d) { return scc ? a : d.value; }),
    sop1("s_not_b32", [](u32 a) { return nonzero(~a); }),
    sop1("s_not_b64", [](u64 a) { return nonzero(~a); }),
    sop1("s_wqm_b32", [](u32 a) { return nonzero(whole_quads(a)); }),
    sop1("s_wqm_b64", [](u64 a) { return nonzero(whole_quads(a)); }),
    sop1("s_brev_b32", [](u32 a) { return reversed(a); }),
    sop1("s_brev_b64", [](u64 a) { return reversed(a); }),
    sop1("s_bcnt0_i32_b32", [](u32 a) { return nonzero(count(~a)); }),
    sop1("s_bcnt0_i32_b64", [](u64 a) { return nonzero(count(~a)); }),
    sop1("s_bcnt1_i32_b32", [](u32 a) { return nonzero(count(a)); }),
    sop1("s_bcnt1_i32_b64", [](u64 a) { return nonzero(count(a)); }),
    sop1("s_ff0_i32_b32", [](u32 a) { return trailing_zeros(~a); }),
    sop1("s_ff0_i32_b64", [](u64 a) { return trailing_zeros(~a); }),
    sop1("s_ff1_i32_b32", [](u32 a) { return trailing_zeros(a); }),
    sop1("s_ff1_i32_b64", [](u64 a) { return trailing_zeros(a); }),
    sop1("s_flbit_i32_b32", [](u32 a) { return leading_zeros(a); }),
    sop1("s_flbit_i32_b64", [](u64 a) { return leading_zeros(a); }),
    sop1("s_flbit_i32", [](i32 a) { return leading_zeros(static_cast<u32>(without_sign(a))); }),
    sop1("s_flbit_i32_i64", [](i64 a) { return leading_zeros(static_cast<u64>(without_sign(a))); }),
    sop1("s_sext_i32_i8", [](u32 a) { return i32{static_cast<std::int8_t>(a)}; }),
    sop1("s_sext_i32_i16", [](u32 a) { return i32{static_cast<i16>(a)}; }),
    sop1("s_bitset0_b32", [](u32 a, Old<u32> d) { return d.value & ~(u32{1} << (a & 31)); }),
    sop1("s_bitset0_b64", [](u32 a, Old<u64> d) { return d.value & ~(u64{1} << (a & 63)); }),
    sop1("s_bitset1_b32", [](u32 a, Old<u32> d) { return d.value | u32{1} << (a & 31); }),
    sop1("s_bitset1_b64", [](u32 a, Old<u64> d) { return d.value | u64{1} << (a & 63); }),
    sop1("s_quadmask_b32", [](u32 a) { return nonzero(quad_mask(a)); }),
    sop1("s_quadmask_b64", [](u64 a) { return nonzero(quad_mask(a)); }),
    sop1("s_abs_i32", [](i32 a) { return nonzero(magnitude(a)); }),
    sop1("s_bitreplicate_b64_b32", [](u32 a) { return doubled_bits(a); }),
};
FASTDISPATCH_SCALAR_SUITE(ScalarUnary, unary);

bool signed_sum_overflows(i32 a, i32 b) {
  return i64{a} + b != static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b));
}
bool signed_difference_overflows(i32 a, i32 b) {
  return i64{a} - b != static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b));
}
i32 wrapped_sum(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b)); }
i32 wrapped_difference(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b)); }

template <unsigned Shift>
WithMask<u32> shifted_sum(u32 a, u32 b) {
  const u64 sum = (u64{a} << Shift) + b;
  return {static_cast<u32>(sum), sum >> 32 != 0};
}

const ScalarInstruction arithmetic[] = {
    sop2("s_add_u32",
         [](u32 a, u32 b) {
           return WithMask{a + b, u64{a} + b > 0xffffffff};
         }),
    sop2("s_sub_u32",
         [](u32 a, u32 b) {
           return WithMask{a - b, b > a};
         }),
    sop2("s_add_i32",
         [](i32 a, i32 b) {
           return WithMask{wrapped_sum(a, b), signed_sum_overflows(a, b)};
         }),
    sop2("s_sub_i32",
         [](i32 a, i32 b) {
           return WithMask{wrapped_difference(a, b), signed_difference_overflows(a, b)};
         }),
    sop2("s_addc_u32",
         [](u32 a, u32 b, Condition scc) {
           return WithMask{a + b + scc, u64{a} + b + scc > 0xffffffff};
         }),
    sop2("s_subb_u32",
         [](u32 a, u32 b, Condition scc) {
           return WithMask{a - b - scc, u64{b} + scc > a};
         }),
    sop2("s_min_i32",
         [](i32 a, i32 b) {
           return WithMask{std::min(a, b), a < b};
         }),
    sop2("s_min_u32",
         [](u32 a, u32 b) {
           return WithMask{std::min(a, b), a < b};
         }),
    sop2("s_max_i32",
         [](i32 a, i32 b) {
           return WithMask{std::max(a, b), a > b};
         }),
    sop2("s_max_u32",
         [](u32 a, u32 b) {
           return WithMask{std::max(a, b), a > b};
         }),
    sop2("s_cselect_b32", [](u32 a, u32 b, Condition scc) { return scc ? a : b; }),
    sop2("s_cselect_b64", [](u64 a, u64 b, Condition scc) { return scc ? a : b; }),
    sop2("s_mul_i32", [](u32 a, u32 b) { return a * b; }),
    sop2("s_mul_hi_u32", [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }),
    sop2("s_mul_hi_i32", [](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }),
    sop2("s_absdiff_i32", [](i32 a, i32 b) { return nonzero(magnitude(wrapped_difference(a, b))); }),
    sop2("s_lshl1_add_u32", shifted_sum<1>),
    sop2("s_lshl2_add_u32", shifted_sum<2>),
    sop2("s_lshl3_add_u32", shifted_sum<3>),
    sop2("s_lshl4_add_u32", shifted_sum<4>),
    sopk("s_addk_i32",
         [](i32 k, Old<i32> d) {
           return WithMask{wrapped_sum(d.value, k), signed_sum_overflows(d.value, k)};
         }),
    sopk("s_mulk_i32",
         [](i32 k, Old<i32> d) { return static_cast<i32>(static_cast<u32>(d.value) * static_cast<u32>(k)); }),
    sopk("s_movk_i32", [](i32 k) { return k; }),
    sopk("s_cmovk_i32", [](i32 k, Condition scc, Old<i32> d) { return scc ? k : d.value; }),
};
FASTDISPATCH_SCALAR_SUITE(ScalarArithmetic, arithmetic);

// S1 of a field extract holds the offset from bit 0 on and the width from bit 16 on.
template <class T>
T field(T value, u32 place) {
  constexpr unsigned bits = 8 * sizeof(T);
  const unsigned offset = place & (bits - 1);
  const unsigned width = place >> 16 & 127;
  if (width == 0) return 0;
  if (offset + width >= bits) return static_cast<T>(value >> offset);
  return static_cast<T>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(value) << (bits - offset - width)) >>
                        (bits - width));
}
u64 place_in_word(std::size_t source, u64 bits) { return source == 1 ? bits & 0xff9fffff : bits; }
u64 place_in_pair(std::size_t source, u64 bits) { return source == 1 ? bits & 0xffbfffff : bits; }

const ScalarInstruction bit_operations[] = {
    sop2("s_and_b32", [](u32 a, u32 b) { return nonzero(a & b); }),
    sop2("s_and_b64", [](u64 a, u64 b) { return nonzero(a & b); }),
    sop2("s_or_b32", [](u32 a, u32 b) { return nonzero(a | b); }),
    sop2("s_or_b64", [](u64 a, u64 b) { return nonzero(a | b); }),
    sop2("s_xor_b32", [](u32 a, u32 b) { return nonzero(a ^ b); }),
    sop2("s_xor_b64", [](u64 a, u64 b) { return nonzero(a ^ b); }),
    sop2("s_andn2_b32", [](u32 a, u32 b) { return nonzero(a & ~b); }),
    sop2("s_andn2_b64", [](u64 a, u64 b) { return nonzero(a & ~b); }),
    sop2("s_orn2_b32", [](u32 a, u32 b) { return nonzero(a | ~b); }),
    sop2("s_orn2_b64", [](u64 a, u64 b) { return nonzero(a | ~b); }),
    sop2("s_nand_b32", [](u32 a, u32 b) { return nonzero(~(a & b)); }),
    sop2("s_nand_b64", [](u64 a, u64 b) { return nonzero(~(a & b)); }),
    sop2("s_nor_b32", [](u32 a, u32 b) { return nonzero(~(a | b)); }),
    sop2("s_nor_b64", [](u64 a, u64 b) { return nonzero(~(a | b)); }),
    sop2("s_xnor_b32", [](u32 a, u32 b) { return nonzero(~(a ^ b)); }),
    sop2("s_xnor_b64", [](u64 a, u64 b) { return nonzero(~(a ^ b)); }),
    sop2("s_lshl_b32", [](u32 a, u32 b) { return nonzero(a << (b & 31)); }),
    sop2("s_lshl_b64", [](u64 a, u32 b) { return nonzero(a << (b & 63)); }),
    sop2("s_lshr_b32", [](u32 a, u32 b) { return nonzero(a >> (b & 31)); }),
    sop2("s_lshr_b64", [](u64 a, u32 b) { return nonzero(a >> (b & 63)); }),
    sop2("s_ashr_i32", [](i32 a, u32 b) { return nonzero(a >> (b & 31)); }),
    sop2("s_ashr_i64", [](i64 a, u32 b) { return nonzero(a >> (b & 63)); }),
    sop2("s_bfm_b32", [](u32 a, u32 b) { return ((u32{1} << (a & 31)) - 1) << (b & 31); }),
    sop2("s_bfm_b64", [](u32 a, u32 b) { return ((u64{1} << (a & 63)) - 1) << (b & 63); }),
    sop2("s_bfe_u32", [](u32 a, u32 b) { return nonzero(field(a, b)); }).constrained(place_in_word),
    sop2("s_bfe_i32", [](i32 a, u32 b) { return nonzero(field(a, b)); }).constrained(place_in_word),
    sop2("s_bfe_u64", [](u64 a, u32 b) { return nonzero(field(a, b)); }).constrained(place_in_pair),
    sop2("s_bfe_i64", [](i64 a, u32 b) { return nonzero(field(a, b)); }).constrained(place_in_pair),
    sop2("s_pack_ll_b32_b16", [](u32 a, u32 b) { return (a & 0xffff) | b << 16; }),
    sop2("s_pack_lh_b32_b16", [](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }),
    sop2("s_pack_hh_b32_b16", [](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); }),
};
FASTDISPATCH_SCALAR_SUITE(ScalarBits, bit_operations);

const ScalarInstruction comparisons[] = {
    sopc("s_cmp_eq_i32", [](i32 a, i32 b) { return a == b; }),
    sopc("s_cmp_lg_i32", [](i32 a, i32 b) { return a != b; }),
    sopc("s_cmp_gt_i32", [](i32 a, i32 b) { return a > b; }),
    sopc("s_cmp_ge_i32", [](i32 a, i32 b) { return a >= b; }),
    sopc("s_cmp_lt_i32", [](i32 a, i32 b) { return a < b; }),
    sopc("s_cmp_le_i32", [](i32 a, i32 b) { return a <= b; }),
    sopc("s_cmp_eq_u32", [](u32 a, u32 b) { return a == b; }),
    sopc("s_cmp_lg_u32", [](u32 a, u32 b) { return a != b; }),
    sopc("s_cmp_gt_u32", [](u32 a, u32 b) { return a > b; }),
    sopc("s_cmp_ge_u32", [](u32 a, u32 b) { return a >= b; }),
    sopc("s_cmp_lt_u32", [](u32 a, u32 b) { return a < b; }),
    sopc("s_cmp_le_u32", [](u32 a, u32 b) { return a <= b; }),
    sopc("s_cmp_eq_u64", [](u64 a, u64 b) { return a == b; }),
    sopc("s_cmp_lg_u64", [](u64 a, u64 b) { return a != b; }),
    sopc("s_bitcmp0_b32", [](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; }),
    sopc("s_bitcmp1_b32", [](u32 a, u32 b) { return (a >> (b & 31) & 1) == 1; }),
    sopc("s_bitcmp0_b64", [](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; }),
    sopc("s_bitcmp1_b64", [](u64 a, u32 b) { return (a >> (b & 63) & 1) == 1; }),
    sopk("s_cmpk_eq_i32", [](i32 a, i32 k) { return a == k; }),
    sopk("s_cmpk_lg_i32", [](i32 a, i32 k) { return a != k; }),
    sopk("s_cmpk_gt_i32", [](i32 a, i32 k) { return a > k; }),
    sopk("s_cmpk_ge_i32", [](i32 a, i32 k) { return a >= k; }),
    sopk("s_cmpk_lt_i32", [](i32 a, i32 k) { return a < k; }),
    sopk("s_cmpk_le_i32", [](i32 a, i32 k) { return a <= k; }),
    sopk("s_cmpk_eq_u32", [](u32 a, u32 k) { return a == k; }),
    sopk("s_cmpk_lg_u32", [](u32 a, u32 k) { return a != k; }),
    sopk("s_cmpk_gt_u32", [](u32 a, u32 k) { return a > k; }),
    sopk("s_cmpk_ge_u32", [](u32 a, u32 k) { return a >= k; }),
    sopk("s_cmpk_lt_u32", [](u32 a, u32 k) { return a < k; }),
    sopk("s_cmpk_le_u32", [](u32 a, u32 k) { return a <= k; }),
};
FASTDISPATCH_SCALAR_SUITE(ScalarComparisons, comparisons);

/// M0 is added to the source's or the destination's number.
TEST(ScalarAlu, MovesByIndexReachTheRegisterThatM0Names) {
  const auto move = [](const std::string& assembly, unsigned dwords, bool moves_source) {
    return Case{.assembly = assembly,
                .prepare = [dwords](MachineState& state,
                                    Random& random) { state.m0 = static_cast<u32>(random() % 3 * dwords); },
                .reference =
                    [=](MachineState& state) {
                      const u64 value = state.scalar_value(moves_source ? 4 + state.m0 : 4, 4 * dwords);
                      state.set_scalar_value(moves_source ? 16 : 16 + state.m0, 4 * dwords, value);
                    }};
  };
  expect_match({move("s_movrels_b32 s16, s4", 1, true), move("s_movrels_b64 s[16:17], s[4:5]", 2, true),
                move("s_movreld_b32 s16, s4", 1, false), move("s_movreld_b64 s[16:17], s[4:5]", 2, false)});
}

}  // namespace
}  // namespace softgpu::isa
