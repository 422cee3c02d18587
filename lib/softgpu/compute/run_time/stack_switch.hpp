// Stacks that take turns on a thread, and the barrier at which wavefronts do so.
//
// A switch takes what a function keeps for its caller, and the guard in force: a fault ends what runs on the stack that
// it came from. MXCSR and the x87 unit's control word stay: translated code changes them only within an instruction.
#pragma once

#include <cstddef>

#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// A stack while another one runs.
struct LeftStack {
  void* pointer = nullptr;
  FaultGuard* guard = nullptr;  ///< in force on it
};

// stack_switch.cpp has them in assembly, which knows these places.
static_assert(offsetof(LeftStack, pointer) == 0 && offsetof(LeftStack, guard) == 8);
static_assert(offsetof(WaveState, stack_behind_barrier) == 0 && offsetof(WaveState, stack) == 8);

/// Leaves the running stack in `left`, and goes on where `next` was left. Returns when something switches to `left`. A
/// signal that comes in between finds the guard of one of the two in force while that one's stack runs, or none.
extern "C" void softgpu_switch_stack(LeftStack* left, const LeftStack* next);

/// WaveState::barrier of wavefronts that run from barrier to barrier in turns: goes on with `stack_behind_barrier`;
/// where there is none, calls softgpu_ask_at_barrier.
extern "C" void softgpu_wait_at_barrier(WaveState* state);
extern "C" void softgpu_ask_at_barrier(WaveState* state);

/// Makes a stack that was left, or one of which `pointer` is the top, go on with a call of `function`, which does not
/// return.
void go_on_with(LeftStack& stack, void (*function)(void*), void* argument) noexcept;

}  // namespace softgpu::compute
