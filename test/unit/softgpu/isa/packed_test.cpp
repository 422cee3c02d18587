// VOP3P: packed 16-bit and 32-bit arithmetic, dot products, mixed precision.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "assembler.hpp"
#include "float_rules.hpp"
#include "harness.hpp"
#include "operation.hpp"
#include "tested_target.hpp"
#include "vector_form.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::packed {
namespace {

u64 unconstrained(Type /*type*/, u64 bits) { return bits; }

struct PackedInstruction {
  std::string mnemonic;
  Operation operation;
  std::function<u64(Type type, u64 bits)> constrain = unconstrained;
  Tolerance tolerance = {};
};
void PrintTo(const PackedInstruction& instruction, std::ostream* stream) { *stream << instruction.mnemonic; }

template <class F>
PackedInstruction packed(std::string mnemonic, F function) {
  return {std::move(mnemonic), operation(function)};
}

/// The modifiers, a bit for each source: which half makes the low and the high result, which one is negated.
struct Arrangement {
  unsigned op_sel = 0, op_sel_hi = 7, neg_lo = 0, neg_hi = 0;

  [[nodiscard]] std::string text(std::size_t sources) const {
    std::ostringstream text;
    const auto list = [&](const char* name, unsigned bits, unsigned usual) {
      if (bits == usual) return;
      text << " " << name << ":[";
      for (std::size_t i = 0; i < sources; ++i) text << (i == 0 ? "" : ",") << (bits >> i & 1);
      text << "]";
    };
    list("op_sel", op_sel, 0);
    list("op_sel_hi", op_sel_hi, 7);
    list("neg_lo", neg_lo, 0);
    list("neg_hi", neg_hi, 0);
    return text.str();
  }
  [[nodiscard]] u64 apply(unsigned source, u64 bits, unsigned half_width) const {
    const u64 mask = (u64{1} << half_width) - 1;
    const u64 sign = u64{1} << (half_width - 1);
    const auto half = [&](unsigned high, unsigned negated) {
      return ((high >> source & 1) != 0 ? bits >> half_width & mask : bits & mask) ^
             ((negated >> source & 1) != 0 ? sign : 0);
    };
    return half(op_sel, neg_lo) | half(op_sel_hi, neg_hi) << half_width;
  }
};

/// Operands in v0, v2, v4; `scalar` names the source that is an SGPR (pair) instead, if any.
Case case_of(const PackedInstruction& row, Arrangement arrangement, std::optional<std::size_t> scalar = {}) {
  const Operation& operation = row.operation;
  std::vector<VectorOperand> sources;
  for (std::size_t i = 0; i < operation.sources.size(); ++i) {
    const auto first = static_cast<unsigned>(2 * i);
    sources.push_back(scalar == i ? sgpr(operation.sources[i], 4 + first) : vgpr(operation.sources[i], first));
  }
  std::string text = row.mnemonic + " " + registers('v', result_vgpr, registers_of(operation.result));
  for (const VectorOperand& source : sources) text += ", " + source.text();
  text += arrangement.text(sources.size());

  Case made{.assembly = std::move(text), .prepare = {}, .reference = {}};
  made.prepare = [row, sources](MachineState& state, Random& random) {
    for (const VectorOperand& source : sources) {
      const auto value = [&] { return row.constrain(source.type, interesting_value(source.type, random)); };
      if (source.kind == VectorOperand::Kind::sgpr)
        state.set_scalar_value(source.first, bytes_of(source.type), value());
      else
        for (unsigned lane = 0; lane < lane_count; ++lane)
          state.set_vector_value(source.first, lane, bytes_of(source.type), value());
    }
  };
  made.reference = [operation, sources, arrangement](MachineState& state) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (!state.active(lane)) continue;
      Lane values;
      for (unsigned i = 0; i < sources.size(); ++i) {
        const Type type = sources[i].type;
        const u64 bits = sources[i].read(state, lane);
        const bool is_packed = type == Type::packed_16 || type == Type::packed_float16 || type == Type::packed_float32;
        values.source.at(i) = is_packed ? arrangement.apply(i, bits, bytes_of(type) * 4) : bits;
      }
      state.set_vector_value(result_vgpr, lane, bytes_of(operation.result), operation.evaluate(values));
    }
  };
  if (operation.result != Type::packed_16)
    made.float_results = {{.vgpr = result_vgpr, .type = operation.result, .tolerance = row.tolerance}};
  return made;
}

/// One operation on both halves.
template <class F>
auto on_halves(F function) {
  return [function](PackedHalf a, PackedHalf b) {
    return PackedHalf{function(a.low, b.low), function(a.high, b.high)};
  };
}
template <class F>
auto on_unsigned(F function) {
  return [function](PackedU16 a, PackedU16 b) {
    return PackedU16{static_cast<u16>(function(a.low, b.low)), static_cast<u16>(function(a.high, b.high))};
  };
}
template <class F>
auto on_signed(F function) {
  return [function](PackedI16 a, PackedI16 b) {
    return PackedI16{static_cast<i16>(function(a.low, b.low)), static_cast<i16>(function(a.high, b.high))};
  };
}

const PackedInstruction integers[] = {
    packed("v_pk_mad_i16",
           [](PackedI16 a, PackedI16 b, PackedI16 c) {
             return PackedI16{static_cast<i16>(a.low * b.low + c.low), static_cast<i16>(a.high * b.high + c.high)};
           }),
    packed("v_pk_mad_u16",
           [](PackedU16 a, PackedU16 b, PackedU16 c) {
             return PackedU16{static_cast<u16>(u32{a.low} * b.low + c.low),
                              static_cast<u16>(u32{a.high} * b.high + c.high)};
           }),
    packed("v_pk_mul_lo_u16", on_unsigned([](u32 a, u32 b) { return a * b; })),
    packed("v_pk_add_i16", on_signed([](i32 a, i32 b) { return a + b; })),
    packed("v_pk_sub_i16", on_signed([](i32 a, i32 b) { return a - b; })),
    packed("v_pk_add_u16", on_unsigned([](u32 a, u32 b) { return a + b; })),
    packed("v_pk_sub_u16", on_unsigned([](u32 a, u32 b) { return a - b; })),
    packed("v_pk_lshlrev_b16", on_unsigned([](u32 a, u32 b) { return b << (a & 15); })),
    packed("v_pk_lshrrev_b16", on_unsigned([](u32 a, u32 b) { return b >> (a & 15); })),
    packed("v_pk_ashrrev_i16", on_signed([](i32 a, i32 b) { return b >> (a & 15); })),
    packed("v_pk_max_i16", on_signed([](i32 a, i32 b) { return std::max(a, b); })),
    packed("v_pk_min_i16", on_signed([](i32 a, i32 b) { return std::min(a, b); })),
    packed("v_pk_max_u16", on_unsigned([](u32 a, u32 b) { return std::max(a, b); })),
    packed("v_pk_min_u16", on_unsigned([](u32 a, u32 b) { return std::min(a, b); })),
};

const PackedInstruction floats[] = {
    packed("v_pk_fma_f16",
           [](PackedHalf a, PackedHalf b, PackedHalf c) {
             return PackedHalf{fused_multiply_add(a.low, b.low, c.low), fused_multiply_add(a.high, b.high, c.high)};
           }),
    packed("v_pk_add_f16", on_halves([](double a, double b) { return Half(a + b); })),
    packed("v_pk_mul_f16", on_halves([](double a, double b) { return Half(a * b); })),
    {"v_pk_min_f16", operation(on_halves(minimum<Half>)), unconstrained, {.quiets = true}},
    {"v_pk_max_f16", operation(on_halves(maximum<Half>)), unconstrained, {.quiets = true}},
    packed("v_pk_fma_f32",
           [](PackedFloat a, PackedFloat b, PackedFloat c) {
             return PackedFloat{std::fma(a.low, b.low, c.low), std::fma(a.high, b.high, c.high)};
           }),
    packed("v_pk_mul_f32",
           [](PackedFloat a, PackedFloat b) {
             return PackedFloat{a.low * b.low, a.high * b.high};
           }),
    packed("v_pk_add_f32",
           [](PackedFloat a, PackedFloat b) {
             return PackedFloat{a.low + b.low, a.high + b.high};
           }),
};

i32 signed_part(u32 word, unsigned width, unsigned index) {
  return static_cast<i32>(word << (32 - width * (index + 1))) >> (32 - width);
}
u32 part(u32 word, unsigned width, unsigned index) { return word << (32 - width * (index + 1)) >> (32 - width); }
i32 signed_dot(u32 a, u32 b, i32 sum, unsigned width) {
  i64 result = sum;
  for (unsigned i = 0; i < 32 / width; ++i) result += i64{signed_part(a, width, i)} * signed_part(b, width, i);
  return static_cast<i32>(result);
}
u32 unsigned_dot(u32 a, u32 b, u32 sum, unsigned width) {
  for (unsigned i = 0; i < 32 / width; ++i) sum += part(a, width, i) * part(b, width, i);
  return sum;
}

/// Small whole numbers: their products and sums are exact whatever the order of roundings.
u64 whole_numbers(Type type, u64 bits) {
  const auto small = [](u64 seed) { return static_cast<double>(seed % 128) - 64; };
  if (type == Type::float32) return to_bits(static_cast<float>(small(bits)));
  return to_bits(PackedHalf{Half(small(bits)), Half(small(bits >> 16))});
}
/// CDNA's takes and gives denormals as zeros, whatever MODE says.
float dot(PackedHalf a, PackedHalf b, float c) {
  const bool flushes = !tested_target().architecture->is_rdna();
  const auto number = [&](Half half) { return flushes && (half.bits & 0x7c00) == 0 ? 0 : double{half}; };
  const auto single = [&](float value) { return flushes && std::fabs(value) < 0x1p-126F ? 0 : value; };
  return single(
      static_cast<float>(number(a.low) * number(b.low) + number(a.high) * number(b.high) + double{single(c)}));
}

const PackedInstruction dots[] = {
    packed("v_dot2_i32_i16", [](u32 a, u32 b, i32 c) { return signed_dot(a, b, c, 16); }),
    packed("v_dot2_u32_u16", [](u32 a, u32 b, u32 c) { return unsigned_dot(a, b, c, 16); }),
    packed("v_dot4_i32_i8", [](u32 a, u32 b, i32 c) { return signed_dot(a, b, c, 8); }),
    packed("v_dot4_u32_u8", [](u32 a, u32 b, u32 c) { return unsigned_dot(a, b, c, 8); }),
    packed("v_dot8_i32_i4", [](u32 a, u32 b, i32 c) { return signed_dot(a, b, c, 4); }),
    packed("v_dot8_u32_u4", [](u32 a, u32 b, u32 c) { return unsigned_dot(a, b, c, 4); }),
    {"v_dot2_f32_f16", operation(dot), whole_numbers},
};

class VectorPacked : public testing::TestWithParam<PackedInstruction> {};
TEST_P(VectorPacked, MatchesTheManual) {
  const PackedInstruction& row = GetParam();
  const bool has_signs = row.operation.result != Type::packed_16;
  const unsigned all = (1U << row.operation.sources.size()) - 1;
  std::vector<Case> cases = {case_of(row, {})};
  for (const Arrangement arrangement : {Arrangement{.op_sel = 1}, Arrangement{.op_sel = 2, .op_sel_hi = 5},
                                        Arrangement{.op_sel = 7 & all, .op_sel_hi = 0}, Arrangement{.op_sel_hi = 6}})
    cases.push_back(case_of(row, arrangement));
  for (const Arrangement arrangement :
       {Arrangement{.neg_lo = 1}, Arrangement{.neg_hi = 2}, Arrangement{.neg_lo = all, .neg_hi = 1},
        Arrangement{.op_sel = 1, .op_sel_hi = 6, .neg_lo = 1, .neg_hi = 2}})
    if (has_signs) cases.push_back(case_of(row, arrangement));
  for (std::size_t i = 0; i < row.operation.sources.size(); ++i) cases.push_back(case_of(row, {}, i));
  expect_match(cases);
}
std::string name(const testing::TestParamInfo<PackedInstruction>& row) { return row.param.mnemonic; }
INSTANTIATE_TEST_SUITE_P(Isa, VectorPacked, testing::ValuesIn(integers), name);
INSTANTIATE_TEST_SUITE_P(IsaFloat, VectorPacked, testing::ValuesIn(floats), name);

/// Of the two packed sources any halves may be taken.
TEST(VectorPacked, DotsOfHalvesMayBeOfOtherHalves) {
  std::vector<Case> cases;
  for (const Arrangement arrangement :
       {Arrangement{.op_sel_hi = 5}, Arrangement{.op_sel = 2, .op_sel_hi = 7}, Arrangement{.op_sel = 1, .op_sel_hi = 6},
        Arrangement{.neg_lo = 1, .neg_hi = 2}, Arrangement{.op_sel = 3, .op_sel_hi = 4, .neg_lo = 3, .neg_hi = 1}})
    cases.push_back(case_of({"v_dot2_f32_f16", operation(dot), whole_numbers}, arrangement));
  expect_match(cases);
}

TEST(VectorPacked, DotsOfHalvesMayHaveDenormals) {
  expect_match({case_of({"v_dot2_f32_f16", operation(dot),
                         [](Type type, u64 bits) -> u64 {
                           if (type != Type::float32) return bits & 0x04010401;  // 2^-14, 2^-24, both or 0
                           return bits % 2 == 0 ? 1 : to_bits(0x1p-24F);
                         }},
                        {})});
}

/// A constant in place of a source, and the dword that it is: integers have their sign in the upper half; numbers are
/// halves and 0 for instructions of halves, single precision for those of integers.
struct PackedConstant {
  std::string text;
  u32 bits;
  unsigned field = 0;  ///< of the encoding, where the assembler refuses the text
};
const PackedConstant integer_constants[] = {{"3", 3}, {"64", 64}, {"-1", ~0U}, {"-16", 0xfffffff0}};
const PackedConstant half_numbers[] = {{"1.0", 0x3c00}, {"-0.5", 0xb800}, {"0.15915494", 0x3118}};
const PackedConstant single_numbers[] = {
    {"0.5", 0x3f000000, 240},  {"-0.5", 0xbf000000, 241}, {"1.0", 0x3f800000, 242},
    {"-1.0", 0xbf800000, 243}, {"2.0", 0x40000000, 244},  {"-2.0", 0xc0000000, 245},
    {"4.0", 0x40800000, 246},  {"-4.0", 0xc0800000, 247}, {"0.15915494", 0x3e22f983, 248}};
const PackedConstant literals[] = {{"0x3c014002", 0x3c014002}, {"0x1234", 0x1234}, {"0x4000", 0x4000}};

std::vector<PackedConstant> constants_for(const PackedInstruction& row) {
  std::vector<PackedConstant> constants(std::begin(integer_constants), std::end(integer_constants));
  const auto append = [&](const auto& more) { constants.insert(constants.end(), std::begin(more), std::end(more)); };
  if (row.operation.sources.front() == Type::packed_float16) {
    append(half_numbers);
  } else {
    append(single_numbers);
  }
  if (tested_target().architecture->major >= 10) append(literals);  // VOP3P has no literals before
  return constants;
}

/// The VOP3P instruction `text` as numbers, with `field` in place of the encoding of source `place`. As it was where
/// the tested architecture lacks it.
std::string with_source_field(const std::string& text, std::size_t place, unsigned field) {
  if (!spelled_for_target(text)) return text;
  std::array<u32, 2> dwords = {};
  std::vector<std::byte> code;
  try {
    code = assemble(text);
  } catch (const AssemblyError&) {
    return text;
  }
  if (code.size() != sizeof dwords) throw std::logic_error(text + " is no VOP3P instruction");
  std::memcpy(dwords.data(), code.data(), sizeof dwords);
  const std::size_t shift = 9 * place;
  dwords[1] = (dwords[1] & ~(0x1ffU << shift)) | field << shift;
  return ".long " + std::to_string(dwords[0]) + ", " + std::to_string(dwords[1]);
}

Case with_constant(const PackedInstruction& row, Arrangement arrangement, std::size_t place,
                   const PackedConstant& constant) {
  Case made = case_of(row, arrangement);
  if (constant.field != 0) {
    made.assembly = with_source_field(made.assembly, place, constant.field);
  } else {
    const std::string source = "v" + std::to_string(2 * place);
    made.assembly.replace(made.assembly.find(", " + source) + 2, source.size(), constant.text);
  }
  made.reference = [register_of = 2 * place, bits = constant.bits, reference = made.reference](MachineState& state) {
    const auto kept = state.vector[register_of];
    state.vector[register_of].fill(bits);
    reference(state);
    state.vector[register_of] = kept;
  };
  return made;
}

TEST_P(VectorPacked, TakesTheUpperHalfOfAConstantFromBits16To31) {
  const PackedInstruction& row = GetParam();
  if (bytes_of(row.operation.result) != 4) GTEST_SKIP() << "pairs of dwords";
  std::vector<Case> cases;
  for (std::size_t place = 0; place < row.operation.sources.size(); ++place)
    for (const PackedConstant& constant : constants_for(row))
      for (const Arrangement arrangement :
           {Arrangement{}, Arrangement{.op_sel = 7}, Arrangement{.op_sel = 7, .op_sel_hi = 0}})
        cases.push_back(with_constant(row, arrangement, place, constant));
  expect_match(cases);
}

class VectorDot : public testing::TestWithParam<PackedInstruction> {};
TEST_P(VectorDot, MatchesTheManual) {
  std::vector<Case> cases = {case_of(GetParam(), {})};
  for (std::size_t i = 0; i < 3; ++i) cases.push_back(case_of(GetParam(), {}, i));
  expect_match(cases);
}
TEST_P(VectorDot, TakesConstantsAsDwords) {
  std::vector<Case> cases;
  for (const std::size_t place : {0U, 1U})
    for (const PackedConstant& constant : constants_for(GetParam()))
      cases.push_back(with_constant(GetParam(), {}, place, constant));
  expect_match(cases);
}
INSTANTIATE_TEST_SUITE_P(Isa, VectorDot, testing::ValuesIn(dots), name);

/// RDNA3: the first two bits of neg_lo say whose parts have signs.
TEST(LaterDots, OfEitherSignMatchTheManual) {
  const auto value = [](u32 word, unsigned width, unsigned index, bool is_signed) {
    return is_signed ? i64{signed_part(word, width, index)} : i64{part(word, width, index)};
  };
  std::vector<Case> cases;
  for (const unsigned width : {8U, 4U})
    for (const bool clamps : {false, true})
      for (unsigned signs = 0; signs < 4; ++signs) {
        const auto dot = [=](u32 a, u32 b, i32 c) {
          i64 sum = c;
          for (unsigned n = 0; n < 32 / width; ++n)
            sum += value(a, width, n, (signs & 1) != 0) * value(b, width, n, (signs & 2) != 0);
          return static_cast<i32>(clamps ? std::clamp(sum, i64{INT32_MIN}, i64{INT32_MAX}) : sum);
        };
        const PackedInstruction row = packed(width == 8 ? "v_dot4_i32_iu8" : "v_dot8_i32_iu4", dot);
        for (const std::optional<std::size_t> scalar : {std::optional<std::size_t>(), {0}, {1}, {2}}) {
          cases.push_back(case_of(row, {.neg_lo = signs}, scalar));
          if (clamps) cases.back().assembly += " clamp";
        }
      }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

/// RDNA3: the sum is a half, too, and op_sel picks the halves of S2 and of the destination.
const VectorInstruction dot_to_half = vop3("v_dot2_f16_f16", [](PackedHalf a, PackedHalf b, Half c) {
  return LowHalf{Half(double{a.low} * double{b.low} + double{a.high} * double{b.high} + double{c})};
});

/// Whole numbers of which every sum is exact as a half.
u64 smaller_numbers(std::size_t /*source*/, u64 bits) {
  const auto small = [](u64 seed) { return Half(static_cast<double>(seed % 32) - 16); };
  return to_bits(PackedHalf{small(bits), small(bits >> 16)});
}

VectorForm dot_form() {
  return {.sources = {vgpr(Type::packed_float16, 0), vgpr(Type::packed_float16, 2), vgpr(Type::float16, 4)}};
}

TEST(LaterDots, ToHalvesMatchTheManual) {
  const VectorInstruction row = dot_to_half.constrained(smaller_numbers).without({Form::constant});
  std::vector<Case> cases = cases_of(row);
  for (const bool high_source : {false, true})
    for (const bool high_result : {false, true}) {
      VectorForm form = dot_form();
      form.high_halves = {false, false, high_source};
      form.result_in_high_half = high_result;
      cases.push_back(case_of(row, form));
    }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

/// LLVM 15's assembler knows registers only, so that fields are set by hand. An inline constant stands for both halves.
TEST(LaterDots, ToHalvesTakeScalarsAndConstants) {
  const VectorInstruction row = dot_to_half.constrained(smaller_numbers);
  std::vector<Case> cases;
  for (const std::size_t place : {0U, 1U}) {
    const auto add = [&](unsigned field, const VectorOperand& source) {
      VectorForm form = dot_form();
      const std::string in_registers = assembly_of(row, form);
      form.sources[place] = source;
      cases.push_back(case_of(row, form));
      cases.back().assembly = with_source_field(in_registers, place, field);
    };
    add(4, sgpr(Type::packed_float16, 4));
    for (const auto& [field, half] : {std::pair{128U, 0U}, {129U, 0x0001U}, {193U, 0xffffU}, {242U, 0x3c00U}})
      add(field, {.kind = VectorOperand::Kind::constant, .type = Type::packed_float16, .constant = half << 16 | half});
  }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

/// One product, which may be inexact, denormal, or too large for a half.
u64 one_product(std::size_t source, u64 bits) {
  if (source == 0) return bits & 0xffff;
  return source == 1 ? to_bits(Half(static_cast<double>(bits % 128) + 1)) : 0;
}

TEST(LaterDots, ToHalvesRoundToNearestAndKeepDenormalsInEveryMode) {
  std::vector<Case> cases;
  const auto in_mode = [&](const std::string& field, u32 usual, u32 bits, const VectorInstruction& instruction) {
    const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " + field + "), ";
    cases.push_back(case_of(instruction.constrained(one_product), dot_form()));
    cases.back().assembly =
        set + std::to_string(bits) + "\n" + cases.back().assembly + "\n" + set + std::to_string(usual);
  };
  for (const u32 rounding : {1U, 2U, 3U}) in_mode("2, 2", 0, rounding, dot_to_half);
  for (const u32 denormals : {0U, 1U, 2U}) in_mode("6, 2", 3, denormals, dot_to_half);
  // FP16_OVFL: the greatest number in place of infinity
  in_mode("23, 1", 0, 1, vop3("v_dot2_f16_f16", [](PackedHalf a, PackedHalf b, Half c) {
            const double sum = double{a.low} * double{b.low} + double{c};
            const bool overflows = std::isfinite(sum) && std::isinf(double{Half(sum)});
            return LowHalf{overflows ? Half(std::copysign(65504.0, sum)) : Half(sum)};
          }));
  expect_match(cases, {.gfx90a_lacks_them = true});
}

/// CLAMP saturates integers and limits numbers to the range from 0 to 1.
u16 to_u16(i32 value) { return static_cast<u16>(std::clamp(value, 0, 0xffff)); }
i16 to_i16(i32 value) { return static_cast<i16>(std::clamp(value, -0x8000, 0x7fff)); }
Half to_unit(double value) { return Half(value > 0 ? std::min(value, 1.0) : 0.0); }

const PackedInstruction clamping[] = {
    packed("v_pk_add_u16", on_unsigned([](u32 a, u32 b) { return to_u16(static_cast<i32>(a + b)); })),
    packed("v_pk_sub_u16", on_unsigned([](u32 a, u32 b) { return to_u16(static_cast<i32>(a) - static_cast<i32>(b)); })),
    packed("v_pk_add_i16", on_signed([](i32 a, i32 b) { return to_i16(a + b); })),
    packed("v_pk_sub_i16", on_signed([](i32 a, i32 b) { return to_i16(a - b); })),
    packed("v_pk_add_f16", on_halves([](double a, double b) { return to_unit(a + b); })),
    packed("v_pk_mul_f16", on_halves([](double a, double b) { return to_unit(a * b); })),
};
class VectorPackedClamp : public testing::TestWithParam<PackedInstruction> {};
TEST_P(VectorPackedClamp, MatchesTheManual) {
  Case made = case_of(GetParam(), {});
  made.assembly += " clamp";
  expect_match({made});
}
INSTANTIATE_TEST_SUITE_P(Isa, VectorPackedClamp, testing::ValuesIn(clamping), name);

/// Moves a half of the first source and a half of the second.
TEST(VectorPacked, MovesAPairByItsHalves) {
  std::vector<Case> cases;
  for (unsigned selection = 0; selection < 4; ++selection) {
    const PackedInstruction row = packed("v_pk_mov_b32", [selection](u64 a, u64 b) {
      const u64 low = (selection & 1) != 0 ? a >> 32 : a & 0xffffffff;
      const u64 high = (selection & 2) != 0 ? b >> 32 : b & 0xffffffff;
      return low | high << 32;
    });
    cases.push_back(case_of(row, {}));
    cases.back().assembly += " op_sel:[" + std::to_string(selection & 1) + "," + std::to_string(selection >> 1) + "]";
  }
  expect_match(cases);
}

/// Each source of a mixed multiply-add is an f32, or the f16 in one half of its register.
class VectorMixedPrecision : public testing::TestWithParam<std::string> {};
TEST_P(VectorMixedPrecision, MatchesTheManual) {
  std::vector<Case> cases;
  for (const auto& [op_sel, op_sel_hi] :
       {std::pair{0U, 0U}, {0U, 7U}, {7U, 7U}, {1U, 3U}, {4U, 4U}, {2U, 2U}, {0U, 5U}}) {
    const Arrangement halves{.op_sel = op_sel, .op_sel_hi = op_sel_hi};
    std::ostringstream text;
    text << GetParam() << " v8, v0, -v2, |v4|";
    text << " op_sel:[" << (op_sel & 1) << "," << (op_sel >> 1 & 1) << "," << (op_sel >> 2) << "]";
    text << " op_sel_hi:[" << (op_sel_hi & 1) << "," << (op_sel_hi >> 1 & 1) << "," << (op_sel_hi >> 2) << "]";
    const auto is_half = [=](unsigned source) { return (halves.op_sel_hi >> source & 1) != 0; };
    const auto shift = [=](unsigned source) { return (halves.op_sel >> source & 1) != 0 ? 16U : 0U; };
    const std::string mnemonic = GetParam();
    Case made{.assembly = text.str(), .prepare = {}, .reference = {}};
    made.prepare = [=](MachineState& state, Random& random) {
      for (unsigned source = 0; source < 3; ++source)
        for (u32& word : state.vector[2 * source])
          word = static_cast<u32>(interesting_value(is_half(source) ? Type::packed_float16 : Type::float32, random));
    };
    made.reference = [=](MachineState& state) {
      for (unsigned lane = 0; lane < lane_count; ++lane) {
        if (!state.active(lane)) continue;
        std::array<float, 3> value = {};
        for (unsigned source = 0; source < 3; ++source) {
          const u32 word = state.vector[2 * source][lane];
          value[source] =
              is_half(source) ? static_cast<float>(from_bits<Half>(word >> shift(source))) : from_bits<float>(word);
        }
        const float result = std::fma(value[0], -value[1], std::fabs(value[2]));
        u32& destination = state.vector[result_vgpr][lane];
        const u32 half = Half(result).bits;
        if (mnemonic == "v_fma_mix_f32")
          destination = static_cast<u32>(to_bits(result));
        else
          destination =
              mnemonic == "v_fma_mixlo_f16" ? (destination & 0xffff0000) | half : (destination & 0xffff) | half << 16;
      }
    };
    made.float_results = {
        {.vgpr = result_vgpr, .type = mnemonic == "v_fma_mix_f32" ? Type::float32 : Type::packed_float16}};
    cases.push_back(std::move(made));
  }
  expect_match(cases);
}
INSTANTIATE_TEST_SUITE_P(Isa, VectorMixedPrecision,
                         testing::Values("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace softgpu::isa::packed
