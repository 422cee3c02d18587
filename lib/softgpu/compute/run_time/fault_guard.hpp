// The way out of translated code before its end: a wild address, a trap, an interrupt, MODE, or the end of the
// whole work-group.
//
// Translated code has no unwind tables and no destructors, so leaving it is a jump. A host fault (SIGSEGV, SIGBUS)
// outside of a guard goes to the program's handler (fault_handlers.hpp).
#pragma once

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <optional>

#include "softgpu/compute/run_time/early_exit.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// A place to come back to. One a stack, which a switch to another stack leaves (stack_switch.hpp).
///
/// Thread safety: none needed; a guard belongs to the thread that runs its body.
class FaultGuard {
public:
  /// `code` is the translated code that bodies run, to tell where in it they were left; it may change between its
  /// calls, and must outlive the guard. Null: the bodies run none.
  explicit FaultGuard(const WaveCode* code = nullptr) : code_(code) {}

  /// Runs `body` to its end, or to an early exit; in the latter case no destructor of a frame within `body` runs.
  template <class Body>
  std::optional<EarlyExit> run(Body&& body) {
    if (sigsetjmp(recovery_, 0) == 0) {
      stack_top_ = __builtin_frame_address(0);
      enter();
      body();
      leave();
      return std::nullopt;
    }
    arrive();
    return exit_;
  }

  /// Ends the body of the innermost guard of this thread. Must be called from within one.
  [[noreturn]] static void exit(EarlyExit reason);

  /// The same out of a signal handler with the `context` that the handler got. The signals that the handler blocks stay
  /// blocked until its stack has been left.
  [[noreturn]] static void exit_handler(EarlyExit reason, const void* context);

  /// Puts the handler of faults back in front of a handler that the program has installed meanwhile, which would be
  /// told of kernels' faults. Costs two system calls: whoever begins something after a while calls it.
  static void stay_in_front() noexcept;

  /// Whether the calling thread is within a guard's body.
  [[nodiscard]] static bool is_in_force() noexcept;

  /// Takes the calling thread's guard out of force; resume() puts it back.
  [[nodiscard]] static FaultGuard* suspend() noexcept;
  static void resume(FaultGuard* guard) noexcept;

private:
  void enter();
  void leave() noexcept;
  void arrive() noexcept;
  [[nodiscard]] std::uint64_t find_call(std::uint64_t stack) const noexcept;

  const WaveCode* code_;
  const void* stack_top_ = nullptr;  ///< the body's frames lie below
  std::jmp_buf recovery_;
  EarlyExit exit_{};
  sigset_t unblocked_;  ///< the signal mask outside of the handler, if a handler was left
  bool in_handler_ = false;
};

}  // namespace softgpu::compute
