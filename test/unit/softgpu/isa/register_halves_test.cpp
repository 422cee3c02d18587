// Instructions of 16 bits that choose halves of registers in each encoding (RDNA3 ISA, "16-bit Math and VGPRs"). Only
// newer assemblers write them: here their bits are set in what any assembler makes of whole registers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "assembler.hpp"
#include "float_rules.hpp"
#include "tested_target.hpp"
#include "vector_form.hpp"
#include "vector_instruction.hpp"

namespace softgpu::isa {
namespace {

/// The bits that choose the upper half of each operand: the sources', then the result's.
struct HalfBits {
  std::vector<u64> sources;
  u64 result;
};
constexpr u64 bit(unsigned n) { return u64{1} << n; }

HalfBits half_bits(const VectorInstruction& instruction, const VectorForm& form) {
  const bool has_dpp = form.dpp.has_value();
  if (form.suffix == "_e64" || instruction.encoding == Encoding::vop3) return {{bit(11), bit(12), bit(13)}, bit(14)};
  const u64 first = has_dpp ? bit(32 + 7) : bit(7);
  if (instruction.encoding == Encoding::vop1) return {{first}, bit(24)};
  return {{first, bit(16)}, bit(24)};
}

/// As text of numbers, with `bits` set, and with `opcode` in place of a VOP1 instruction's.
std::string with_bits(const std::string& text, u64 bits, std::optional<unsigned> opcode = std::nullopt) {
  std::vector<std::byte> code;
  try {
    code = assemble(text);
  } catch (const AssemblyError&) {
    return text;
  }
  std::array<u32, 3> dwords = {};
  std::memcpy(dwords.data(), code.data(), code.size());
  dwords[0] |= static_cast<u32>(bits);
  dwords[1] |= static_cast<u32>(bits >> 32);
  if (opcode && dwords[0] >> 31 == 0) dwords[0] = (dwords[0] & ~(0xffU << 9)) | *opcode << 9;
  if (opcode && dwords[0] >> 31 != 0) dwords[0] = (dwords[0] & ~(0x3ffU << 16)) | (0x180 + *opcode) << 16;
  std::string numbers = ".long " + std::to_string(dwords[0]);
  for (std::size_t n = 1; n < code.size() / 4; ++n) numbers += ", " + std::to_string(dwords[n]);
  return numbers;
}

/// `instruction` as `form` says, with each choice of halves of its operands of 16 bits.
std::vector<Case> in_halves(const VectorInstruction& instruction, const VectorForm& form,
                            std::optional<unsigned> opcode = std::nullopt) {
  const Operation& operation = instruction.operation;
  const HalfBits bits = half_bits(instruction, form);
  const std::size_t sources = std::min(form.sources.size(), bits.sources.size());
  const auto may_be_upper = [&](std::size_t n) {
    if (n == sources) return operation.writes_value && bytes_of(operation.result) == 2;
    return bytes_of(form.sources[n].type) == 2 && form.sources[n].kind == VectorOperand::Kind::vgpr;
  };
  std::vector<Case> cases;
  for (unsigned choice = 0; choice < 1U << (sources + 1); ++choice) {
    VectorForm chosen = form;
    chosen.high_halves.assign(form.sources.size(), false);
    u64 set = 0;
    bool is_possible = true;
    for (std::size_t n = 0; n <= sources; ++n) {
      if ((choice >> n & 1) == 0) continue;
      is_possible = is_possible && may_be_upper(n);
      set |= n == sources ? bits.result : bits.sources[n];
      if (n < sources)
        chosen.high_halves[n] = true;
      else
        chosen.result_in_high_half = true;
    }
    if (!is_possible) continue;
    Case made = case_of(instruction, chosen);
    made.assembly = with_bits(assembly_of(instruction, form), set, opcode);
    cases.push_back(std::move(made));
  }
  return cases;
}

VectorForm form_of(const VectorInstruction& instruction, const std::string& suffix) {
  VectorForm form{.suffix = suffix};
  for (const Type type : instruction.operation.sources)
    form.sources.push_back(vgpr(type, 2 * static_cast<unsigned>(form.sources.size())));
  if (suffix == "_dpp") form.dpp = Dpp{.control = quad_perm({3, 3, 0, 2}), .bound_control = true};
  return form;
}

/// Numbers whose sums and products are exact.
u64 small_numbers(std::size_t /*source*/, u64 bits) {
  const auto small = [](u64 seed) { return Half(static_cast<double>(seed % 32) - 16); };
  return to_bits(PackedHalf{small(bits), small(bits >> 16)});
}

const std::vector<VectorInstruction>& instructions() {
  static const std::vector<VectorInstruction> rows = [] {
    std::vector<VectorInstruction> result = {
        vop1("v_cvt_f32_f16", [](Half a) { return static_cast<float>(a); }),
        vop1("v_cvt_f16_f32", [](float a) { return Half(a); }),
        vop1("v_cvt_i32_i16", [](i16 a) { return i32{a}; }),
        vop1("v_cvt_u32_u16", [](u16 a) { return u32{a}; }),
        vop1("v_cvt_f16_u16", [](u16 a) { return Half(a); }),
        vop1("v_cvt_u16_f16", [](Half a) { return to_integer<u16>(a); }),
        vop1("v_floor_f16", [](Half a) { return Half(std::floor(static_cast<double>(a))); }),
        vop1("v_not_b16", [](u16 a) { return static_cast<u16>(~a); }),
        vop2("v_add_f16", [](Half a, Half b) { return Half(double{a} + double{b}); }),
        vop2("v_mul_f16", [](Half a, Half b) { return Half(double{a} * double{b}); }),
        vop2("v_ldexp_f16", [](Half a, i16 b) { return Half(std::ldexp(static_cast<double>(a), b)); }),
        vop2("v_fmac_f16", [](Half a, Half b, Old<Half> d) { return Half(double{a} * double{b} + double{d.value}); }),
        vopc("v_cmp_lt_f16", [](Half a, Half b) { return a < b; }),
        vopc("v_cmp_eq_u16", [](u16 a, u16 b) { return a == b; }),
        vopc("v_cmpx_gt_i16", [](i16 a, i16 b) { return a > b; }),
        vop3("v_add_nc_u16", [](u16 a, u16 b) { return static_cast<u16>(a + b); }),
        vop3("v_and_b16", [](u16 a, u16 b) { return static_cast<u16>(a & b); }),
        vop3("v_lshlrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }),
        vop3("v_mad_u16", [](u16 a, u16 b, u16 c) { return static_cast<u16>(a * b + c); }),
        vop3("v_pack_b32_f16", [](u16 a, u16 b) { return u32{a} | u32{b} << 16; }),
        vop3("v_cndmask_b16", [](u16 a, u16 b, Condition c) { return c ? b : a; }),
    };
    for (VectorInstruction& row : result)
      if (row.mnemonic.ends_with("_f16")) row = row.constrained(small_numbers);
    return result;
  }();
  return rows;
}

TEST(LaterRegisterHalves, OfRegistersAreChosenInEachEncoding) {
  if (!tested_target().architecture->names_register_halves || tests_rdna4())
    GTEST_SKIP() << "they are not chosen there, or not by the code that LLVM knows";
  std::vector<Case> cases;
  const auto add = [&](std::vector<Case> made) { cases.insert(cases.end(), made.begin(), made.end()); };
  for (const VectorInstruction& each : instructions()) {
    if (each.encoding == Encoding::vop3) {
      VectorForm form = form_of(each, "");
      form.mask_in_vcc = false;
      add(in_halves(each, form));
      continue;
    }
    add(in_halves(each, form_of(each, "_e32")));
    add(in_halves(each, form_of(each, "_e64")));
    if (!each.operation.writes_mask) add(in_halves(each, form_of(each, "_dpp")));
  }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

/// As another VOP1 instruction's assembly with the opcode in its place: LLVM knows it only from 19 on.
TEST(LaterRegisterHalves, AreMoved) {
  if (!tested_target().architecture->names_register_halves || tests_rdna4())
    GTEST_SKIP() << "they are not chosen there, or not by the code that LLVM knows";
  const VectorInstruction move = vop1("v_not_b16", [](u16 a) { return a; });
  constexpr unsigned v_mov_b16 = 0x1c;
  std::vector<Case> cases;
  for (const char* suffix : {"_e32", "_e64", "_dpp"}) {
    const std::vector<Case> made = in_halves(move, form_of(move, suffix), v_mov_b16);
    cases.insert(cases.end(), made.begin(), made.end());
  }
  for (const VectorOperand& source : {inline_integer(Type::uint16, -7), literal(Type::uint16, 0x3456)}) {
    VectorForm form = form_of(move, "_e32");
    form.sources[0] = source;
    const std::vector<Case> made = in_halves(move, form, v_mov_b16);
    cases.insert(cases.end(), made.begin(), made.end());
  }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

TEST(LaterRegisterHalves, AreSwapped) {
  if (!tested_target().architecture->names_register_halves || tests_rdna4())
    GTEST_SKIP() << "they are not chosen there, or not by the code that LLVM knows";
  constexpr unsigned v_swap_b16 = 0x66;
  std::vector<Case> cases;
  for (const bool upper_source : {false, true})
    for (const bool upper_destination : {false, true}) {
      const u64 bits = (upper_source ? bit(7) : 0) | (upper_destination ? bit(24) : 0);
      const auto swap = [=](MachineState& state) {
        for (unsigned lane = 0; lane < lane_count; ++lane) {
          if (!state.active(lane)) continue;
          const unsigned from = upper_source ? 16 : 0;
          const unsigned to = upper_destination ? 16 : 0;
          u32& source = state.vector[2][lane];
          u32& destination = state.vector[8][lane];
          const u32 difference = (source >> from ^ destination >> to) & 0xffff;
          source ^= difference << from;
          destination ^= difference << to;
        }
      };
      cases.push_back({.assembly = with_bits("v_not_b16_e32 v8, v2", bits, v_swap_b16),
                       .prepare = [](MachineState& /*state*/, Random& /*random*/) {},
                       .reference = swap});
    }
  expect_match(cases, {.gfx90a_lacks_them = true});
}

}  // namespace
}  // namespace softgpu::isa
