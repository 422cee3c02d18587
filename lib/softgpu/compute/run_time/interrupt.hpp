// The way to end a work-group from another thread: a kernel's loop that does not end has no place to ask.
//
// The signal SIGURG interrupts the worker, whose handler leaves the translated code as a fault does. Programs ignore
// that signal by default, so that one that comes late does no harm; whatever handler was there before gets the others.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace softgpu::compute {

constexpr int interrupt_signal = SIGURG;

/// The calling thread can be interrupted while this object lives. One object a thread at a time.
class Interruptible {
public:
  /// `token` names the execution; it is not 0.
  explicit Interruptible(std::uint64_t token) noexcept;
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// An interrupt came. Within a FaultGuard it ends the guard's body, elsewhere it is for the caller to ask.
  [[nodiscard]] static bool interrupted() noexcept;
};

/// Interrupts `thread` of this process if it still runs `token`. The interrupt may have no effect, for example if the
/// thread is about to begin: a caller that must be sure repeats it.
///
/// Thread safety: may be called from any thread, also for a thread that has ended.
void interrupt(pid_t thread, std::uint64_t token) noexcept;

}  // namespace softgpu::compute
