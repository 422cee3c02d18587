// Instructions of RDNA4 that RDNA3.5 lacks, and what it writes otherwise. An architecture without the instructions of a
// test skips the test.
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include <llvm/Config/llvm-config.h>

#include "byte_float_rules.hpp"
#include "float_rules.hpp"
#include "memory_operation.hpp"
#include "tested_target.hpp"
#include "vector_form.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa::rdna4_instructions {
namespace {

constexpr Options later = {.gfx90a_lacks_them = true};

Case case_with(std::string assembly, std::function<void(MachineState&)> reference) {
  return {.assembly = std::move(assembly), .prepare = {}, .reference = std::move(reference)};
}

// --- Minima and maxima that are NaN where a source is

/// A signalling NaN first, quieted, then a quiet one.
template <class T>
std::optional<T> first_nan(T a, T b) {
  if (is_signalling(a)) return quiet(a);
  if (is_signalling(b)) return quiet(b);
  if (std::isnan(static_cast<double>(a))) return a;
  if (std::isnan(static_cast<double>(b))) return b;
  return std::nullopt;
}
template <class T>
T least(T a, T b) {
  return first_nan(a, b).value_or(minimum(a, b));
}
template <class T>
T greatest(T a, T b) {
  return first_nan(a, b).value_or(maximum(a, b));
}

const VectorInstruction extremes[] = {
    vop3("v_minimum_f32", [](float a, float b) { return least(a, b); }),
    vop3("v_maximum_f32", [](float a, float b) { return greatest(a, b); }),
    vop3("v_minimum_f64", [](double a, double b) { return least(a, b); }),
    vop3("v_maximum_f64", [](double a, double b) { return greatest(a, b); }),
    vop3("v_minimum_f16", [](Half a, Half b) { return LowHalf{least(a, b)}; }).with_op_sel(),
    vop3("v_maximum_f16", [](Half a, Half b) { return LowHalf{greatest(a, b)}; }).with_op_sel(),
    vop3("v_minimum3_f32", [](float a, float b, float c) { return least(least(a, b), c); }),
    vop3("v_maximum3_f32", [](float a, float b, float c) { return greatest(greatest(a, b), c); }),
    vop3("v_minimum3_f16", [](Half a, Half b, Half c) { return LowHalf{least(least(a, b), c)}; }).with_op_sel(),
    vop3("v_maximum3_f16", [](Half a, Half b, Half c) { return LowHalf{greatest(greatest(a, b), c)}; }).with_op_sel(),
    vop3("v_minimummaximum_f32", [](float a, float b, float c) { return greatest(least(a, b), c); }),
    vop3("v_maximumminimum_f32", [](float a, float b, float c) { return least(greatest(a, b), c); }),
    vop3("v_minimummaximum_f16", [](Half a, Half b, Half c) { return LowHalf{greatest(least(a, b), c)}; }),
    vop3("v_maximumminimum_f16", [](Half a, Half b, Half c) { return LowHalf{least(greatest(a, b), c)}; }),
};
FASTDISPATCH_VECTOR_SUITE(Rdna4Extremes, extremes, .gfx90a_lacks_them = true);

/// v8 = the halves of v0 and v2.
template <class F>
Case packed(const std::string& name, F combine) {
  return case_with(name + " v8, v0, v2", [=](MachineState& s) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (!s.active(lane)) continue;
      u32 result = 0;
      for (const unsigned shift : {0U, 16U}) {
        const auto half = [&](unsigned vgpr) { return from_bits<Half>(s.vector.at(vgpr)[lane] >> shift & 0xffff); };
        result |= static_cast<u32>(to_bits(combine(half(0), half(2)))) << shift;
      }
      s.vector[8][lane] = result;
    }
  });
}
TEST(Rdna4Packed, MinimaAndMaximaOfHalves) {
  expect_match({packed("v_pk_minimum_f16", [](Half a, Half b) { return least(a, b); }),
                packed("v_pk_maximum_f16", [](Half a, Half b) { return greatest(a, b); })},
               later);
}

template <class T, class F>
Case scalar_extreme(const std::string& name, F combine) {
  Case result = case_with(name + " s16, s4, s5", [=](MachineState& s) {
    s.scalar[16] = static_cast<u32>(to_bits(combine(from_bits<T>(s.scalar[4]), from_bits<T>(s.scalar[5]))));
  });
  result.prepare = [](MachineState& s, Random& random) {
    for (const unsigned n : {4U, 5U}) s.scalar.at(n) = static_cast<u32>(interesting_value(type_of<T>(), random));
  };
  return result;
}
TEST(Rdna4Scalars, MinimaAndMaxima) {
  expect_match({scalar_extreme<float>("s_minimum_f32", [](float a, float b) { return least(a, b); }),
                scalar_extreme<float>("s_maximum_f32", [](float a, float b) { return greatest(a, b); }),
                scalar_extreme<Half>("s_minimum_f16", [](Half a, Half b) { return least(a, b); }),
                scalar_extreme<Half>("s_maximum_f16", [](Half a, Half b) { return greatest(a, b); }),
                scalar_extreme<float>("s_min_num_f32", [](float a, float b) { return minimum(a, b); }),
                scalar_extreme<float>("s_max_num_f32", [](float a, float b) { return maximum(a, b); }),
                scalar_extreme<Half>("s_min_num_f16", [](Half a, Half b) { return minimum(a, b); }),
                scalar_extreme<Half>("s_max_num_f16", [](Half a, Half b) { return maximum(a, b); })},
               {.states = 4, .gfx90a_lacks_them = true});
}

// --- FP8 and BF8

template <const ByteFloatRules& (*rules)()>
void add_bytes(std::vector<Case>& cases, const std::string& name) {
  const auto widen = [](u32 bits) { return std::bit_cast<u32>(rules().widen(static_cast<std::uint8_t>(bits))); };
  for (unsigned byte = 0; byte < 4; ++byte) {
    cases.push_back(
        case_with("v_cvt_f32_" + name + "_e64 v8, v0 byte_sel:" + std::to_string(byte), [=](MachineState& s) {
          for (unsigned lane = 0; lane < lane_count; ++lane)
            if (s.active(lane)) s.vector[8][lane] = widen(s.vector[0][lane] >> (8 * byte));
        }));
  }
  cases.push_back(case_with("v_cvt_pk_f32_" + name + "_e64 v[8:9], v0 op_sel:[1,0]", [=](MachineState& s) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (!s.active(lane)) continue;
      s.vector[8][lane] = widen(s.vector[0][lane] >> 16);
      s.vector[9][lane] = widen(s.vector[0][lane] >> 24);
    }
  }));
  Case narrowing = case_with("v_cvt_pk_" + name + "_f32 v8, v0, v2 op_sel:[0,0,1]", [](MachineState& s) {
    const auto narrow = [&](u32 bits) { return u32{rules().narrow(std::bit_cast<float>(bits))}; };
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (s.active(lane))
        s.vector[8][lane] =
            (s.vector[8][lane] & 0xffff) | narrow(s.vector[0][lane]) << 16 | narrow(s.vector[2][lane]) << 24;
  });
  narrowing.prepare = [](MachineState& s, Random& random) {
    for (const unsigned n : {0U, 2U})
      for (u32& value : s.vector.at(n)) value = static_cast<u32>(interesting_value(Type::float32, random));
  };
  cases.push_back(narrowing);
}
TEST(Rdna4ByteFloats, BytesAreSelected) {
  std::vector<Case> cases;
  add_bytes<fp8_rules>(cases, "fp8");
  add_bytes<bf8_rules>(cases, "bf8");
  expect_match(cases, later);
}

// --- Scalars

TEST(Rdna4Scalars, IntegersOf64Bits) {
  const auto binary = [](const std::string& name, u64 (*combine)(u64, u64)) {
    return case_with(name + " s[16:17], s[4:5], s[6:7]", [=](MachineState& s) {
      s.set_scalar_value(16, 8, combine(s.scalar_value(4, 8), s.scalar_value(6, 8)));
    });
  };
  expect_match({binary("s_add_nc_u64", [](u64 a, u64 b) { return a + b; }),
                binary("s_sub_nc_u64", [](u64 a, u64 b) { return a - b; }),
                binary("s_mul_u64", [](u64 a, u64 b) { return a * b; }),
                case_with("s_mul_u64 s[16:17], s[4:5], 0x87654321",
                          [](MachineState& s) { s.set_scalar_value(16, 8, s.scalar_value(4, 8) * 0x87654321); }),
                case_with("s_add_nc_u64 s[16:17], s[4:5], -5",
                          [](MachineState& s) { s.set_scalar_value(16, 8, s.scalar_value(4, 8) - 5); })},
               later);
}

/// Of one lane, whatever EXEC is.
TEST(Rdna4Scalars, TranscendentalsOfScalarRegisters) {
  const auto of = [](const std::string& name, u32 source, u32 result) {
    Case each = case_with(name + " s16, s4", [=](MachineState& s) { s.scalar[16] = result; });
    each.prepare = [=](MachineState& s, Random&) { s.scalar[4] = source; };
    return each;
  };
  const auto bits = [](float value) { return std::bit_cast<u32>(value); };
  expect_match({of("v_s_exp_f32", bits(3), bits(8)), of("v_s_log_f32", bits(0.25F), bits(-2)),
                of("v_s_rcp_f32", bits(-4), bits(-0.25F)), of("v_s_rcp_f32", bits(-0x1p127F), bits(-0.0F)),
                of("v_s_rsq_f32", bits(16), bits(0.25F)), of("v_s_sqrt_f32", bits(9), bits(3)),
                of("v_s_exp_f16", 0xabcd4200, 0x4800), of("v_s_log_f16", 0x3400, 0xc000),
                of("v_s_rcp_f16", 0xc400, 0xb400), of("v_s_rsq_f16", 0x4c00, 0x3400),
                of("v_s_sqrt_f16", 0x4880, 0x4200)},
               later);
  Case modified = of("v_s_rcp_f32", bits(-4), bits(0.25F));
  modified.assembly = "v_s_rcp_f32 s16, |s4| clamp";
  expect_match({modified}, later);
}

TEST(Rdna4Scalars, TheGroupIsInTtmps) {
  if (!tested_target().architecture->has_group_ids_in_ttmps) GTEST_SKIP() << "it is not there";
  // The tests' work-groups differ in x alone, by their states.
  expect_match({case_with("s_lshr_b32 s16, ttmp7, 16\n  s_and_b32 s17, ttmp7, 0xffff\n  s_cmp_eq_u32 ttmp7, 0",
                          [](MachineState& s) { s.scalar[16] = s.scalar[17] = 0, s.scc = 1; }),
                case_with("v_mov_b32_e32 v8, ttmp7",
                          [](MachineState& s) {
                            for (unsigned lane = 0; lane < lane_count; ++lane)
                              if (s.active(lane)) s.vector[8][lane] = 0;
                          })},
               later);
}

TEST(Rdna4Scalars, WaitsAndHintsChangeNothing) {
  std::vector<Case> cases;
  for (const char* text : {"s_wait_loadcnt 0x0",
                           "s_wait_storecnt 0x0",
                           "s_wait_dscnt 0x0",
                           "s_wait_kmcnt 0x0",
                           "s_wait_samplecnt 0x0",
                           "s_wait_bvhcnt 0x0",
                           "s_wait_expcnt 0x0",
                           "s_wait_loadcnt_dscnt 0x0",
                           "s_wait_storecnt_dscnt 0x0",
                           "s_wait_alu 0xfffe",
                           "s_wait_idle",
                           "s_prefetch_inst s[4:5], 0x10, s6, 3",
                           "s_prefetch_inst_pc_rel 0x10, s6, 3",
                           "s_prefetch_data s[4:5], 0x10, s6, 3",
                           "s_prefetch_data_pc_rel 0x10, s6, 3",
                           "s_buffer_prefetch_data s[4:7], 0x10, s8, 3",
                           "s_sleep_var s4",
                           "global_inv scope:SCOPE_DEV",
                           "global_inv",
                           "global_wb scope:SCOPE_SYS",
                           "global_wbinv scope:SCOPE_SYS",
                           "s_barrier_signal -1\n  s_barrier_wait -1"})
    cases.push_back(case_with(text, [](MachineState&) {}));
  expect_match(cases, later);
}

/// A wavefront alone is in no work-group.
TEST(Rdna4Scalars, AWavefrontAloneIsNotTheFirstToSignal) {
  expect_match({case_with("s_barrier_signal_isfirst -1\n  s_barrier_wait -1", [](MachineState& s) { s.scc = 0; })},
               later);
}

TEST(Rdna4Scalars, OtherBarriersAreRefused) {
  if (!tests_rdna4()) GTEST_SKIP();
  for (const char* text : {"s_barrier_signal m0", "s_barrier_signal 1", "s_barrier_wait 1",
                           "s_barrier_signal_isfirst -2", "s_get_barrier_state s4, -1"})
    EXPECT_TRUE(refusal(text)) << text;
#if LLVM_VERSION_MAJOR >= 22
  EXPECT_TRUE(refusal("s_barrier_leave"));
#endif
}

TEST(Rdna4Scalars, RegistersThatAreLaidOutOtherwiseAreRefused) {
  if (!tests_rdna4()) GTEST_SKIP();
  for (const char* name : {"STATUS", "STATE_PRIV", "GPR_ALLOC", "LDS_ALLOC", "IB_STS", "EXCP_FLAG_USER", "HW_ID1"})
    EXPECT_TRUE(refusal("s_getreg_b32 s4, hwreg(HW_REG_" + std::string(name) + ")")) << name;
}

TEST(Rdna4Scalars, TheClockHasTwoHalves) {
  // The upper half does not change between the two reads, or the lower one begins again.
  expect_match({case_with("s_getreg_b32 s16, hwreg(HW_REG_SHADER_CYCLES_HI)\n  s_getreg_b32 s17, "
                          "hwreg(HW_REG_SHADER_CYCLES_HI)\n  s_sub_co_u32 s16, s17, s16\n  s_min_u32 s16, s16, 2\n"
                          "  s_cmp_le_u32 s16, 1\n  s_mov_b64 s[16:17], 0",
                          [](MachineState& s) { s.scc = 1, s.scalar[16] = s.scalar[17] = 0; })},
               later);
}

// --- Lanes

/// v8 = v0 of the lanes that v2 names, in the row or in the other one of its pair.
Case row_permutation(const std::string& mnemonic, bool reads_disabled, bool zeroes) {
  const unsigned other_row = mnemonic == "v_permlanex16_var_b32" ? 16 : 0;
  const std::string op_sel = std::string(" op_sel:[") + (reads_disabled ? "1," : "0,") + (zeroes ? "1]" : "0]");
  return case_with(mnemonic + " v8, v0, v2" + op_sel, [=](MachineState& s) {
    const MachineState before = s;
    for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
      if (!before.active(lane)) continue;
      const unsigned source = ((lane & ~15U) ^ other_row) | (before.vector[2][lane] & 15);
      if (reads_disabled || before.active(source))
        s.vector[8][lane] = before.vector[0][source];
      else if (zeroes)
        s.vector[8][lane] = 0;
    }
  });
}
TEST(Rdna4Lanes, PermutesWithinAndBetweenRowsByVectors) {
  std::vector<Case> cases;
  for (const char* mnemonic : {"v_permlane16_var_b32", "v_permlanex16_var_b32"})
    for (const auto& [reads_disabled, zeroes] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}})
      cases.push_back(row_permutation(mnemonic, reads_disabled, zeroes));
  expect_match(cases, later);
}
TEST(Rdna4Lanes, FetchesFromDisabledLanes) {
  expect_match({case_with("ds_bpermute_fi_b32 v8, v0, v2 offset:8\n  s_wait_dscnt 0x0",
                          [](MachineState& s) {
                            const MachineState before = s;
                            const unsigned lanes = tested_target().wavefront_size;
                            for (unsigned lane = 0; lane < lanes; ++lane)
                              if (before.active(lane))
                                s.vector[8][lane] = before.vector[2][(before.vector[0][lane] + 8) / 4 % lanes];
                          })},
               later);
}

// --- Memory

Case scalar_load(const std::string& text, std::function<void(MachineState&, const std::uint8_t*)> reference) {
  return {.assembly = text + "\n  s_wait_kmcnt 0x0",
          .prepare =
              [](MachineState& s, Random& random) {
                s.set_scalar_value(4, 8, s.memory_address);
                s.scalar[6] = static_cast<u32>(random() % 64);
                // A buffer of 24 bytes at the same place.
                s.set_scalar_value(8, 8, s.memory_address);
                s.scalar[10] = 24;
                s.scalar[11] = 0;
              },
          .reference = [reference = std::move(reference)](MachineState& s) { reference(s, s.memory.data()); }};
}
template <class T>
u32 element(const std::uint8_t* memory, u32 offset) {
  return static_cast<u32>(
      static_cast<i32>(read_as<T>(const_cast<std::uint8_t*>(memory + offset / sizeof(T) * sizeof(T)))));
}
template <class T>
void add_small_loads(std::vector<Case>& cases, const std::string& end) {
  cases.push_back(scalar_load("s_load_" + end + " s16, s[4:5], s6 offset:0x6",
                              [](MachineState& s, const auto* m) { s.scalar[16] = element<T>(m, s.scalar[6] + 6); }));
  cases.push_back(scalar_load("s_load_" + end + " s16, s[4:5], 0x2",
                              [](MachineState& s, const auto* m) { s.scalar[16] = element<T>(m, 2); }));
  cases.push_back(
      scalar_load("s_buffer_load_" + end + " s16, s[8:11], s6 offset:0x0", [](MachineState& s, const auto* m) {
        const u32 offset = s.scalar[6] / sizeof(T) * sizeof(T);
        s.scalar[16] = offset + sizeof(T) <= 24 ? element<T>(m, offset) : 0;
      }));
}
TEST(Rdna4ScalarMemory, LoadsSmallNumbersAndThreeDwords) {
  std::vector<Case> cases;
  add_small_loads<std::uint8_t>(cases, "u8");
  add_small_loads<std::int8_t>(cases, "i8");
  add_small_loads<u16>(cases, "u16");
  add_small_loads<i16>(cases, "i16");
  cases.push_back(scalar_load("s_load_b96 s[16:18], s[4:5], 0x8",
                              [](MachineState& s, const auto* m) { std::memcpy(&s.scalar[16], m + 8, 12); }));
  cases.push_back(scalar_load("s_buffer_load_b96 s[16:18], s[8:11], 0x10", [](MachineState& s, const auto* m) {
    std::memcpy(&s.scalar[16], m + 16, 8);
    s.scalar[18] = 0;
  }));
  expect_match(cases, later);
}

/// minimumNumber and maximumNumber; of two NaNs, the data's made quiet.
template <class T>
T least_number(T memory, T data) {
  return minimum(data, memory);
}
template <class T>
T greatest_number(T memory, T data) {
  return maximum(data, memory);
}

/// A lane's element of LDS or memory, 64 bytes apart in the order of the lanes.
template <class T, class F>
void add_atomic(std::vector<Case>& cases, const std::string& end, F combine) {
  const auto prepare = [](MachineState& s, Random& random, bool in_lds) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const u32 offset = 8 * lane;
      s.vector[0][lane] = offset;
      s.set_vector_value(2, lane, sizeof(T), interesting_value(type_of<T>(), random));
      write_as<T>(in_lds ? s.lds_at(offset, sizeof(T)) : s.memory.data() + offset,
                  from_bits<T>(interesting_value(type_of<T>(), random)));
    }
    s.set_scalar_value(4, 8, s.memory_address);
    s.set_scalar_value(8, 8, s.memory_address);
    s.scalar[10] = memory_bytes;
    s.scalar[11] = 0;
  };
  const auto add = [&](const std::string& text, bool in_lds, bool returns, unsigned result) {
    Case each;
    each.assembly = text;
    each.prepare = [=](MachineState& s, Random& random) { prepare(s, random, in_lds); };
    each.reference = [=](MachineState& s) {
      for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
        if (!s.active(lane)) continue;
        auto* place = in_lds ? s.lds_at(8 * lane, sizeof(T)) : s.memory.data() + 8 * lane;
        const T before = read_as<T>(place);
        write_as<T>(place, combine(before, from_bits<T>(s.vector_value(2, lane, sizeof(T)))));
        if (returns) s.set_vector_value(result, lane, sizeof(T), to_bits(before));
      }
    };
    cases.push_back(std::move(each));
  };
  const std::string data = sizeof(T) == 8 ? "v[2:3]" : "v2";
  const std::string result = sizeof(T) == 8 ? "v[8:9]" : "v8";
  const std::size_t type = end.rfind('_');
  add("ds_" + end + " v0, " + data + "\n  s_wait_dscnt 0x0", true, false, 0);
  add("ds_" + end.substr(0, type) + "_rtn" + end.substr(type) + " " + result + ", v0, " + data + "\n  s_wait_dscnt 0x0",
      true, true, 8);
  if (sizeof(T) == 8) return;
  add("global_atomic_" + end + " v0, v2, s[4:5]", false, false, 0);
  add("global_atomic_" + end + " v8, v0, v2, s[4:5] th:TH_ATOMIC_RETURN scope:SCOPE_DEV\n  s_wait_loadcnt 0x0", false,
      true, 8);
  add("buffer_atomic_" + end + " v2, v0, s[8:11], null offen th:TH_ATOMIC_RETURN\n  s_wait_loadcnt 0x0", false, true,
      2);
}
TEST(Rdna4Atomics, HaveNumbersAndSubtractWithConditions) {
  std::vector<Case> cases;
  add_atomic<float>(cases, "min_num_f32", least_number<float>);
  add_atomic<float>(cases, "max_num_f32", greatest_number<float>);
  add_atomic<double>(cases, "min_num_f64", least_number<double>);
  add_atomic<double>(cases, "max_num_f64", greatest_number<double>);
  add_atomic<u32>(cases, "cond_sub_u32", [](u32 m, u32 d) { return m >= d ? m - d : m; });
  add_atomic<u32>(cases, "sub_clamp_u32", [](u32 m, u32 d) { return m >= d ? m - d : 0; });
  expect_match(cases, {.lds = Lds::loaded_and_stored, .states = 2, .gfx90a_lacks_them = true});
}

}  // namespace
}  // namespace softgpu::isa::rdna4_instructions
