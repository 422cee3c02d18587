// MODE's IEEE and DX10_CLAMP bits off: the results of signalling NaNs in comparisons, and of clamped NaNs.
#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "float_rules.hpp"
#include "tested_target.hpp"
#include "vector_form.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa {
namespace {

/// Executes `row` with a bit of MODE off, which is on before and after.
Case without_bit(unsigned bit, const VectorInstruction& row) {
  VectorForm form;
  for (std::size_t i = 0; i < row.operation.sources.size(); ++i)
    form.sources.push_back(vgpr(row.operation.sources[i], static_cast<unsigned>(2 * i)));
  Case made = case_of(row, form);
  const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " + std::to_string(bit) + ", 1), ";
  made.assembly = set + "0\n" + made.assembly + "\n" + set + "1";
  return made;
}
constexpr unsigned dx10_clamp_bit = 8;
constexpr unsigned ieee_bit = 9;
bool has_bits() { return tested_target().architecture->has_float_modes_in_descriptor; }

/// Without IEEE a NaN of either kind loses against any number, and of two the second is the result, as it is.
template <class T>
T plain_minimum(T a, T b) {
  if (std::isnan(static_cast<double>(a))) return b;
  if (std::isnan(static_cast<double>(b))) return a;
  return minimum(a, b);
}
template <class T>
T plain_maximum(T a, T b) {
  if (std::isnan(static_cast<double>(a))) return b;
  if (std::isnan(static_cast<double>(b))) return a;
  return maximum(a, b);
}

template <class T>
void add_comparisons(std::vector<Case>& cases, const std::string& type) {
  cases.push_back(without_bit(ieee_bit, vop3("v_min_" + type, [](T a, T b) { return plain_minimum(a, b); })));
  cases.push_back(without_bit(ieee_bit, vop3("v_max_" + type, [](T a, T b) { return plain_maximum(a, b); })));
}

TEST(VectorFloatMode, WithoutIeeeSignallingNansLoseAgainstNumbers) {
  if (!has_bits()) GTEST_SKIP() << "RDNA4 has no such bits";
  std::vector<Case> cases;
  add_comparisons<float>(cases, "f32");
  add_comparisons<double>(cases, "f64");
  add_comparisons<Half>(cases, "f16");
  const auto add = [&](const VectorInstruction& row) { cases.push_back(without_bit(ieee_bit, row)); };
  add(vop3("v_min3_f32", [](float a, float b, float c) { return plain_minimum(plain_minimum(a, b), c); }));
  add(vop3("v_max3_f32", [](float a, float b, float c) { return plain_maximum(plain_maximum(a, b), c); }));
  add(vop3("v_med3_f32", [](float a, float b, float c) {
    if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return plain_minimum(plain_minimum(a, b), c);
    return median(a, b, c);
  }));
  // Arithmetic is the same.
  add(vop3("v_add_f32", [](float a, float b) { return a + b; }));
  add(vop3("v_mul_f64", [](double a, double b) { return a * b; }));
  expect_match(cases);
}

/// `clamp` in a mode: a NaN becomes 0 where DX10_CLAMP is on, or stays one.
template <class T>
T clamped(T value, bool keeps_nan) {
  const auto number = static_cast<double>(value);
  if (std::isnan(number)) return keeps_nan ? value : T(0);
  return number > 0 ? T(std::fmin(number, 1.0)) : T(0);
}

TEST(VectorFloatMode, ClampKeepsNansOnlyWithoutDx10Clamp) {
  if (!has_bits()) GTEST_SKIP() << "RDNA4 has no such bits";
  std::vector<Case> cases;
  for (const bool keeps_nan : {false, true}) {
    const auto add = [&](const VectorInstruction& row) {
      Case made = without_bit(dx10_clamp_bit, row.with_suffix(" clamp"));
      if (!keeps_nan) {
        const std::size_t first = made.assembly.find('\n') + 1;
        made.assembly = made.assembly.substr(first, made.assembly.rfind('\n') - first);
      }
      cases.push_back(made);
    };
    add(vop3("v_add_f32", [=](float a, float b) { return clamped(a + b, keeps_nan); }));
    add(vop3("v_mul_f64", [=](double a, double b) { return clamped(a * b, keeps_nan); }));
    add(vop3("v_max_f32", [=](float a, float b) { return clamped(maximum(a, b), keeps_nan); }));
    add(vop3("v_mul_f16", [=](Half a, Half b) { return clamped(Half(double{a} * double{b}), keeps_nan); }));
    add(vop3("v_trunc_f16", [=](Half a) { return clamped(Half(std::trunc(double{a})), keeps_nan); }));
  }
  expect_match(cases);
}

/// The same for both halves of packed operands, and for packed floats.
TEST(VectorPackedMode, ClampKeepsNansOnlyWithoutDx10Clamp) {
  if (!has_bits()) GTEST_SKIP() << "RDNA4 has no such bits";
  std::vector<Case> cases;
  for (const bool keeps_nan : {false, true}) {
    const auto add = [&](const char* instruction, const std::function<void(MachineState&, unsigned)>& lane_function) {
      std::ostringstream text;
      text << "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 8, 1), " << (keeps_nan ? 0 : 1) << "\n"
           << instruction << " clamp\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 8, 1), 1";
      Case made{.assembly = text.str(), .prepare = {}, .reference = {}};
      made.prepare = [](MachineState& state, Random& random) {
        constexpr u32 nans[] = {0x7e007e00, 0x3c007e00, 0x7e003800, 0x7fc00000};
        for (const unsigned source : {0U, 1U, 2U, 3U})
          for (u32& lane : state.vector[source])
            lane = source < 2 && random() % 3 == 0 ? nans[random() % 4]
                                                   : static_cast<u32>(interesting_value(Type::packed_float16, random));
      };
      made.reference = [lane_function](MachineState& state) {
        for (unsigned lane = 0; lane < lane_count; ++lane)
          if (state.active(lane)) lane_function(state, lane);
      };
      cases.push_back(std::move(made));
    };
    add("v_pk_mul_f16 v8, v0, v2", [=](MachineState& s, unsigned lane) {
      u32 result = 0;
      for (const unsigned shift : {0U, 16U}) {
        const auto a = Half::from_bits(static_cast<u16>(s.vector[0][lane] >> shift));
        const auto b = Half::from_bits(static_cast<u16>(s.vector[2][lane] >> shift));
        result |= u32{clamped(Half(double{a} * double{b}), keeps_nan).bits} << shift;
      }
      s.vector[8][lane] = result;
    });
    cases.back().float_results = {{8, Type::float16, {.high_half_is_undefined = true}}};
    add("v_pk_add_f32 v[8:9], v[0:1], v[2:3]", [=](MachineState& s, unsigned lane) {
      for (const unsigned n : {0U, 1U}) {
        const float sum = from_bits<float>(s.vector[n][lane]) + from_bits<float>(s.vector[2 + n][lane]);
        s.vector[8 + n][lane] = static_cast<u32>(to_bits(clamped(sum, keeps_nan)));
      }
    });
    cases.back().float_results = {{8, Type::float32}, {9, Type::float32}};
  }
  expect_match(cases);
}

}  // namespace
}  // namespace softgpu::isa
