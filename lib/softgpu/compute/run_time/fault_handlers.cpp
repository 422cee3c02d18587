#include "softgpu/compute/run_time/fault_handlers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "softgpu/compute/run_time/interrupt.hpp"

namespace softgpu::compute {
namespace {

/// The handlers of others, the latest first. More than so many are not remembered: only handlers that come later than
/// the soft GPU's own add to them.
struct Handlers {
  static constexpr std::size_t most = 8;
  std::array<struct sigaction, most> actions{};
  std::size_t count = 0;
};

bool are_same(const struct sigaction& one, const struct sigaction& other) {
  // A union has both pointers.
  return one.sa_flags == other.sa_flags && one.sa_sigaction == other.sa_sigaction;
}

bool are_same(const Handlers& one, const Handlers& other) {
  return std::equal(one.actions.begin(), one.actions.begin() + one.count, other.actions.begin(),
                    other.actions.begin() + other.count, [](const auto& a, const auto& b) { return are_same(a, b); });
}

/// `action` before all others; it may have been among them.
Handlers with_first(const struct sigaction& action, const Handlers& others) {
  Handlers result;
  result.actions[result.count++] = action;
  for (std::size_t i = 0; i != others.count && result.count != Handlers::most; ++i)
    if (!are_same(others.actions[i], action)) result.actions[result.count++] = others.actions[i];
  return result;
}

/// Of one signal. Lists are never freed, since a signal handler may read one; a program that goes to and fro between
/// handlers makes no new ones.
class Chain {
public:
  void add(const struct sigaction& action) {
    const Handlers* present = handlers_.load(std::memory_order_relaxed);
    const Handlers wanted = with_first(action, present == nullptr ? Handlers() : *present);
    const auto known = std::ranges::find_if(made_, [&](const auto& made) { return are_same(*made, wanted); });
    const Handlers* chosen =
        known == made_.end() ? made_.emplace_back(std::make_unique<const Handlers>(wanted)).get() : known->get();
    handlers_.store(chosen, std::memory_order_release);
  }
  /// The one of that number, or null.
  [[nodiscard]] const struct sigaction* at(std::size_t number) const {
    const Handlers* present = handlers_.load(std::memory_order_acquire);
    return present == nullptr || number >= present->count ? nullptr : &present->actions[number];
  }

private:
  std::atomic<const Handlers*> handlers_{nullptr};
  std::vector<std::unique_ptr<const Handlers>> made_;
};

struct Chains {
  std::mutex mutex;
  Chain segv;
  Chain bus;
  [[nodiscard]] Chain& of(int signal) { return signal == SIGSEGV ? segv : bus; }
};

/// Never destroyed: faults come until the process has ended.
Chains& chains() {
  static Chains& instance = *new Chains;
  return instance;
}

/// What this thread hands on at the moment.
struct Handing {
  const void* context = nullptr;
  const void* frame = nullptr;  ///< of the call of hand_on()
  std::size_t number = 0;       ///< of the handler that it was handed to
};
// Initial-exec: the handler must not be the first to touch it, which would allocate.
[[gnu::tls_model("initial-exec")]] thread_local Handing handing;

void take_default_action(int signal, const siginfo_t& info) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  // It is taken when the faulting instruction runs again, or at once for a signal that was sent.
  if (info.si_code <= 0) raise(signal);
}

}  // namespace

void put_in_front(FaultHandler handler) noexcept try {
  const std::lock_guard lock(chains().mutex);
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaddset(&ours.sa_mask, interrupt_signal);
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == handler) continue;
    chains().of(signal).add(present);  // before it is needed
    sigaction(signal, &ours, nullptr);
  }
} catch (const std::bad_alloc&) {  // the next call may have more luck
}

// A program's handler may leave by a jump, so that `handing` stays as it is. It is this call's own only if the context
// is the same and that call's frame lies beyond this one: a new signal has another context, or one at the same place,
// and then its frame is at the same place, too.
void hand_on(int signal, siginfo_t* info, void* context) {
  const void* frame = __builtin_frame_address(0);
  const Handing outer = handing;
  const bool was_handed_back = outer.context == context && frame < outer.frame;
  handing = {.context = context, .frame = frame, .number = was_handed_back ? outer.number + 1 : 0};
  const struct sigaction* next = chains().of(signal).at(handing.number);
  if (next == nullptr || (next->sa_flags & SA_SIGINFO) == 0) {
    if (next == nullptr || next->sa_handler == SIG_DFL || next->sa_handler == SIG_IGN)
      take_default_action(signal, *info);
    else
      next->sa_handler(signal);
  } else {
    next->sa_sigaction(signal, info, context);
  }
  handing = outer;
}

}  // namespace softgpu::compute
