// Rounding modes other than to nearest even, set by s_setreg: bits 0 and 1 of MODE are for f32, 2 and 3 for f64 and
// f16.
#include <cfenv>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "float_rules.hpp"
#include "instruction_table.hpp"
#include "softgpu/compute/emit/rounding.hpp"
#include "vector_form.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa {
namespace {

struct Mode {
  u32 bits;
  int host;
};
constexpr Mode directed[] = {{1, FE_UPWARD}, {2, FE_DOWNWARD}, {3, FE_TOWARDZERO}};

/// The host rounds in the mode's direction while an object lives. Computed values have to be volatile to stay inside.
class HostRounding {
public:
  explicit HostRounding(int mode) { std::fesetround(mode); }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

template <class T>
T sum(const Mode& mode, T a, T b) {
  const HostRounding rounding(mode.host);
  const volatile T x = a;
  const volatile T y = b;
  const volatile T result = x + y;
  return result;
}
template <class T>
T product(const Mode& mode, T a, T b) {
  const HostRounding rounding(mode.host);
  const volatile T x = a;
  const volatile T y = b;
  const volatile T result = x * y;
  return result;
}
template <class T>
T multiply_add(const Mode& mode, T a, T b, T c) {
  const HostRounding rounding(mode.host);
  const volatile T x = a;
  const volatile T y = b;
  const volatile T z = c;
  const volatile T result = std::fma(x, y, z);
  return result;
}
template <class To, class From>
To converted(const Mode& mode, From value) {
  const HostRounding rounding(mode.host);
  const volatile From from = value;
  const volatile To result = static_cast<To>(from);
  return result;
}

/// A number that has been rounded to double in the mode's direction: rounded on, to half.
Half to_half(const Mode& mode, double value) {
  const Half truncated(value, Rounding::toward_zero);
  if (!std::isfinite(value)) return Half(value);
  const bool goes_away_from_zero = (mode.host == FE_UPWARD && value > 0) || (mode.host == FE_DOWNWARD && value < 0);
  if (!goes_away_from_zero || static_cast<double>(truncated) == value) return truncated;
  return Half::from_bits(static_cast<u16>(truncated.bits + 1));
}
Half sum_of_halves(const Mode& mode, double a, double b) { return to_half(mode, sum(mode, a, b)); }
Half product_of_halves(const Mode& mode, double a, double b) { return to_half(mode, product(mode, a, b)); }

/// Executes `row` with MODE's rounding as given; it is to nearest even before and after.
Case rounded(const VectorInstruction& row, const char* field, const Mode& mode) {
  VectorForm form;
  for (std::size_t i = 0; i < row.operation.sources.size(); ++i)
    form.sources.push_back(vgpr(row.operation.sources[i], static_cast<unsigned>(2 * i)));
  Case made = case_of(row, form);
  const std::string set = std::string("s_setreg_imm32_b32 hwreg(HW_REG_MODE, ") + field + "), ";
  made.assembly = set + std::to_string(mode.bits) + "\n" + made.assembly + "\n" + set + "0";
  return made;
}

TEST(VectorFloatRounding, SinglesRoundAsTheLowestBitsOfModeSay) {
  std::vector<Case> cases;
  for (const Mode& mode : directed) {
    const auto add = [&](const VectorInstruction& row) { cases.push_back(rounded(row, "0, 2", mode)); };
    add(vop3("v_add_f32", [mode](float a, float b) { return sum(mode, a, b); }));
    add(vop3("v_sub_f32", [mode](float a, float b) { return sum(mode, a, -b); }));
    add(vop3("v_mul_f32", [mode](float a, float b) { return product(mode, a, b); }));
    add(vop3("v_fma_f32", [mode](float a, float b, float c) { return multiply_add(mode, a, b, c); }));
    add(vop3("v_cvt_f32_f64", [mode](double a) { return converted<float>(mode, a); }));
    add(vop3("v_cvt_f32_u32", [mode](u32 a) { return converted<float>(mode, a); }));
    add(vop3("v_cvt_f32_i32", [mode](i32 a) { return converted<float>(mode, a); }));
    add(vop3("v_rndne_f32", [](float a) { return std::nearbyint(a); }));
    // Doubles have bits of their own.
    add(vop3("v_add_f64", [](double a, double b) { return a + b; }));
  }
  expect_match(cases);
}

TEST(VectorDoubleRounding, DoublesRoundAsTheNextBitsOfModeSay) {
  std::vector<Case> cases;
  for (const Mode& mode : directed) {
    const auto add = [&](const VectorInstruction& row) { cases.push_back(rounded(row, "2, 2", mode)); };
    add(vop3("v_add_f64", [mode](double a, double b) { return sum(mode, a, b); }));
    add(vop3("v_mul_f64", [mode](double a, double b) { return product(mode, a, b); }));
    add(vop3("v_fma_f64", [mode](double a, double b, double c) { return multiply_add(mode, a, b, c); }));
    add(vop3("v_rndne_f64", [](double a) { return std::nearbyint(a); }));
    add(vop3("v_mul_f32", [](float a, float b) { return a * b; }));
  }
  expect_match(cases);
}

TEST(VectorHalfRounding, HalvesRoundAsDoublesDo) {
  std::vector<Case> cases;
  for (const Mode& mode : directed) {
    const auto add = [&](const VectorInstruction& row) { cases.push_back(rounded(row, "2, 2", mode)); };
    const auto fused = [mode](Half a, Half b, Half c) {
      return to_half(mode, multiply_add(mode, double{a}, double{b}, double{c}));
    };
    const auto separate = [mode](Half a, Half b, Half c) {
      return sum_of_halves(mode, product_of_halves(mode, a, b), c);
    };
    add(vop3("v_add_f16", [mode](Half a, Half b) { return sum_of_halves(mode, a, b); }));
    add(vop3("v_sub_f16", [mode](Half a, Half b) { return sum_of_halves(mode, a, -double{b}); }));
    add(vop3("v_mul_f16", [mode](Half a, Half b) { return product_of_halves(mode, a, b); }));
    add(vop3("v_fma_f16", [=](Half a, Half b, Half c) { return LowHalf{fused(a, b, c)}; }));
    add(vop3("v_mad_f16", [=](Half a, Half b, Half c) { return LowHalf{separate(a, b, c)}; }));
    add(vop3("v_cvt_f16_f32", [mode](float a) { return to_half(mode, a); }));
    add(vop3("v_cvt_f16_u16", [mode](u16 a) { return to_half(mode, a); }));
    add(vop3("v_cvt_f16_i16", [mode](i16 a) { return to_half(mode, a); }));
    add(vop3("v_rndne_f16", [](Half a) { return Half(std::nearbyint(double{a})); }));
    add(vop3("v_max_f16", [](Half a, Half b) { return maximum(a, b); }));
    add(vop3("v_mul_f32", [](float a, float b) { return a * b; }));  // has bits of its own
  }
  expect_match(cases);
}

/// Packed halves: the first two sources are v0 and v2, the result goes to v8.
Case rounded_pair(const std::string& instruction, const Mode& mode,
                  const std::function<Half(Half a, Half b, Half c)>& function) {
  return {.assembly = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), " + std::to_string(mode.bits) + "\n" + instruction +
                      "\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0",
          .prepare =
              [](MachineState& state, Random& random) {
                for (const unsigned source : {0U, 2U, 4U})
                  for (u32& lane : state.vector[source])
                    lane = static_cast<u32>(interesting_value(Type::packed_float16, random)) & 0xbfffbfff;  // no NaN
              },
          .reference =
              [function](MachineState& state) {
                const auto half = [&](unsigned vgpr, unsigned lane, unsigned shift) {
                  return Half::from_bits(static_cast<u16>(state.vector[vgpr][lane] >> shift));
                };
                for (unsigned lane = 0; lane < lane_count; ++lane) {
                  if (!state.active(lane)) continue;
                  u32 result = 0;
                  for (const unsigned shift : {0U, 16U})
                    result |= u32{function(half(0, lane, shift), half(2, lane, shift), half(4, lane, shift)).bits}
                              << shift;
                  state.vector[8][lane] = result;
                }
              }};
}

TEST(VectorHalfRounding, PackedHalvesRoundAsDoublesDo) {
  std::vector<Case> cases;
  for (const Mode& mode : directed) {
    cases.push_back(rounded_pair("v_pk_add_f16 v8, v0, v2", mode,
                                 [mode](Half a, Half b, Half) { return sum_of_halves(mode, a, b); }));
    cases.push_back(rounded_pair("v_pk_mul_f16 v8, v0, v2", mode,
                                 [mode](Half a, Half b, Half) { return product_of_halves(mode, a, b); }));
    cases.push_back(rounded_pair("v_pk_fma_f16 v8, v0, v2, v4", mode, [mode](Half a, Half b, Half c) {
      return to_half(mode, multiply_add(mode, double{a}, double{b}, double{c}));
    }));
  }
  expect_match(cases);
}

/// FP16_OVFL: halves that overflow become the greatest number, while infinities stay what they are.
TEST(VectorHalfRounding, OverflowMayStopAtTheGreatestNumber) {
  const auto limited = [](Half a, Half b, double exact) {
    const Half result(exact);
    const bool overflows = std::isinf(double{result}) && std::isfinite(double{a}) && std::isfinite(double{b});
    return overflows ? Half(std::copysign(65504.0, exact)) : result;
  };
  std::vector<Case> cases;
  const auto add = [&](const VectorInstruction& row) {
    VectorForm form;
    for (std::size_t i = 0; i < row.operation.sources.size(); ++i)
      form.sources.push_back(vgpr(row.operation.sources[i], static_cast<unsigned>(2 * i)));
    Case made = case_of(row, form);
    made.assembly = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n" + made.assembly +
                    "\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0";
    cases.push_back(made);
  };
  add(vop3("v_mul_f16", [=](Half a, Half b) { return limited(a, b, double{a} * double{b}); }));
  add(vop3("v_add_f16", [=](Half a, Half b) { return limited(a, b, double{a} + double{b}); }));
  expect_match(cases);
}

/// Instructions that are not known to round as the host does are refused.
TEST(VectorFloatRounding, OtherInstructionsAreRefused) {
  for (const std::string mnemonic : {"v_ldexp_f32", "v_ldexp_f16"}) {
    const auto failure = refusal("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15\n" + mnemonic + " v8, v0, v2");
    if (!failure) FAIL() << mnemonic << " ran";
    EXPECT_NE(failure->text.find(mnemonic), std::string::npos) << failure->text;
    EXPECT_NE(failure->text.find("rounding"), std::string::npos) << failure->text;
  }
}

/// The host's code generator has to know all that they are made of.
TEST(VectorFloatRounding, EveryInstructionThatIsNotRefusedCompiles) {
  std::string text = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15\n";
  for (const auto& [mnemonic, entry] : instruction_table())
    for (const Sample& sample : entry.samples) {
      // LLVM 22 reads these; there are none.
      if (sample.form == "v_pk_fmac_f16_sdwa" || sample.form == "v_pk_fmac_f16_dpp") continue;
      if (compute::rounding_shift(mnemonic) || compute::is_independent_of_rounding(mnemonic))
        text += sample.text + "\n";
    }
  text += "v_add_f64 v[8:9], v[0:1], v[2:3] clamp\n";
  const auto failure = refusal(text + "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0");
  EXPECT_FALSE(failure.has_value()) << failure->text;
}

}  // namespace
}  // namespace softgpu::isa
