// Branches, masks of execution, and how programs combine them.
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace softgpu::isa {
namespace {

/// Makes about every second EXEC and VCC zero, so that branches on them go both ways.
void often_zero(MachineState& state, Random& random) {
  if (random() % 2 == 0) state.exec = 0;
  if (random() % 2 == 0) state.vcc = 0;
}

/// s16 tells whether the branch was taken.
template <class F>
Case branch(const std::string& mnemonic, F taken) {
  return {.assembly = "s_mov_b32 s16, 1\n" + mnemonic + " over%=\ns_mov_b32 s16, 0\nover%=:\ns_nop 0",
          .prepare = often_zero,
          .reference = [taken](MachineState& state) { state.scalar[16] = taken(state) ? 1 : 0; }};
}

TEST(ControlFlow, BranchesGoByTheirCondition) {
  expect_match({
      branch("s_branch", [](const MachineState&) { return true; }),
      branch("s_cbranch_scc0", [](const MachineState& s) { return s.scc == 0; }),
      branch("s_cbranch_scc1", [](const MachineState& s) { return s.scc != 0; }),
      branch("s_cbranch_vccz", [](const MachineState& s) { return s.vcc == 0; }),
      branch("s_cbranch_vccnz", [](const MachineState& s) { return s.vcc != 0; }),
      branch("s_cbranch_execz", [](const MachineState& s) { return s.exec == 0; }),
      branch("s_cbranch_execnz", [](const MachineState& s) { return s.exec != 0; }),
      branch("s_cbranch_cdbgsys", [](const MachineState&) { return false; }),
      branch("s_cbranch_cdbguser", [](const MachineState&) { return false; }),
      branch("s_cbranch_cdbgsys_or_user", [](const MachineState&) { return false; }),
      branch("s_cbranch_cdbgsys_and_user", [](const MachineState&) { return false; }),
  });
}

/// One of the eight that save EXEC in s[16:17] and combine it with s[4:5].
template <class F>
Case save_exec(const std::string& operation, F combined) {
  return {.assembly = "s_" + operation + "_saveexec_b64 s[16:17], s[4:5]",
          .prepare = {},
          .reference = [combined](MachineState& state) {
            const u64 source = state.scalar_value(4, 8);
            state.set_scalar_value(16, 8, state.exec);
            state.exec = combined(source, state.exec);
            state.scc = state.exec != 0 ? 1 : 0;
          }};
}
/// EXEC becomes the combination, and s[16:17] too.
template <class F>
Case write_exec(const std::string& operation, F combined) {
  return {.assembly = "s_" + operation + "_wrexec_b64 s[16:17], s[4:5]",
          .prepare = {},
          .reference = [combined](MachineState& state) {
            state.exec = combined(state.scalar_value(4, 8), state.exec);
            state.set_scalar_value(16, 8, state.exec);
            state.scc = state.exec != 0 ? 1 : 0;
          }};
}

TEST(ControlFlow, SaveExecCombinesTheMasks) {
  expect_match(
      {
          save_exec("and", [](u64 s, u64 exec) { return s & exec; }),
          save_exec("or", [](u64 s, u64 exec) { return s | exec; }),
          save_exec("xor", [](u64 s, u64 exec) { return s ^ exec; }),
          save_exec("andn2", [](u64 s, u64 exec) { return s & ~exec; }),
          save_exec("orn2", [](u64 s, u64 exec) { return s | ~exec; }),
          save_exec("nand", [](u64 s, u64 exec) { return ~(s & exec); }),
          save_exec("nor", [](u64 s, u64 exec) { return ~(s | exec); }),
          save_exec("xnor", [](u64 s, u64 exec) { return ~(s ^ exec); }),
          save_exec("andn1", [](u64 s, u64 exec) { return ~s & exec; }),
          save_exec("orn1", [](u64 s, u64 exec) { return ~s | exec; }),
          write_exec("andn1", [](u64 s, u64 exec) { return ~s & exec; }),
          write_exec("andn2", [](u64 s, u64 exec) { return s & ~exec; }),
      },
      {.states = 4});
}

TEST(ControlFlow, ScalarLoopRepeatsUntilItsConditionFails) {
  expect_match({{"s_and_b32 s17, s4, 31\n"
                 "s_mov_b32 s16, 0\n"
                 "again%=:\n"
                 "s_add_u32 s16, s16, s5\n"
                 "s_sub_u32 s17, s17, 1\n"
                 "s_cmp_gt_i32 s17, 0\n"
                 "s_cbranch_scc1 again%=",
                 {},
                 [](MachineState& s) {
                   i32 left = static_cast<i32>(s.scalar[4] & 31);
                   s.scalar[16] = 0;
                   do s.scalar[16] += s.scalar[5];
                   while (--left > 0);
                   s.scalar[17] = static_cast<u32>(left);
                   s.scc = 0;
                 }}});
}

TEST(ControlFlow, DivergentLoopRunsEachLaneAsOftenAsItAsks) {
  expect_match({{"s_mov_b64 s[16:17], exec\n"
                 "v_and_b32 v9, 15, v0\n"
                 "v_mov_b32 v8, v1\n"
                 "again%=:\n"
                 "v_cmp_ne_u32 vcc, 0, v9\n"
                 "s_and_b64 exec, exec, vcc\n"
                 "s_cbranch_execz out%=\n"
                 "v_mul_lo_u32 v8, v8, 3\n"
                 "v_add_u32 v9, -1, v9\n"
                 "s_branch again%=\n"
                 "out%=:\n"
                 "s_mov_b64 exec, s[16:17]",
                 {},
                 [](MachineState& s) {
                   s.set_scalar_value(16, 8, s.exec);
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!s.active(lane)) continue;
                     s.vector[8][lane] = s.vector[1][lane];
                     for (u32 left = s.vector[0][lane] & 15; left > 0; --left) s.vector[8][lane] *= 3;
                     s.vector[9][lane] = 0;
                   }
                   s.vcc = 0;
                   s.scc = 0;
                 }}});
}

TEST(ControlFlow, BothSidesOfADivergentBranchRunForTheirLanes) {
  expect_match({{"v_cmp_lt_i32 vcc, v0, v1\n"
                 "s_and_saveexec_b64 s[16:17], vcc\n"
                 "s_xor_b64 s[16:17], exec, s[16:17]\n"
                 "s_cbranch_execz otherwise%=\n"
                 "v_sub_u32 v8, v1, v0\n"
                 "otherwise%=:\n"
                 "s_or_saveexec_b64 s[16:17], s[16:17]\n"
                 "s_xor_b64 exec, exec, s[16:17]\n"
                 "s_cbranch_execz end%=\n"
                 "v_sub_u32 v8, v0, v1\n"
                 "end%=:\n"
                 "s_or_b64 exec, exec, s[16:17]\n"
                 "s_mov_b64 s[16:17], 0",
                 [](MachineState& s, Random& random) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     for (const unsigned source : {0U, 1U})
                       s.vector[source][lane] = static_cast<u32>(interesting_value(Type::int32, random));
                 },
                 [](MachineState& s) {
                   s.vcc = 0;
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!s.active(lane)) continue;
                     const auto a = static_cast<i32>(s.vector[0][lane]);
                     const auto b = static_cast<i32>(s.vector[1][lane]);
                     s.vcc |= u64{a < b} << lane;
                     s.vector[8][lane] = static_cast<u32>(a < b ? i64{b} - a : i64{a} - b);
                   }
                   s.set_scalar_value(16, 8, 0);
                   s.scc = s.exec != 0 ? 1 : 0;
                 }}});
}

TEST(ControlFlow, TheProgramCounterIsThatOfTheNextInstruction) {
  expect_match({{"s_getpc_b64 s[16:17]\n"
                 "s_getpc_b64 s[18:19]\n"
                 "s_sub_u32 s16, s18, s16\n"
                 "s_subb_u32 s17, s19, s17\n"
                 "s_mov_b64 s[18:19], 0",
                 {},
                 [](MachineState& s) {
                   s.set_scalar_value(16, 8, 4);
                   s.set_scalar_value(18, 8, 0);
                   s.scc = 0;
                 }}});
}

/// Stores before the end stay; instructions behind the end are not executed.
Case ended_by(const std::string& end) {
  return {.assembly = "global_store_dword v[0:1], v4, off\n" + end + "\nglobal_store_dword v[0:1], v5, off",
          .prepare =
              [](MachineState& state, Random&) {
                for (unsigned lane = 0; lane < lane_count; ++lane)
                  state.set_vector_value(0, lane, 8, state.memory_address + 1024 + 4 * lane);
              },
          .reference =
              [](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane)
                  if (state.active(lane))
                    write_as<u32>(state.at(state.vector_value(0, lane, 8), 4), state.vector[4][lane]);
              }};
}
TEST(ControlFlow, ProgramsEndBySeveralInstructions) {
  expect_match({ended_by("s_endpgm"), ended_by("s_endpgm_saved"), ended_by("s_setkill 1")});
}

TEST(ControlFlow, HintsAndWaitsChangeNothing) {
  const auto nothing = [](MachineState&) {};
  expect_match({
      {"s_nop 7", {}, nothing},          {"s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", {}, nothing},
      {"s_sleep 1", {}, nothing},        {"s_setprio 3", {}, nothing},
      {"s_barrier", {}, nothing},        {"s_icache_inv", {}, nothing},
      {"s_dcache_wb", {}, nothing},      {"s_dcache_inv", {}, nothing},
      {"s_wakeup", {}, nothing},         {"s_sethalt 0", {}, nothing},
      {"s_setkill 0", {}, nothing},      {"s_incperflevel 1", {}, nothing},
      {"s_decperflevel 1", {}, nothing}, {"s_dcache_wb_vol", {}, nothing},
      {"s_dcache_inv_vol", {}, nothing}, {"v_nop", {}, nothing},
      {"buffer_wbl2", {}, nothing},      {"buffer_invl2", {}, nothing},
      {"buffer_wbinvl1", {}, nothing},   {"buffer_wbinvl1_vol", {}, nothing},
  });
}

TEST(ControlFlow, TimeDoesNotRunBackwards) {
  const auto clock = [](const std::string& mnemonic) {
    return Case{.assembly = mnemonic + " s[16:17]\ns_waitcnt lgkmcnt(0)\n" + mnemonic +
                            " s[18:19]\ns_waitcnt lgkmcnt(0)\n"
                            "s_sub_u32 s16, s18, s16\n"
                            "s_subb_u32 s17, s19, s17\n"
                            "s_lshr_b32 s16, s17, 31\n"
                            "s_mov_b64 s[18:19], 0\n"
                            "s_mov_b32 s17, 0",
                .prepare = {},
                .reference = [](MachineState& s) {
                  for (unsigned i = 16; i < 20; ++i) s.scalar[i] = 0;
                  s.scc = 0;
                }};
  };
  expect_match({clock("s_memtime"), clock("s_memrealtime")});
}

}  // namespace
}  // namespace softgpu::isa
