// A body of code on a stack of its own, which can be suspended anywhere and run again any number of times.
#pragma once

#include <cstddef>
#include <memory>

#include "softgpu/compute/run_time/stack_switch.hpp"

namespace softgpu::compute {

/// Owns the stack. Made once and resumed often: a switch takes a few nanoseconds, making one takes system calls.
///
/// Thread safety: none; a fiber may move between threads while it is suspended.
class Fiber {
public:
  /// Returns which fiber runs next, as by hand_over_to(); null: the caller of resume does.
  using Body = Fiber* (*)(void* argument);
  using Call = void (*)(void* argument);

  Fiber(Body body, void* argument);
  /// The body must not be suspended halfway.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body, from its start or from where it was suspended, until it suspends or ends.
  void resume();

  /// Called by the body: returns to the caller of resume.
  void suspend();

  /// Called by the body: suspends it and runs `next`, which then is what the caller of resume runs. Costs less than
  /// suspend and resume: bodies that hand over at the same place return as they were called, as processors predict.
  void hand_over_to(Fiber& next);

  /// When the body, which is suspended, is resumed, it calls a function where it was, which does not return.
  void call_when_resumed(Call function, void* argument) noexcept;

  /// Where it is while it does not run, as long as it lives.
  [[nodiscard]] LeftStack& left_stack() noexcept;

  /// Pages are only committed when touched. The largest kernel has 512 VGPRs of 256 bytes and spills them all; code
  /// that is not optimized has a place for each value, and thousands of them.
  static constexpr std::size_t stack_bytes = std::size_t{4} << 20;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace softgpu::compute
