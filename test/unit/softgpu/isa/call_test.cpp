// Calls, returns and branches through registers: to functions that the code names, and to those that it finds by
// pointers.
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace softgpu::isa::calls {
namespace {

/// Clears the registers that a snippet uses for addresses.
const std::string forget_addresses = "s_mov_b64 s[16:17], 0\ns_mov_b64 s[18:19], 0\ns_mov_b64 s[20:21], 0\n";

void forget(MachineState& state) {
  for (unsigned i = 16; i < 22; ++i) state.scalar[i] = 0;
}

/// v8 = v0 * 3 + v1 in the lanes that are active.
void triple_and_add(MachineState& state) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (state.active(lane)) state.vector[8][lane] = state.vector[0][lane] * 3 + state.vector[1][lane];
}

/// s[16:17] = the address of `label`.
std::string address_of(const std::string& label) {
  return "s_getpc_b64 s[16:17]\n"
         "after_" +
         label + "%=:\ns_add_u32 s16, s16, " + label + "%=-after_" + label + "%=\ns_addc_u32 s17, s17, 0\n";
}

const std::string triple = "triple%=:\nv_mul_lo_u32 v8, v0, 3\nv_add_u32 v8, v8, v1\ns_setpc_b64 s[20:21]\n";
const std::string subtract = "subtract%=:\nv_sub_u32 v8, v0, v1\ns_setpc_b64 s[20:21]\n";

TEST(ControlFlowCalls, CallReturnsBehindItself) {
  expect_match({{"s_call_b64 s[20:21], triple%=\ns_branch end%=\n" + triple + "end%=:\n" + forget_addresses,
                 {},
                 [](MachineState& s) {
                   triple_and_add(s);
                   forget(s);
                 }}});
}

TEST(ControlFlowCalls, SwapCallsAFunctionFromTwoPlaces) {
  expect_match({{address_of("triple") + "s_swappc_b64 s[20:21], s[16:17]\nv_mov_b32 v0, v8\n" +
                     "s_swappc_b64 s[20:21], s[16:17]\ns_branch end%=\n" + triple + "end%=:\n" + forget_addresses,
                 {},
                 [](MachineState& s) {
                   triple_and_add(s);
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (s.active(lane)) s.vector[0][lane] = s.vector[8][lane];
                   triple_and_add(s);
                   forget(s);
                   s.scc = 0;
                 }}});
}

/// The return address's register may hold another value before the call, on a path that leads there. No code must be
/// read at this value.
TEST(ControlFlowCalls, FunctionIsReadWhateverItsReturnAddressWas) {
  expect_match({{"s_mov_b32 s20, 0\ns_mov_b32 s21, 0\n" + address_of("triple") +
                     "s_swappc_b64 s[20:21], s[16:17]\ns_branch end%=\n" + triple + "end%=:\n" + forget_addresses,
                 {},
                 [](MachineState& s) {
                   triple_and_add(s);
                   forget(s);
                   s.scc = 0;
                 }}});
}

/// A path that is never taken leaves something else in the target's register.
TEST(ControlFlowCalls, TargetOfAPathThatIsNeverTakenIsNoMatter) {
  expect_match({{address_of("triple") +
                     "s_cmp_eq_u32 s16, s16\ns_cbranch_scc1 call%=\ns_mov_b32 s16, 0\ns_mov_b32 s17, 0\n"
                     "call%=:\ns_swappc_b64 s[20:21], s[16:17]\ns_branch end%=\n" +
                     triple + "end%=:\n" + forget_addresses,
                 {},
                 [](MachineState& s) {
                   triple_and_add(s);
                   forget(s);
                   s.scc = 1;
                 }}});
}

/// The destination may be the source: the old value is where to.
TEST(ControlFlowCalls, SwapMayReplaceItsOwnTarget) {
  expect_match({{address_of("here") + "s_swappc_b64 s[16:17], s[16:17]\nback%=:\nv_not_b32 v8, v8\ns_branch end%=\n" +
                     "here%=:\nv_mov_b32 v8, v0\ns_setpc_b64 s[16:17]\nend%=:\n" + forget_addresses,
                 {},
                 [](MachineState& s) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (s.active(lane)) s.vector[8][lane] = ~s.vector[0][lane];
                   forget(s);
                   s.scc = 0;
                 }}});
}

/// Which function it is depends on SCC, so that both become known only when a wavefront gets there.
TEST(ControlFlowCalls, FunctionPointersReachCodeThatNothingNames) {
  expect_match({{"s_mov_b32 s18, triple%=-after%=\n"
                 "s_cselect_b32 s18, s18, subtract%=-after%=\n"
                 "s_getpc_b64 s[16:17]\n"
                 "after%=:\n"
                 "s_add_u32 s16, s16, s18\n"
                 "s_addc_u32 s17, s17, 0\n"
                 "s_mov_b32 s22, m0\n"
                 "s_swappc_b64 s[20:21], s[16:17]\n"
                 "v_xor_b32 v8, v8, v2\n"
                 "s_branch end%=\n" +
                     subtract + triple + "end%=:\n" + forget_addresses,
                 {},
                 [](MachineState& s) {
                   if (s.scc != 0) triple_and_add(s);
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!s.active(lane)) continue;
                     if (s.scc == 0) s.vector[8][lane] = s.vector[0][lane] - s.vector[1][lane];
                     s.vector[8][lane] ^= s.vector[2][lane];
                   }
                   s.scalar[22] = s.m0;
                   forget(s);
                   s.scc = 0;
                 }}},
               {.states = 2});
}

/// s4 counts down through calls of itself, whose return addresses are kept in lanes of v9 as compilers do.
TEST(ControlFlowCalls, FunctionsCallThemselves) {
  expect_match({{"s_and_b32 s4, s4, 15\ns_mov_b32 m0, 0\ns_mov_b32 s5, 0\n"
                 "s_call_b64 s[20:21], count%=\ns_branch end%=\n"
                 "count%=:\n"
                 "s_add_u32 s5, s5, s4\n"
                 "s_cmp_eq_u32 s4, 0\n"
                 "s_cbranch_scc1 return%=\n"
                 "s_lshl_b64 exec, 1, m0\n"
                 "v_mov_b32 v9, s20\n"
                 "v_mov_b32 v10, s21\n"
                 "s_add_u32 m0, m0, 1\n"
                 "s_sub_u32 s4, s4, 1\n"
                 "s_call_b64 s[20:21], count%=\n"
                 "s_sub_u32 m0, m0, 1\n"
                 "s_nop 4\n"
                 "v_readlane_b32 s20, v9, m0\n"
                 "v_readlane_b32 s21, v10, m0\n"
                 "s_nop 4\n"
                 "return%=:\n"
                 "s_setpc_b64 s[20:21]\n"
                 "end%=:\ns_mov_b64 exec, -1\nv_mov_b32 v9, 0\nv_mov_b32 v10, 0\ns_cmp_eq_u32 s4, 0\n" +
                     forget_addresses,
                 {},
                 [](MachineState& s) {
                   const u32 n = s.scalar[4] & 15;
                   s.scalar[5] = n * (n + 1) / 2;
                   s.scalar[4] = 0;
                   s.m0 = 0;
                   s.exec = ~u64{0};
                   s.vector[9].fill(0);
                   s.vector[10].fill(0);
                   s.scc = 1;
                   forget(s);
                 }}});
}

/// A pointer may lead to bytes that are not code.
TEST(ControlFlowCalls, WildFunctionPointerIsAnIllegalInstruction) {
  const auto failure = refusal("s_mov_b64 s[16:17], 0\ns_lshl_b32 s16, s16, 2\ns_swappc_b64 s[20:21], s[16:17]");
  if (!failure) FAIL() << "ran";
  EXPECT_EQ(failure->kind, compute::Failure::Kind::illegal_instruction) << failure->text;
  EXPECT_NE(failure->text.find("not mapped"), std::string::npos) << failure->text;
}

}  // namespace
}  // namespace softgpu::isa::calls
