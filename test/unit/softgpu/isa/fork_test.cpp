// Forks and joins: a stack of masks and addresses in scalar registers, for control flow of any shape.
#include <bit>
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace softgpu::isa {
namespace {

// The stack takes s0 and the following registers, four registers an entry; its values there are not compared.
const std::string begin =
    "v_cmp_gt_i32 s[8:9], 0, v0\nv_cmp_gt_i32 s[12:13], 0, v1\ns_mov_b32 s20, 0\ns_mov_b32 s21, 1\n";
std::string forget_stack() {
  std::string text;
  for (const int pair : {0, 2, 4, 6, 8, 12, 16, 18, 20}) {
    const std::string first = std::to_string(pair);
    text += "s_mov_b64 s[" + first + ":" + std::to_string(pair + 1) + "], 0\n";
  }
  return text;
}
void forget_stack(MachineState& state) {
  for (const unsigned pair : {0U, 2U, 4U, 6U, 8U, 12U, 16U, 18U, 20U}) state.set_scalar_value(pair, 8, 0);
}

bool is_negative(u32 value) { return value >> 31 != 0; }

/// The mask of the lanes in which v0 (or v1) is negative.
u64 negative(const MachineState& state, unsigned vgpr) {
  u64 mask = 0;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    mask |= u64{state.active(lane) && is_negative(state.vector[vgpr][lane])} << lane;
  return mask;
}

/// v8 becomes v2 where v0 is negative and v3 where it is not; v9 counts in which order the paths ran.
const std::string two_paths =
    "fail%=:\nv_mov_b32 v8, v3\ns_lshl_b32 s22, s22, 2\ns_or_b32 s22, s22, 1\ns_branch join%=\n"
    "pass%=:\nv_mov_b32 v8, v2\ns_lshl_b32 s22, s22, 2\ns_or_b32 s22, s22, 2\n"
    "join%=:\ns_cbranch_join s20\n";

void take_two_paths(MachineState& state) {
  const u64 pass = negative(state, 0);
  const u64 fail = state.exec & ~pass;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (state.active(lane)) state.vector[8][lane] = state.vector[is_negative(state.vector[0][lane]) ? 2 : 3][lane];
  // A path without lanes does not run; the path with fewer lanes runs first.
  u32 order = 0;
  const auto run = [&](u32 path) { order = order << 2 | path; };
  if (pass == state.exec) {
    run(2);
  } else if (fail == state.exec) {
    run(1);
  } else {
    const bool fail_is_first = std::popcount(fail) < std::popcount(pass);
    run(fail_is_first ? 1 : 2);
    run(fail_is_first ? 2 : 1);
    // Then the lanes that came last are enabled.
    state.exec = fail_is_first ? pass : fail;
  }
  state.scalar[22] = order;
  state.scc = 1;
}

TEST(ControlFlowForks, PathsWithFewerLanesRunFirst) {
  const auto mostly_one_sign = [](MachineState& state, Random& random) {
    const u64 choice = random() % 4;
    for (u32& value : state.vector[0])
      if (choice < 3)
        value = static_cast<u32>(random() % 8 < choice * 4 ? random() | 0x80000000 : random() & 0x7fffffff);
  };
  const auto reference = [](MachineState& state) {
    take_two_paths(state);
    forget_stack(state);
  };
  const std::string to_label =
      begin + "s_mov_b32 s22, 0\ns_cbranch_i_fork s[8:9], pass%=\n" + two_paths + forget_stack();
  const std::string to_address = begin +
                                 "s_getpc_b64 s[16:17]\nafter%=:\ns_add_u32 s16, s16, pass%=-after%=\n"
                                 "s_addc_u32 s17, s17, 0\ns_mov_b32 s22, 0\ns_cbranch_g_fork s[8:9], s[16:17]\n" +
                                 two_paths + forget_stack();
  expect_match({{to_label, mostly_one_sign, reference}, {to_address, mostly_one_sign, reference}}, {.states = 4});
}

/// A fork in one path of another: v8 is v2, v3 or v4.
TEST(ControlFlowForks, Nest) {
  expect_match({{begin +
                     "s_mov_b64 s[18:19], exec\ns_cbranch_i_fork s[8:9], outer%=\n"
                     "v_mov_b32 v8, v3\ns_branch join%=\n"
                     "outer%=:\n"
                     "s_getreg_b32 s21, hwreg(HW_REG_MODE, 29, 3)\n"  // how deep the stack is now
                     "s_cbranch_i_fork s[12:13], inner%=\n"
                     "v_mov_b32 v8, v4\ns_branch inner_join%=\n"
                     "inner%=:\nv_mov_b32 v8, v2\n"
                     "inner_join%=:\ns_cbranch_join s21\n"
                     "join%=:\ns_cbranch_join s20\ns_mov_b64 exec, s[18:19]\n" +
                     forget_stack(),
                 {},
                 [](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!state.active(lane)) continue;
                     const unsigned source = !is_negative(state.vector[0][lane])  ? 3
                                             : is_negative(state.vector[1][lane]) ? 2
                                                                                  : 4;
                     state.vector[8][lane] = state.vector[source][lane];
                   }
                   forget_stack(state);
                 }}},
               {.states = 4});
}

}  // namespace
}  // namespace softgpu::isa
