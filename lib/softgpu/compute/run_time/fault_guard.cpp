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
#include "softgpu/compute/run_time/moving_memory.hpp"
#include "softgpu/compute/run_time/sanitizers.hpp"

#if SOFTGPU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace softgpu::compute {

// Initial-exec: the handler must not be the first to touch it, which would allocate. A switch of stacks changes it, too
// (stack_switch.cpp).
extern "C" {
[[gnu::tls_model("initial-exec")]] constinit thread_local FaultGuard* softgpu_guard_in_force = nullptr;
}

namespace {

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
  if (info->si_code == SEGV_ACCERR && MovingMemory::wait_for(reinterpret_cast<std::uint64_t>(info->si_addr))) return;
  if (softgpu_guard_in_force == nullptr || info->si_code <= 0) return hand_on(signal, info, context);
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

/// A jump out of a handler drops the frames that it interrupted, from `stack` up to `top`. The address sanitizer marks
/// what lies between a frame's variables; when a function does not return it clears the marks on the handlers' stack
/// and the thread's own, but the frames may be a fiber's.
void clear_marks([[maybe_unused]] std::uint64_t stack, [[maybe_unused]] std::uint64_t top) {
#if SOFTGPU_ADDRESS_SANITIZER
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (stack < top) __asan_unpoison_memory_region(reinterpret_cast<const void*>(stack), top - stack);
#endif
}

}  // namespace

/// Where the translated code called the function whose frames begin at `stack`; 0 if it called none.
///
/// Translated code has a frame of one size and no unwind tables: the return address is the first word of the stack that
/// leads into the code, behind a call.
__attribute__((no_sanitize("address", "thread"))) std::uint64_t
FaultGuard::find_call(std::uint64_t stack) const noexcept {
  if (code_ == nullptr || code_->bytes == 0) return 0;
  constexpr std::uint64_t longest_call = 7;
  const auto follows_call = [](std::uint64_t address) {
    const auto byte = [&](std::uint64_t back) {
      return *reinterpret_cast<const std::uint8_t*>(address - back);  // NOLINT(performance-no-int-to-ptr)
    };
    constexpr std::uint8_t near_call = 0xe8;
    constexpr std::uint8_t indirect_call = 0xff;  // with a register, or with an address of one to five bytes
    return byte(5) == near_call || byte(2) == indirect_call || byte(3) == indirect_call || byte(6) == indirect_call ||
           byte(longest_call) == indirect_call;
  };
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  for (const auto* word = reinterpret_cast<const std::uint64_t*>(stack); word < stack_top_; ++word)
    if (code_->contains(*word - longest_call) && code_->contains(*word) && follows_call(*word)) return *word - 1;
  return 0;
}

void FaultGuard::enter() {
  static std::once_flag installed;
  std::call_once(installed, [] { put_in_front(on_fault); });
  static thread_local const AlternateStack alternate_stack;
  softgpu_guard_in_force = this;
}

void FaultGuard::leave() noexcept { softgpu_guard_in_force = nullptr; }

void FaultGuard::exit(EarlyExit reason) {
  FaultGuard* guard = softgpu_guard_in_force;
  if (reason.host_address == 0)
    reason.host_address = guard->find_call(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  guard->exit_ = reason;
  siglongjmp(guard->recovery_, 1);
}

void FaultGuard::exit_handler(EarlyExit reason, const void* context) {
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  const auto register_of = [&](int number) {
    return static_cast<std::uint64_t>(interrupted.uc_mcontext.gregs[number]);
  };
  softgpu_guard_in_force->unblocked_ = interrupted.uc_sigmask;
  softgpu_guard_in_force->in_handler_ = true;
  if (const std::uint64_t at = register_of(REG_RIP);
      softgpu_guard_in_force->code_ != nullptr && softgpu_guard_in_force->code_->contains(at))
    reason.host_address = at;
  else
    reason.host_address = softgpu_guard_in_force->find_call(register_of(REG_RSP));
  clear_marks(register_of(REG_RSP), reinterpret_cast<std::uint64_t>(softgpu_guard_in_force->stack_top_));
  exit(reason);
}

// Not before the jump: signals that come one after the other would pile up on the handlers' stack.
void FaultGuard::arrive() noexcept {
  leave();
  if (in_handler_) pthread_sigmask(SIG_SETMASK, &unblocked_, nullptr);
  in_handler_ = false;
}

void FaultGuard::stay_in_front() noexcept { put_in_front(on_fault); }

bool FaultGuard::is_in_force() noexcept { return softgpu_guard_in_force != nullptr; }

FaultGuard* FaultGuard::suspend() noexcept {
  FaultGuard* guard = softgpu_guard_in_force;
  softgpu_guard_in_force = nullptr;
  return guard;
}

void FaultGuard::resume(FaultGuard* guard) noexcept { softgpu_guard_in_force = guard; }

}  // namespace softgpu::compute
