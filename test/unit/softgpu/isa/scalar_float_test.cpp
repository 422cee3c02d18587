// Scalar floating-point instructions, which RDNA3.5 is the first to have.
#include <cfenv>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "float_rules.hpp"
#include "scalar_instruction.hpp"

namespace softgpu::isa::scalar_float {
namespace {

constexpr Options later = {.states = scalar_states, .gfx90a_lacks_them = true};

/// A result of which any quiet NaN will do is compared in a vector register: it moves there, and 0 takes its place.
std::vector<Case> with_any_nan(const ScalarInstruction& row, Tolerance tolerance = {}) {
  std::vector<Case> cases = cases_of(row);
  for (Case& each : cases) {
    const std::size_t number = each.assembly.find(" s") + 2;
    const auto destination = static_cast<unsigned>(std::stoul(each.assembly.substr(number)));
    const std::string name = "s" + std::to_string(destination);
    each.assembly += "\nv_mov_b32 v8, " + name + "\ns_mov_b32 " + name + ", 0";
    each.reference = [reference = each.reference, destination](MachineState& state) {
      reference(state);
      for (unsigned lane = 0; lane < lane_count; ++lane)
        if (state.active(lane)) state.vector[8][lane] = state.scalar.at(destination);
      state.scalar.at(destination) = 0;
    };
    each.float_results = {{.vgpr = 8, .type = row.operation.result, .tolerance = tolerance}};
  }
  return cases;
}

// NOLINTBEGIN(bugprone-macro-parentheses): a class's name can't be in parentheses
#define FASTDISPATCH_SCALAR_FLOAT_SUITE(SUITE, TABLE, CASES)                                                           \
  class SUITE : public testing::TestWithParam<ScalarInstruction> {};                                                   \
  TEST_P(SUITE, MatchesTheManual) { expect_match(CASES, later); }                                                      \
  INSTANTIATE_TEST_SUITE_P(Isa, SUITE, testing::ValuesIn(TABLE), [](const auto& row) { return row.param.mnemonic; })
// NOLINTEND(bugprone-macro-parentheses)

double wide(Half value) { return value; }

const ScalarInstruction arithmetic[] = {
    sop2("s_add_f32", [](float a, float b) { return a + b; }),
    sop2("s_sub_f32", [](float a, float b) { return a - b; }),
    sop2("s_mul_f32", [](float a, float b) { return a * b; }),
    sop2("s_fmac_f32", [](float a, float b, Old<float> d) { return std::fma(a, b, d.value); }),
    sop1("s_ceil_f32", [](float a) { return std::ceil(a); }),
    sop1("s_floor_f32", [](float a) { return std::floor(a); }),
    sop1("s_trunc_f32", [](float a) { return std::trunc(a); }),
    sop1("s_rndne_f32", [](float a) { return std::nearbyint(a); }),
    sop1("s_cvt_f32_f16", [](Half a) { return static_cast<float>(a); }),
    sop1("s_cvt_f16_f32", [](float a) { return Half(a); }),
    sop2("s_add_f16", [](Half a, Half b) { return Half(wide(a) + wide(b)); }),
    sop2("s_sub_f16", [](Half a, Half b) { return Half(wide(a) - wide(b)); }),
    sop2("s_mul_f16", [](Half a, Half b) { return Half(wide(a) * wide(b)); }),
    sop2("s_fmac_f16", [](Half a, Half b, Old<Half> d) { return fused_multiply_add(a, b, d.value); }),
    sop1("s_ceil_f16", [](Half a) { return Half(std::ceil(wide(a))); }),
    sop1("s_floor_f16", [](Half a) { return Half(std::floor(wide(a))); }),
    sop1("s_trunc_f16", [](Half a) { return Half(std::trunc(wide(a))); }),
    sop1("s_rndne_f16", [](Half a) { return Half(std::nearbyint(wide(a))); }),
};
FASTDISPATCH_SCALAR_FLOAT_SUITE(LaterScalarFloats, arithmetic, with_any_nan(GetParam()));

const ScalarInstruction bounds[] = {
    sop2("s_min_f32", [](float a, float b) { return minimum(a, b); }),
    sop2("s_max_f32", [](float a, float b) { return maximum(a, b); }),
    sop2("s_min_f16", [](Half a, Half b) { return minimum(a, b); }),
    sop2("s_max_f16", [](Half a, Half b) { return maximum(a, b); }),
};
FASTDISPATCH_SCALAR_FLOAT_SUITE(LaterScalarFloatBounds, bounds, with_any_nan(GetParam(), {.quiets = true}));

const ScalarInstruction without_nans[] = {
    sop1("s_cvt_f32_i32", [](i32 a) { return static_cast<float>(a); }),
    sop1("s_cvt_f32_u32", [](u32 a) { return static_cast<float>(a); }),
    sop1("s_cvt_i32_f32", [](float a) { return to_integer<i32>(a); }),
    sop1("s_cvt_u32_f32", [](float a) { return to_integer<u32>(a); }),
};
FASTDISPATCH_SCALAR_FLOAT_SUITE(LaterScalarFloatConversions, without_nans, cases_of(GetParam()));

template <class T>
std::vector<ScalarInstruction> comparisons_of(const std::string& type) {
  const auto compare = [&](const std::string& name, auto function) { return sopc("s_cmp_" + name + type, function); };
  return {
      compare("lt", [](T a, T b) { return a < b; }),
      compare("eq", [](T a, T b) { return a == b; }),
      compare("le", [](T a, T b) { return a <= b; }),
      compare("gt", [](T a, T b) { return a > b; }),
      compare("lg", [](T a, T b) { return a < b || a > b; }),
      compare("ge", [](T a, T b) { return a >= b; }),
      compare("o", [](T a, T b) { return !(a != a) && !(b != b); }),
      compare("u", [](T a, T b) { return a != a || b != b; }),
      compare("nge", [](T a, T b) { return !(a >= b); }),
      compare("nlg", [](T a, T b) { return !(a < b || a > b); }),
      compare("ngt", [](T a, T b) { return !(a > b); }),
      compare("nle", [](T a, T b) { return !(a <= b); }),
      compare("neq", [](T a, T b) { return !(a == b); }),
      compare("nlt", [](T a, T b) { return !(a < b); }),
  };
}
FASTDISPATCH_SCALAR_FLOAT_SUITE(LaterScalarFloatCompare, comparisons_of<float>("_f32"), cases_of(GetParam()));
FASTDISPATCH_SCALAR_FLOAT_SUITE(LaterScalarHalfCompare, comparisons_of<Half>("_f16"), cases_of(GetParam()));

void two_floats(MachineState& state, Random& random) {
  for (const unsigned n : {4U, 6U}) state.scalar.at(n) = static_cast<u32>(interesting_value(Type::float32, random));
}

/// The snippet leaves a float in s16, which `result` is of s4 and s6.
Case single(const std::string& snippet, float (*result)(float, float), const std::string& behind = {}) {
  return {.assembly = snippet + "\nv_mov_b32 v8, s16\ns_mov_b32 s16, 0" + behind,
          .prepare = two_floats,
          .reference =
              [result](MachineState& state) {
                const float value = result(from_bits<float>(state.scalar[4]), from_bits<float>(state.scalar[6]));
                for (unsigned lane = 0; lane < lane_count; ++lane)
                  if (state.active(lane)) state.vector[8][lane] = static_cast<u32>(to_bits(value));
                state.scalar[16] = 0;
              },
          .float_results = {{.vgpr = 8, .type = Type::float32}}};
}

TEST(LaterScalarFloat, FusedFormsTakeALiteral) {
  expect_match({single("s_fmaak_f32 s16, s4, s6, 0x3fc00000", [](float a, float b) { return std::fma(a, b, 1.5F); }),
                single("s_fmamk_f32 s16, s4, 0x3fc00000, s6", [](float a, float b) { return std::fma(a, 1.5F, b); }),
                single("s_fmaak_f32 s16, s4, -4.0, 0x3fc00000", [](float a, float) { return std::fma(a, -4.F, 1.5F); }),
                single("s_fmamk_f32 s16, s4, 0x3f800000, s6", [](float a, float b) { return a + b; })},
               later);
}

/// No signaling NaN stays one by an operation with a constant that is known while the kernel is translated. A suite is
/// a kernel: where one changes its rounding, the optimizer folds no constants.
TEST(LaterScalarFloatConstants, QuietNansAsRegistersDo) {
  std::vector<Case> cases = {
      single("s_mov_b32 s16, 1.0\ns_mul_f32 s16, s4, s16", [](float a, float) { return quiet(a); }),
      single("s_mov_b32 s16, 0\ns_sub_f32 s16, s4, s16", [](float a, float) { return quiet(a); }),
      single("s_mul_f32 s16, 1.0, s4", [](float a, float) { return quiet(a); })};
  for (Case& each : cases) each.float_results[0].tolerance.quiets = true;
  expect_match(cases, later);
}

/// The largest half where a float is too large; an infinity stays one.
TEST(LaterScalarFloat, TwoHalvesArePackedTowardZero) {
  expect_match({{.assembly = "s_cvt_pk_rtz_f16_f32 s16, s4, s6\nv_mov_b32 v8, s16\ns_mov_b32 s16, 0",
                 .prepare = two_floats,
                 .reference =
                     [](MachineState& state) {
                       const auto half = [&](unsigned n) {
                         return Half(from_bits<float>(state.scalar.at(n)), Rounding::toward_zero);
                       };
                       for (unsigned lane = 0; lane < lane_count; ++lane)
                         if (state.active(lane))
                           state.vector[8][lane] = static_cast<u32>(to_bits(PackedHalf{half(4), half(6)}));
                       state.scalar[16] = 0;
                     },
                 .float_results = {{.vgpr = 8, .type = Type::packed_float16}}}},
               later);
}

TEST(LaterScalarFloat, AnUpperHalfIsConverted) {
  const auto of = [](const std::string& source, u32 (*read)(const MachineState&)) {
    return Case{.assembly = "s_cvt_hi_f32_f16 s16, " + source + "\nv_mov_b32 v8, s16\ns_mov_b32 s16, 0",
                .prepare =
                    [](MachineState& state, Random& random) {
                      state.scalar[4] = static_cast<u32>(interesting_value(Type::float16, random)) << 16 |
                                        static_cast<u32>(interesting_value(Type::float16, random) & 0xffff);
                    },
                .reference =
                    [read](MachineState& state) {
                      const auto value = static_cast<float>(from_bits<Half>(read(state) >> 16));
                      for (unsigned lane = 0; lane < lane_count; ++lane)
                        if (state.active(lane)) state.vector[8][lane] = static_cast<u32>(to_bits(value));
                      state.scalar[16] = 0;
                    },
                .float_results = {{.vgpr = 8, .type = Type::float32, .tolerance = {.quiets = true}}}};
  };
  expect_match({of("s4", [](const MachineState& state) { return state.scalar[4]; }),
                of("0x12345678", [](const MachineState&) { return u32{0x12345678}; })},
               later);
}

float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.F, value) : value; }
Half flushed(Half value) { return (value.bits & 0x7c00) == 0 ? Half::from_bits(value.bits & 0x8000) : value; }

void tiny_numbers(MachineState& state, Random& random) {
  for (const unsigned n : {4U, 6U}) state.scalar.at(n) = static_cast<u32>(random() % 0x2000000 | random() << 31);
}
void tiny_halves(MachineState& state, Random& random) {
  for (const unsigned n : {4U, 6U}) state.scalar.at(n) = static_cast<u32>((random() & 0x87ff) | random() << 16);
}

/// MODE keeps denormals of sources with its lower bit and of results with its upper one.
TEST(LaterScalarFloat, DenormalsAreFlushedAsModeSays) {
  std::vector<Case> cases;
  for (const u32 kept : {0U, 1U, 2U, 3U}) {
    const auto in_mode = [&](const std::string& field, const std::string& snippet) {
      const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " + field + ", 2), ";
      return set + std::to_string(kept) + "\n" + snippet + "\n" + set + "3";
    };
    cases.push_back({.assembly = in_mode("4", "s_mul_f32 s16, 0.5, s4"),
                     .prepare = tiny_numbers,
                     .reference = [kept](MachineState& state) {
                       auto value = from_bits<float>(state.scalar[4]);
                       if ((kept & 1) == 0) value = flushed(value);
                       value *= 0.5F;
                       if ((kept & 2) == 0) value = flushed(value);
                       state.scalar[16] = static_cast<u32>(to_bits(value));
                     }});
    cases.push_back({.assembly = in_mode("6", "s_mul_f16 s16, 0.5, s4"),
                     .prepare = tiny_halves,
                     .reference = [kept](MachineState& state) {
                       auto value = from_bits<Half>(state.scalar[4]);
                       if ((kept & 1) == 0) value = flushed(value);
                       value = Half(0.5 * wide(value));
                       if ((kept & 2) == 0) value = flushed(value);
                       state.scalar[16] = value.bits;
                     }});
    cases.push_back({.assembly = in_mode("4", "s_cmp_lg_f32 s4, 0"),
                     .prepare = tiny_numbers,
                     .reference = [kept](MachineState& state) {
                       const auto value = from_bits<float>(state.scalar[4]);
                       state.scc = ((kept & 1) == 0 ? flushed(value) : value) != 0 ? 1 : 0;
                     }});
    cases.push_back({.assembly = in_mode("6", "s_cvt_hi_f32_f16 s16, s4"),
                     .prepare =
                         [](MachineState& state, Random& random) {
                           state.scalar[4] = static_cast<u32>((random() & 0x87ff) << 16 | (random() & 0xffff));
                         },
                     .reference =
                         [kept](MachineState& state) {
                           auto value = from_bits<Half>(state.scalar[4] >> 16);
                           if ((kept & 1) == 0) value = flushed(value);
                           state.scalar[16] = static_cast<u32>(to_bits(static_cast<float>(value)));
                         }});
  }
  expect_match(cases, later);
}

/// The host's arithmetic in one of MODE's rounding modes. Computed values have to be volatile to stay inside.
float rounded(u32 mode, float (*result)(float, float), float a, float b) {
  constexpr int host[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(host[mode]);
  const volatile float x = a;
  const volatile float y = b;
  const volatile float value = result(x, y);
  std::fesetround(FE_TONEAREST);
  return value;
}

TEST(LaterScalarFloat, SinglesRoundAsTheLowestBitsOfModeSay) {
  const auto finite = [](MachineState& state, Random& random) {
    for (const unsigned n : {4U, 6U})
      state.scalar.at(n) = static_cast<u32>((random() & 0x87ffffff) | 0x38000000);  // neither overflows nor vanishes
  };
  struct Row {
    const char* instruction;
    float (*result)(float, float);
  };
  const Row rows[] = {
      {"s_add_f32 s16, s4, s6", [](float a, float b) { return a + b; }},
      {"s_sub_f32 s16, s4, s6", [](float a, float b) { return a - b; }},
      {"s_mul_f32 s16, s4, s6", [](float a, float b) { return a * b; }},
      {"s_fmaak_f32 s16, s4, s6, 0x3fc00000", [](float a, float b) { return std::fma(a, b, 1.5F); }},
      {"s_fmamk_f32 s16, s4, 0x3fc00000, s6", [](float a, float b) { return std::fma(a, 1.5F, b); }},
      {"s_rndne_f32 s16, s4", [](float a, float) { return std::rint(a); }},
  };
  std::vector<Case> cases;
  for (const u32 mode : {1U, 2U, 3U}) {
    const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), ";
    for (const Row& row : rows) {
      const bool is_independent = std::string(row.instruction).starts_with("s_rndne");
      cases.push_back({.assembly = set + std::to_string(mode) + "\n" + row.instruction + "\n" + set + "0",
                       .prepare = finite,
                       .reference = [=, result = row.result](MachineState& state) {
                         const auto value =
                             rounded(is_independent ? 0 : mode, result, from_bits<float>(state.scalar[4]),
                                     from_bits<float>(state.scalar[6]));
                         state.scalar[16] = static_cast<u32>(to_bits(value));
                       }});
    }
    cases.push_back({.assembly = set + std::to_string(mode) + "\ns_cvt_f32_u32 s16, s4\n" + set + "0",
                     .prepare = {},
                     .reference = [mode](MachineState& state) {
                       // In two halves, of which each is exact.
                       const auto high = static_cast<float>(state.scalar[4] & 0xffff0000);
                       const auto low = static_cast<float>(state.scalar[4] & 0xffff);
                       state.scalar[16] = static_cast<u32>(to_bits(rounded(
                           mode, [](float a, float b) { return a + b; }, high, low)));
                     }});
  }
  expect_match(cases, later);
}

/// A half that was rounded toward zero, or its neighbour.
TEST(LaterScalarFloat, HalvesRoundAsTheNextBitsOfModeSay) {
  std::vector<Case> cases;
  const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), ";
  for (const u32 mode : {1U, 2U, 3U})
    for (const bool adds : {false, true}) {
      cases.push_back({.assembly = set + std::to_string(mode) + "\n" + (adds ? "s_add_f16" : "s_mul_f16") +
                                   " s16, s4, s6\n" + set + "0",
                       .prepare =
                           [](MachineState& state, Random& random) {
                             for (const unsigned n : {4U, 6U})
                               state.scalar.at(n) = static_cast<u32>((random() & 0x87ff) | 0x3800);
                           },
                       .reference =
                           [=](MachineState& state) {
                             const double a = wide(from_bits<Half>(state.scalar[4]));
                             const double b = wide(from_bits<Half>(state.scalar[6]));
                             const double exact = adds ? a + b : a * b;
                             Half value(exact, Rounding::toward_zero);
                             const bool goes_away = (mode == 1 && exact > 0) || (mode == 2 && exact < 0);
                             if (goes_away && wide(value) != exact) ++value.bits;
                             if (mode == 2 && adds && exact == 0) value = Half::from_bits(0x8000);
                             state.scalar[16] = value.bits;
                           }});
    }
  expect_match(cases, later);
}

/// DPP takes a scalar register as its second source.
TEST(LaterScalarFloat, DppTakesAScalarRegister) {
  expect_match({{.assembly = "v_add_f32_e64_dpp v8, v0, s4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
                 .prepare =
                     [](MachineState& state, Random& random) {
                       two_floats(state, random);
                       state.exec = ~u64{0};
                       for (u32& value : state.vector[0])
                         value = static_cast<u32>(interesting_value(Type::float32, random));
                     },
                 .reference =
                     [](MachineState& state) {
                       for (unsigned lane = 0; lane < lane_count; ++lane) {
                         if (!state.active(lane)) continue;
                         const auto sum =
                             from_bits<float>(state.vector[0][lane ^ 1]) + from_bits<float>(state.scalar[4]);
                         state.vector[8][lane] = static_cast<u32>(to_bits(sum));
                       }
                     },
                 .float_results = {{.vgpr = 8, .type = Type::float32}}}},
               later);
}

}  // namespace
}  // namespace softgpu::isa::scalar_float
