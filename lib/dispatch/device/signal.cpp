#include "fastdispatch/signal.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/wait.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "dispatch/trace/host_span.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

Signal::Signal(Agent agent, hsa_signal_value_t initial)
    : Signal(agent, initial, detail::share_runtime_of(agent), detail::Interrupts::yes) {}
Signal::Signal(detail::OwnAgent agent, hsa_signal_value_t initial, detail::Interrupts interrupts)
    : Signal(agent.agent, initial, nullptr, interrupts) {}

Signal::Signal(Agent agent, hsa_signal_value_t initial, detail::RuntimeShare runtime, detail::Interrupts interrupts)
    : runtime_(std::move(runtime)), agent_(agent), faults_seen_(detail::state_of(agent).queues.faults()) {
  const detail::HsaApi& api = agent.api();
  // No list of consumers: any agent may write it and any thread wait for it.
  if (interrupts == detail::Interrupts::yes)
    detail::check(api, api.signal_create(initial, 0, nullptr, &handle_), "hsa_signal_create", "making a signal");
  else
    detail::check(api, api.amd_signal_create(initial, 0, nullptr, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &handle_),
                  "hsa_amd_signal_create", "making a signal without an event");
}

Signal::~Signal() {
  if (handle_.handle != 0) agent_.api().signal_destroy(handle_);
}

Signal::Signal(Signal&& other) noexcept
    : runtime_(std::move(other.runtime_)), agent_(other.agent_), handle_(std::exchange(other.handle_, {})),
      faults_seen_(other.faults_seen_.load()) {}

Signal& Signal::operator=(Signal&& other) noexcept {
  std::swap(runtime_, other.runtime_);
  std::swap(agent_, other.agent_);
  std::swap(handle_, other.handle_);
  faults_seen_ = other.faults_seen_.exchange(faults_seen_);
  return *this;
}

hsa_signal_value_t Signal::load() const { return detail::load_acquire(handle()); }

void Signal::store(hsa_signal_value_t value) {
  faults_seen_.store(detail::state_of(agent_).queues.faults(), std::memory_order_relaxed);
  agent_.api().signal_store_screlease(handle(), value);
}

void Signal::wait(WaitOptions options, hsa_signal_value_t threshold) const {
  const detail::HostSpan span("wait", "wait for a signal", {"signal", handle_.handle});
  detail::QueueRegistry& queues = detail::state_of(agent_).queues;
  const auto check_failure = [&, seen = std::uint32_t{0}]() mutable {
    queues.look_at_copies();
    if (const std::uint32_t failures = queues.failures(); failures != seen) {
      queues.throw_if_lost(handle_, faults_seen_.load(std::memory_order_relaxed));
      seen = failures;
    }
  };
  if (!detail::wait_for(detail::state_of(agent_), {.signal = handle(), .threshold = threshold}, options, check_failure))
    throw TimeoutError(
        fmt::format("waiting for a signal below {}: not reached within {} ms; its value is {}", threshold,
                    std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count(), load()));
}

struct detail::SignalPoolState {
  SignalPoolState(Agent of, RuntimeShare share, Interrupts kind)
      : runtime(std::move(share)), agent(of), interrupts(kind) {}

  [[nodiscard]] std::unique_ptr<Signal> make(hsa_signal_value_t initial) const {
    return runtime == nullptr ? std::make_unique<Signal>(OwnAgent{agent}, initial, interrupts)
                              : std::make_unique<Signal>(agent, initial);
  }

  RuntimeShare runtime;  ///< none if the runtime owns the pool
  Agent agent;
  Interrupts interrupts;
  std::mutex mutex;
  std::vector<std::unique_ptr<Signal>> idle;
  std::size_t made = 0;
};

PooledSignal::~PooledSignal() {
  if (signal_ == nullptr) return;
  if (detail::is_forked_child.load(std::memory_order_relaxed)) {  // another thread of the parent may have had the lock
    static_cast<void>(signal_.release());
    return;
  }
  const std::scoped_lock lock(pool_->mutex);
  pool_->idle.push_back(std::move(signal_));  // there is room
}

SignalPool::SignalPool(Agent agent, std::size_t preallocated)
    : state_(new detail::SignalPoolState(agent, detail::share_runtime_of(agent), detail::Interrupts::yes),
             detail::DeleteUnlessForked()) {
  for (; state_->made < preallocated; ++state_->made) state_->idle.push_back(state_->make(0));
}

SignalPool::SignalPool(detail::OwnAgent agent, detail::Interrupts interrupts)
    : state_(new detail::SignalPoolState(agent.agent, nullptr, interrupts), detail::DeleteUnlessForked()) {}

SignalPool::~SignalPool() = default;

PooledSignal SignalPool::acquire(hsa_signal_value_t initial) {
  {
    const std::scoped_lock lock(state_->mutex);
    // From the back, so that few signals stay warm. A signal that came back before it completed may have completed by
    // now.
    for (auto signal = state_->idle.rbegin(); signal != state_->idle.rend(); ++signal) {
      if ((*signal)->load() > 0) continue;
      std::swap(*signal, state_->idle.back());
      std::unique_ptr<Signal> taken = std::move(state_->idle.back());
      state_->idle.pop_back();
      taken->store(initial);
      return {state_, std::move(taken)};
    }
  }
  auto made = state_->make(initial);
  const std::scoped_lock lock(state_->mutex);
  state_->idle.reserve(++state_->made);  // so that giving back never allocates
  return {state_, std::move(made)};
}

std::size_t SignalPool::size() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->made;
}

}  // namespace fastdispatch
