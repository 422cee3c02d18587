#include "softgpu/compute/run_time/interrupt.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::compute {
namespace {

// Initial-exec: the handler must not be the first to touch them, which would allocate.
[[gnu::tls_model("initial-exec")]] thread_local volatile std::uint64_t running = 0;
[[gnu::tls_model("initial-exec")]] thread_local volatile std::sig_atomic_t pending = 0;

struct sigaction previous;

void on_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code != SI_QUEUE || info->si_pid != getpid()) {
    if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) previous.sa_handler(signal);
    return;
  }
  if (running == 0 || running != reinterpret_cast<std::uint64_t>(info->si_value.sival_ptr)) return;  // it came late
  pending = 1;
  if (!FaultGuard::is_in_force()) return;
  FaultGuard::exit_handler({EarlyExit::Cause::interrupted}, context);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(interrupt_signal, &action, &previous);
  });
}

}  // namespace

Interruptible::Interruptible(std::uint64_t token) noexcept {
  pending = 0;
  running = token;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

Interruptible::~Interruptible() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  running = 0;
}

bool Interruptible::interrupted() noexcept { return pending != 0; }

void interrupt(pid_t thread, std::uint64_t token) noexcept {
  install_handler();
  siginfo_t info{};
  info.si_signo = interrupt_signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(token);  // NOLINT(performance-no-int-to-ptr): a number
  syscall(SYS_rt_tgsigqueueinfo, info.si_pid, thread, interrupt_signal, &info);
}

}  // namespace softgpu::compute
