// Instructions of CDNA3, RDNA2 and RDNA3 that gfx90a lacks. An architecture without the instructions of a test skips
// the test.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "byte_float_rules.hpp"
#include "float_rules.hpp"
#include "tested_target.hpp"
#include "vector_form.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa::later_instructions {
namespace {

constexpr Options later = {.gfx90a_lacks_them = true};

const VectorInstruction integers[] = {
    vop3("v_xor3_b32", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; }),
    vop3("v_maxmin_i32", [](i32 a, i32 b, i32 c) { return std::min(std::max(a, b), c); }),
    vop3("v_minmax_i32", [](i32 a, i32 b, i32 c) { return std::max(std::min(a, b), c); }),
    vop3("v_maxmin_u32", [](u32 a, u32 b, u32 c) { return std::min(std::max(a, b), c); }),
    vop3("v_minmax_u32", [](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), c); }),
    vop3("v_lshl_add_u64", [](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }),
    vop1("v_mov_b64", [](u64 a) { return a; }).without({Form::literal}),
    vop1("v_cvt_i32_i16", [](i16 a) { return i32{a}; }),
    vop1("v_cvt_u32_u16", [](u16 a) { return u32{a}; }),
};
FASTDISPATCH_VECTOR_SUITE(LaterIntegers, integers, .gfx90a_lacks_them = true);

LowHalf<u16> low(u32 value) { return {static_cast<u16>(value)}; }
const VectorInstruction halves[] = {
    vop3("v_add_nc_u16", [](u16 a, u16 b) { return low(u32{a} + b); }).with_op_sel(),
    vop3("v_sub_nc_u16", [](u16 a, u16 b) { return low(u32{a} - b); }).with_op_sel(),
    vop3("v_and_b16", [](u16 a, u16 b) { return low(u32{a} & b); }).with_op_sel(),
    vop3("v_or_b16", [](u16 a, u16 b) { return low(u32{a} | b); }).with_op_sel(),
    vop3("v_xor_b16", [](u16 a, u16 b) { return low(u32{a} ^ b); }).with_op_sel(),
    vop1("v_not_b16", [](u16 a) { return low(~u32{a}); }),
    vop3("v_cndmask_b16", [](u16 a, u16 b, Condition second) { return low(second ? b : a); }).with_op_sel(),
};
FASTDISPATCH_VECTOR_SUITE(LaterHalves, halves, .gfx90a_lacks_them = true);

Half fused(Half a, Half b, Half c) {
  return Half(std::fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)));
}
constexpr Tolerance quiets = {.quiets = true};
const VectorInstruction floats[] = {
    vop3("v_maxmin_f32", [](float a, float b, float c) { return minimum(maximum(a, b), c); }).within(quiets),
    vop3("v_minmax_f32", [](float a, float b, float c) { return maximum(minimum(a, b), c); }).within(quiets),
    vop3("v_maxmin_f16", [](Half a, Half b, Half c) { return LowHalf{minimum(maximum(a, b), c)}; }).within(quiets),
    vop3("v_minmax_f16", [](Half a, Half b, Half c) { return LowHalf{maximum(minimum(a, b), c)}; }).within(quiets),
    vop3("v_cvt_pk_i16_f32",
         [](float a, float b) {
           return PackedI16{to_integer<i16>(a), to_integer<i16>(b)};
         }),
    vop3("v_cvt_pk_u16_f32",
         [](float a, float b) {
           return PackedU16{to_integer<u16>(a), to_integer<u16>(b)};
         }),
    vop2("v_fmac_f16", [](Half a, Half b, Old<Half> d) { return LowHalf{fused(a, b, d.value)}; }),
};
FASTDISPATCH_VECTOR_SUITE(LaterFloats, floats, .gfx90a_lacks_them = true);

/// A factor of zero gives the addend. RDNA3 has other names.
float fused_legacy(float a, float b, float c) { return a == 0 || b == 0 ? 0 + c : std::fma(a, b, c); }
const VectorInstruction legacy_floats[] = {
    vop3("v_fma_legacy_f32", fused_legacy),
    vop2("v_fmac_legacy_f32", [](float a, float b, Old<float> d) { return fused_legacy(a, b, d.value); }),
};
FASTDISPATCH_VECTOR_SUITE(LaterLegacyFloats, legacy_floats, .gfx90a_lacks_them = true);

/// v_fmamk: v0 * constant + v2, v_fmaak: v0 * v2 + constant.
TEST(LaterFloats, FusedMultiplyAddTakesALiteral) {
  const auto single = [](float a, float b, float c) { return std::fma(a, b, c); };
  const auto half = [](Half a, Half b, Half c) { return LowHalf{fused(a, b, c)}; };
  const VectorOperand single_constant = literal(Type::float32, 0x40490fdb);
  const VectorOperand half_constant = literal(Type::float16, 0x4248);
  expect_match({case_of(vop3("v_fmamk_f32", single), multiply_add_form(Type::float32, single_constant, false)),
                case_of(vop3("v_fmaak_f32", single), multiply_add_form(Type::float32, single_constant, true)),
                case_of(vop3("v_fmamk_f16", half), multiply_add_form(Type::float16, half_constant, false)),
                case_of(vop3("v_fmaak_f16", half), multiply_add_form(Type::float16, half_constant, true))},
               later);
}

u64 two_floats(float low, float high) { return std::bit_cast<u32>(low) | u64{std::bit_cast<u32>(high)} << 32; }
template <const ByteFloatRules& (*rules)()>
float widened(u32 bits) {
  return rules().widen(static_cast<std::uint8_t>(bits));
}
template <const ByteFloatRules& (*rules)()>
u64 two_widened(u32 bits) {
  return two_floats(widened<rules>(bits), widened<rules>(bits >> 8));
}
template <const ByteFloatRules& (*rules)()>
LowHalf<u16> two_narrowed(float a, float b) {
  return low(rules().narrow(a) | u32{rules().narrow(b)} << 8);
}
const VectorInstruction byte_floats[] = {
    vop1("v_cvt_f32_fp8", [](u32 a) { return widened<fp8_rules>(a); }),
    vop1("v_cvt_f32_bf8", [](u32 a) { return widened<bf8_rules>(a); }),
    vop1("v_cvt_pk_f32_fp8", [](u32 a) { return two_widened<fp8_rules>(a); }),
    vop1("v_cvt_pk_f32_bf8", [](u32 a) { return two_widened<bf8_rules>(a); }),
    vop3("v_cvt_pk_fp8_f32", [](float a, float b) { return two_narrowed<fp8_rules>(a, b); }),
    vop3("v_cvt_pk_bf8_f32", [](float a, float b) { return two_narrowed<bf8_rules>(a, b); }),
};
FASTDISPATCH_VECTOR_SUITE(LaterByteFloats, byte_floats, .gfx90a_lacks_them = true);

/// To each byte of the destination, as CDNA and RDNA4 spell it.
TEST(LaterByteFloats, RoundsByRandomBits) {
  std::vector<Case> cases;
  const auto prepare = [](MachineState& state, Random& random) {
    for (u32& bits : state.vector[0]) {  // mostly of exponents that are those of narrow numbers
      const auto any = static_cast<u32>(random());
      bits = any % 16 == 0 ? static_cast<u32>(random()) : (any & 0x807fffff) | (103 + any / 32 % 48) << 23;
    }
  };
  for (const bool is_bf8 : {false, true})
    for (unsigned byte = 0; byte < 4; ++byte) {
      const auto reference = [=](MachineState& state) {
        for (unsigned lane = 0; lane < lane_count; ++lane) {
          if (!state.active(lane)) continue;
          const ByteFloatRules& rules = is_bf8 ? bf8_rules() : fp8_rules();
          const u32 code = rules.narrow_at_random(std::bit_cast<float>(state.vector[0][lane]), state.vector[2][lane]);
          u32& destination = state.vector[8][lane];
          destination = (destination & ~(0xffU << 8 * byte)) | code << 8 * byte;
        }
      };
      const std::string text = std::string("v_cvt_sr_") + (is_bf8 ? "bf8" : "fp8") + "_f32 v8, v0, v2";
      const std::string selects = " op_sel:[0,0," + std::to_string(byte % 2) + "," + std::to_string(byte / 2) + "]";
      cases.push_back({.assembly = text + (byte == 0 ? "" : selects), .prepare = prepare, .reference = reference});
      if (byte != 0)
        cases.push_back(
            {.assembly = text + " byte_sel:" + std::to_string(byte), .prepare = prepare, .reference = reference});
    }
  expect_match(cases, later);
}

// --- Scalars

Case scalar_case(std::string assembly, std::function<void(MachineState&)> reference) {
  return {.assembly = std::move(assembly), .prepare = {}, .reference = std::move(reference)};
}

/// The forms of 32 bits, which wavefronts of 32 lanes use.
Case saves_exec(const std::string& name, u32 (*combine)(u32 operand, u32 exec)) {
  return scalar_case("s_" + name + "_saveexec_b32 s16, s4", [=](MachineState& s) {
    const auto before = static_cast<u32>(s.exec);
    const u32 exec = combine(s.scalar[4], before);
    s.scalar[16] = before;
    s.exec = (s.exec & ~u64{0xffffffff}) | exec;
    s.scc = exec != 0;
  });
}
Case writes_exec(const std::string& name, u32 (*combine)(u32 operand, u32 exec)) {
  return scalar_case("s_" + name + "_wrexec_b32 s16, s4", [=](MachineState& s) {
    const u32 exec = combine(s.scalar[4], static_cast<u32>(s.exec));
    s.scalar[16] = exec;
    s.exec = (s.exec & ~u64{0xffffffff}) | exec;
    s.scc = exec != 0;
  });
}

TEST(LaterScalars, SaveExecHasFormsOf32Bits) {
  expect_match({saves_exec("and", [](u32 a, u32 exec) { return a & exec; }),
                saves_exec("or", [](u32 a, u32 exec) { return a | exec; }),
                saves_exec("xor", [](u32 a, u32 exec) { return a ^ exec; }),
                saves_exec("andn2", [](u32 a, u32 exec) { return a & ~exec; }),
                saves_exec("orn2", [](u32 a, u32 exec) { return a | ~exec; }),
                saves_exec("nand", [](u32 a, u32 exec) { return ~(a & exec); }),
                saves_exec("nor", [](u32 a, u32 exec) { return ~(a | exec); }),
                saves_exec("xnor", [](u32 a, u32 exec) { return ~(a ^ exec); }),
                saves_exec("andn1", [](u32 a, u32 exec) { return ~a & exec; }),
                saves_exec("orn1", [](u32 a, u32 exec) { return ~a | exec; }),
                writes_exec("andn1", [](u32 a, u32 exec) { return ~a & exec; }),
                writes_exec("andn2", [](u32 a, u32 exec) { return a & ~exec; })},
               later);
}

TEST(LaterScalars, PacksAHighAndALowHalf) {
  expect_match({scalar_case("s_pack_hl_b32_b16 s16, s4, s5",
                            [](MachineState& s) { s.scalar[16] = s.scalar[4] >> 16 | s.scalar[5] << 16; })},
               later);
}

TEST(LaterScalars, RoundingAndDenormalsHaveInstructionsOfTheirOwn) {
  expect_match({scalar_case("s_round_mode 0x6\n  s_getreg_b32 s16, hwreg(HW_REG_MODE, 0, 4)\n  s_round_mode 0x0",
                            [](MachineState& s) { s.scalar[16] = 6; }),
                scalar_case("s_denorm_mode 0x5\n  s_getreg_b32 s16, hwreg(HW_REG_MODE, 4, 4)\n  s_denorm_mode 0xf",
                            [](MachineState& s) { s.scalar[16] = 5; })},
               later);
}

TEST(LaterScalars, CacheMaintenanceChangesNothing) {
  const auto nothing = [](MachineState&) {};
  expect_match({scalar_case("buffer_inv sc0 sc1", nothing), scalar_case("buffer_wbl2 sc0 sc1", nothing),
                scalar_case("buffer_gl0_inv", nothing), scalar_case("buffer_gl1_inv", nothing)},
               later);
}

// --- Lanes

/// v8 = v0 of the lanes that s4 and s5 name, four bits a lane, in the row or in the other one of its pair.
Case row_permutation(const std::string& mnemonic, bool reads_disabled, bool zeroes) {
  const bool crosses = mnemonic == "v_permlanex16_b32";
  const std::string op_sel = reads_disabled || zeroes ? std::string(" op_sel:[") + (reads_disabled ? "1," : "0,") +
                                                            (zeroes ? "1,0,0]" : "0,0,0]")
                                                      : "";
  return scalar_case(mnemonic + " v8, v0, s4, s5" + op_sel, [=](MachineState& s) {
    const MachineState before = s;
    for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
      if (!before.active(lane)) continue;
      const u64 selectors = before.scalar_value(4, 8);
      const unsigned column = selectors >> (4 * (lane % 16)) & 15;
      const unsigned row = (lane & ~15U) ^ (crosses ? 16U : 0U);
      const unsigned source = row | column;
      if (reads_disabled || before.active(source))
        s.vector[8][lane] = before.vector[0][source];
      else if (zeroes)
        s.vector[8][lane] = 0;
    }
  });
}

TEST(LaterLanes, PermutesWithinAndBetweenRows) {
  std::vector<Case> cases;
  for (const char* mnemonic : {"v_permlane16_b32", "v_permlanex16_b32"})
    for (const auto& [reads_disabled, zeroes] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}})
      cases.push_back(row_permutation(mnemonic, reads_disabled, zeroes));
  expect_match(cases, later);
}

TEST(LaterLanes, SwapsTheHalvesOf64Lanes) {
  expect_match({scalar_case("v_permlane64_b32 v8, v0",
                            [](MachineState& s) {
                              const MachineState before = s;
                              if (tests_wave32()) return;
                              for (unsigned lane = 0; lane < lane_count; ++lane)
                                if (before.active(lane)) s.vector[8][lane] = before.vector[0][lane ^ 32];
                            })},
               later);
}

// --- VOPD

/// Both halves read before either writes.
Case dual(const std::string& x, const std::string& y,
          std::function<void(MachineState&, const MachineState&, unsigned)> f) {
  return scalar_case("v_dual_" + x + " :: v_dual_" + y, [f = std::move(f)](MachineState& s) {
    const MachineState before = s;
    for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane)
      if (before.active(lane)) f(s, before, lane);
  });
}

TEST(LaterDual, DoesTwoInstructionsAtOnce) {
  expect_match({dual("mov_b32 v0, v1", "mov_b32 v1, v0",
                     [](MachineState& s, const MachineState& b, unsigned lane) {
                       s.vector[0][lane] = b.vector[1][lane];
                       s.vector[1][lane] = b.vector[0][lane];
                     }),
                dual("mov_b32 v8, v0", "add_nc_u32 v9, v1, v3",
                     [](MachineState& s, const MachineState& b, unsigned lane) {
                       s.vector[8][lane] = b.vector[0][lane];
                       s.vector[9][lane] = b.vector[1][lane] + b.vector[3][lane];
                     }),
                dual("cndmask_b32 v8, v0, v2", "lshlrev_b32 v9, v1, v3",
                     [](MachineState& s, const MachineState& b, unsigned lane) {
                       s.vector[8][lane] = b.vector[(b.vcc >> lane & 1) != 0 ? 2 : 0][lane];
                       s.vector[9][lane] = b.vector[3][lane] << (b.vector[1][lane] & 31);
                     }),
                dual("mov_b32 v8, 0x12345678", "and_b32 v9, v1, v3",
                     [](MachineState& s, const MachineState& b, unsigned lane) {
                       s.vector[8][lane] = 0x12345678;
                       s.vector[9][lane] = b.vector[1][lane] & b.vector[3][lane];
                     }),
                dual("mov_b32 v8, s4", "mov_b32 v9, -7",
                     [](MachineState& s, const MachineState& b, unsigned lane) {
                       s.vector[8][lane] = b.scalar[4];
                       s.vector[9][lane] = static_cast<u32>(-7);
                     })},
               later);
}

/// v_movrel adds M0 to the number of its source, from v0 on, or of its destination, from v8 on, or parts of it to both.
TEST(LaterMoves, RegistersAreMovedByM0) {
  const auto move = [](const std::string& mnemonic, const std::function<std::pair<u32, u32>(u32 m0)>& distances) {
    return Case{.assembly = mnemonic + " v8, v0",
                .prepare = [](MachineState& state, Random& random) { state.m0 = static_cast<u32>(random() % 8); },
                .reference =
                    [distances](MachineState& state) {
                      const auto [from, to] = distances(state.m0);
                      for (unsigned lane = 0; lane < lane_count; ++lane)
                        if (state.active(lane)) state.vector.at(8 + to)[lane] = state.vector.at(from)[lane];
                    }};
  };
  Case by_halves = move("v_movrelsd_2_b32", [](u32 m0) { return std::pair{m0 & 0x3ff, m0 >> 16}; });
  by_halves.prepare = [](MachineState& state, Random& random) {
    state.m0 = static_cast<u32>(random() % 8 | random() % 8 << 16);
  };
  expect_match({move("v_movrels_b32",
                     [](u32 m0) {
                       return std::pair{m0, 0U};
                     }),
                move("v_movreld_b32",
                     [](u32 m0) {
                       return std::pair{0U, m0};
                     }),
                move("v_movrelsd_b32",
                     [](u32 m0) {
                       return std::pair{m0, m0};
                     }),
                by_halves},
               {.states = 4, .gfx90a_lacks_them = true});
}

/// RDNA2's name, and RDNA3's.
TEST(LaterAtomics, SubtractNotBelowZero) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& text, unsigned result) {
    cases.push_back({.assembly = text,
                     .prepare =
                         [](MachineState& state, Random& random) {
                           for (unsigned lane = 0; lane < lane_count; ++lane) {
                             state.vector[0][lane] = 4 * lane;
                             state.vector[2][lane] = static_cast<u32>(random() % 8);
                             write_as<u32>(state.memory.data() + 4 * lane, static_cast<u32>(random() % 8));
                           }
                           state.set_scalar_value(4, 8, state.memory_address);
                           state.set_scalar_value(8, 8, state.memory_address);
                           state.scalar[10] = memory_bytes;
                           state.scalar[11] = 0;
                         },
                     .reference =
                         [=](MachineState& state) {
                           for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
                             if (!state.active(lane)) continue;
                             std::uint8_t* place = state.memory.data() + 4 * lane;
                             const u32 before = read_as<u32>(place);
                             const u32 data = state.vector[2][lane];
                             write_as<u32>(place, before < data ? 0 : before - data);
                             state.vector[result][lane] = before;
                           }
                         }});
  };
  for (const std::string name : {"csub", "csub_u32"}) {
    add("global_atomic_" + name + " v8, v0, v2, s[4:5] glc\n  s_waitcnt vmcnt(0)", 8);
    add("buffer_atomic_" + name + " v2, v0, s[8:11], 0 offen glc\n  s_waitcnt vmcnt(0)", 2);
  }
  expect_match(cases, {.states = 2, .gfx90a_lacks_them = true});
}

}  // namespace
}  // namespace softgpu::isa::later_instructions
