#include "softgpu/compute/run_time/fault_guard.hpp"

#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>

#include "softgpu/compute/run_time/fault_handlers.hpp"

namespace softgpu::compute {
namespace {

// Initial-exec: the handler must not be the first to touch it, which would allocate.
[[gnu::tls_model("initial-exec")]] thread_local FaultGuard* current = nullptr;

bool may_be_read(void* address) {
  std::byte byte;
  const iovec local = {&byte, 1};
  const iovec remote = {address, 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 || errno != EFAULT;  // else the call is not allowed
}

/// Whether it was a write is in the page-fault error code (Intel's manual, volume 3, "Page-Fault Exception"). Linux
/// knows better than its other bits whether the page is there: pages are made when they are first touched.
Refusal refusal_of(int signal, const siginfo_t& info, const void* context) {
  constexpr unsigned is_write = 2;
  if (signal == SIGBUS) return Refusal::no_memory;
  if (info.si_code == SEGV_MAPERR) return Refusal::not_mapped;
  const auto error = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR];
  return (error & is_write) != 0 && may_be_read(info.si_addr) ? Refusal::read_only : Refusal::not_mapped;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  // Only the kernel's own reports (si_code > 0) are about an access; anyone may send the signal.
  if (current == nullptr || info->si_code <= 0) return hand_on(signal, info, context);
  if (info->si_code == SI_KERNEL) FaultGuard::exit_handler({EarlyExit::Cause::impossible_address}, context);
  FaultGuard::exit_handler({.cause = EarlyExit::Cause::memory_fault,
                            .address = reinterpret_cast<std::uint64_t>(info->si_addr),
                            .refusal = refusal_of(signal, *info, context)},
                           context);
}

/// The stack that a thread's handler runs on, so that running into a stack's guard page is caught like any fault.
class AlternateStack {
public:
  AlternateStack() {
    stack_t present{};
    sigaltstack(nullptr, &present);
    if ((present.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::make_unique<std::byte[]>(bytes);
    stack_t mine{};
    mine.ss_sp = memory_.get();
    mine.ss_size = bytes;
    sigaltstack(&mine, nullptr);
  }
  ~AlternateStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

private:
  static constexpr std::size_t bytes = 65536;  // the vector registers alone take a few KiB of a signal frame
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

void FaultGuard::enter() {
  static std::once_flag installed;
  std::call_once(installed, [] { put_in_front(on_fault); });
  static thread_local const AlternateStack alternate_stack;
  current = this;
}

void FaultGuard::leave() noexcept { current = nullptr; }

void FaultGuard::exit(EarlyExit reason) {
  FaultGuard* guard = current;
  guard->exit_ = reason;
  siglongjmp(guard->recovery_, 1);
}

void FaultGuard::exit_handler(EarlyExit reason, const void* context) {
  current->unblocked_ = static_cast<const ucontext_t*>(context)->uc_sigmask;
  current->in_handler_ = true;
  exit(reason);
}

// Not before the jump: signals that come one after the other would pile up on the handlers' stack.
void FaultGuard::arrive() noexcept {
  leave();
  if (in_handler_) pthread_sigmask(SIG_SETMASK, &unblocked_, nullptr);
  in_handler_ = false;
}

void FaultGuard::stay_in_front() noexcept { put_in_front(on_fault); }

bool FaultGuard::is_in_force() noexcept { return current != nullptr; }

FaultGuard* FaultGuard::suspend() noexcept {
  FaultGuard* guard = current;
  current = nullptr;
  return guard;
}

void FaultGuard::resume(FaultGuard* guard) noexcept { current = guard; }

}  // namespace softgpu::compute
