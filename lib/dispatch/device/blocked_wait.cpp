#include "dispatch/device/blocked_wait.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/device/agent_state.hpp"
#include "fastdispatch/signal.hpp"

namespace fastdispatch::detail {

namespace {

using std::chrono::nanoseconds;

/// One of the agent's signals, to wake a thread that blocks in HSA. Null where HSA has no more events, or the process
/// no memory.
class WakeSignal {
public:
  explicit WakeSignal(AgentState& agent) {
    try {
      signal_.emplace(agent.wake_signals->acquire());
    } catch (const std::exception&) {  // a thread that cannot be woken looks now and then
    }
  }
  ~WakeSignal() {
    if (signal_) (*signal_)->store(0);  // so that the pool lends it again
  }
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  [[nodiscard]] hsa_signal_t handle() { return signal_ ? (*signal_)->handle() : hsa_signal_t{}; }

private:
  std::optional<PooledSignal> signal_;
};

Below woken_by(hsa_signal_t wake) { return {.signal = wake, .threshold = 1}; }

}  // namespace

/// A thread while it blocks.
class BlockedWait::Waiter {
public:
  /// For a thread that waits for this queue alone. While it is covered it sleeps on the condition variable.
  Waiter(AgentState& agent, BlockedWait& queue, const Below& goal) : Waiter(agent, queue, goal, {}, &agent) {}
  /// For a thread that blocks in HSA for other signals as well, `wake` among them.
  Waiter(const AgentState& agent, BlockedWait& queue, const Below& goal, hsa_signal_t wake)
      : Waiter(agent, queue, goal, wake, nullptr) {}
  ~Waiter() {
    const std::scoped_lock lock(queue_.mutex_);
    std::erase(queue_.waiters_, this);
    if (queue_.first_ != this) return;
    queue_.first_ = nullptr;
    queue_.changed_.notify_all();
    for (const Waiter* waiter : queue_.waiters_) waiter->wake();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Whether another thread blocks in HSA and wakes this one in time.
  [[nodiscard]] bool is_covered() const noexcept { return covered_; }
  /// What a thread that is not covered blocks for in HSA.
  [[nodiscard]] const Below& goal() const noexcept { return goal_; }
  [[nodiscard]] hsa_signal_t wake_signal() const noexcept { return wake_; }

  /// Sleeps until the thread is not covered, or its goal is reached, or the time is up.
  void sleep_while_covered(const Deadline& deadline) {
    std::unique_lock lock(queue_.mutex_);
    while (covered_ && !goal_.reached() && !deadline.passed()) {
      queue_.changed_.wait_for(lock, std::min<nanoseconds>(deadline.left(), longest_sleep));
      find_place();
    }
  }

private:
  Waiter(const AgentState& agent, BlockedWait& queue, const Below& goal, hsa_signal_t wake, AgentState* lender)
      : agent_(agent), lender_(lender), queue_(queue), goal_(goal), wake_(wake) {
    const std::scoped_lock lock(queue_.mutex_);
    queue_.waiters_.push_back(this);
    find_place();
  }

  void find_place() {
    const Waiter*& first = queue_.first_;
    covered_ = first != nullptr;
    if (first == nullptr) {
      if (lender_ != nullptr && agent_.api->wait_any_keeps_time) wake_ = borrowed_.emplace(*lender_).handle();
      first = this;
      for (const Waiter* waiter : queue_.waiters_)  // epoch signals count down: an earlier epoch is a higher threshold
        goal_.threshold = std::max(goal_.threshold, waiter->goal_.threshold);
    } else if (first->goal_.threshold < goal_.threshold) {
      if (first->wake_.handle != 0)
        first->wake();
      else
        covered_ = false;  // it blocks in HSA beside the first one
    }
  }
  void wake() const {
    if (wake_.handle != 0) agent_.api->signal_store_screlease(wake_, 0);
  }

  const AgentState& agent_;
  AgentState* lender_;  ///< of a wake signal for the time in HSA
  BlockedWait& queue_;
  Below goal_;
  hsa_signal_t wake_;
  std::optional<WakeSignal> borrowed_;
  bool covered_ = false;
};

void BlockedWait::block(AgentState& agent, const Below& goal, nanoseconds timeout) {
  const Deadline deadline(timeout);
  Waiter waiter(agent, *this, goal);
  waiter.sleep_while_covered(deadline);
  if (waiter.is_covered()) return;
  const nanoseconds rest = std::max(deadline.left(), nanoseconds(0));
  if (waiter.wake_signal().handle == 0) return block_for(agent, waiter.goal(), rest);
  block_for_any(agent, std::array{waiter.goal(), woken_by(waiter.wake_signal())}, rest);
}

void block_for_first(const AgentState& agent, std::span<const QueueGoal> goals, hsa_signal_t wake,
                     nanoseconds timeout) {
  // Of several goals of a queue the earliest suffices. ROCr spins if a signal is listed twice.
  std::map<BlockedWait*, Below> earliest;
  for (const auto& [queue, goal] : goals) {
    Below& wanted = earliest.try_emplace(queue, goal).first->second;
    wanted.threshold = std::max(wanted.threshold, goal.threshold);
  }
  std::list<BlockedWait::Waiter> waiters;
  std::vector<Below> in_hsa;
  for (const auto& [queue, goal] : earliest) {
    const BlockedWait::Waiter& waiter = waiters.emplace_back(agent, *queue, goal, wake);
    if (!waiter.is_covered()) in_hsa.push_back(waiter.goal());
  }
  if (wake.handle != 0)
    in_hsa.push_back(woken_by(wake));
  else
    timeout = std::min(timeout, between_looks);
  if (in_hsa.empty()) return std::this_thread::sleep_for(timeout);
  block_for_any(agent, in_hsa, timeout);
}

void block_for_first(AgentState& agent, std::span<const QueueGoal> goals, nanoseconds timeout) {
  WakeSignal wake(agent);
  block_for_first(agent, goals, wake.handle(), timeout);
}

}  // namespace fastdispatch::detail
