#include "dispatch/device/wait.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/backoff.hpp"
#include "fastdispatch/detail/forked_child.hpp"

namespace fastdispatch::detail {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// About as long as it takes to block and be woken through the interrupt of a signal: spinning longer gains nothing.
constexpr nanoseconds spin_time = std::chrono::microseconds(50);

// How long a blocked wait goes without a look at failures; HSA wakes it for its signals without delay. The slices grow,
// because HSA spins a little at the start of each.
constexpr nanoseconds first_slice = std::chrono::milliseconds(5);
constexpr nanoseconds longest_slice = std::chrono::milliseconds(160);

// The first pause between looks at signals; each is longer than the one before by a quarter, so that a wait takes at
// most a quarter longer than it must. A look of HSA's own begins with a spin of 200 us.
constexpr nanoseconds first_pause = std::chrono::microseconds(50);

constexpr int polls_between_checks = 64;

enum class Outcome { satisfied, time_up };

template <class Reached>
Outcome spin(const Reached& reached, const Deadline& deadline, const std::function<void()>& check_failure) {
  while (true) {
    for (int i = 0; i < polls_between_checks; ++i) {
      if (reached()) return Outcome::satisfied;
      pause();
    }
    check_failure();
    if (deadline.passed()) return Outcome::time_up;
  }
}

template <class Reached, class Block>
Outcome block(const Reached& reached, const Block& block_for, const Deadline& deadline,
              const std::function<void()>& check_failure) {
  for (nanoseconds slice = first_slice;; slice = std::min(2 * slice, longest_slice)) {
    block_for(std::clamp(deadline.left(), nanoseconds(0), slice));
    if (reached()) return Outcome::satisfied;
    check_failure();
    if (deadline.passed()) return Outcome::time_up;
  }
}

template <class Reached, class Block>
bool wait_until(const Reached& reached, const Block& block_for, const WaitOptions& options,
                const std::function<void()>& check_failure) {
  if (reached()) return true;
  check_not_forked();
  const Deadline deadline(options.timeout);
  if (options.policy == WaitPolicy::spin) return spin(reached, deadline, check_failure) == Outcome::satisfied;
  if (options.policy == WaitPolicy::spin_then_block) {
    const Deadline spun(std::min(spin_time, options.timeout));
    if (spin(reached, spun, check_failure) == Outcome::satisfied) return true;
    if (deadline.passed()) return false;
  }
  return block(reached, block_for, deadline, check_failure) == Outcome::satisfied;
}

void sleep_until_any(std::span<const Below> goals, nanoseconds timeout) {
  const Deadline deadline(timeout);
  const auto is_reached = [](const Below& goal) { return goal.reached(); };
  for (nanoseconds pause = first_pause; !std::ranges::any_of(goals, is_reached) && !deadline.passed();
       pause = std::min(pause + pause / 4, between_looks))
    std::this_thread::sleep_for(std::min(pause, deadline.left()));
}

std::uint64_t ticks_of(const AgentState& agent, nanoseconds time) {
  if (time == forever) return UINT64_MAX;
  return static_cast<std::uint64_t>(static_cast<double>(time.count()) * static_cast<double>(agent.timestamp_frequency) *
                                    1e-9);
}

}  // namespace

Deadline::Deadline(nanoseconds timeout) noexcept {
  const auto now = steady_clock::now();
  time_ = timeout < steady_clock::time_point::max() - now ? now + timeout : steady_clock::time_point::max();
}

bool wait_for(const AgentState& agent, const Below& goal, const WaitOptions& options,
              const std::function<void()>& check_failure) {
  return wait_for(
      goal, options, [&](nanoseconds time) { block_for(agent, goal, time); }, check_failure);
}

bool wait_for(const Below& goal, const WaitOptions& options, const std::function<void(nanoseconds)>& block_for,
              const std::function<void()>& check_failure) {
  return wait_until([&] { return goal.reached(); }, block_for, options, check_failure);
}

bool wait_for(const std::function<bool()>& reached, const WaitOptions& options,
              const std::function<void(nanoseconds)>& block_for, const std::function<void()>& check_failure) {
  return wait_until(reached, block_for, options, check_failure);
}

void block_for(const AgentState& agent, const Below& goal, nanoseconds timeout) {
  agent.api->signal_wait_scacquire(goal.signal, HSA_SIGNAL_CONDITION_LT, goal.threshold, ticks_of(agent, timeout),
                                   HSA_WAIT_STATE_BLOCKED);
}

void block_for_any(const AgentState& agent, std::span<const Below> goals, nanoseconds timeout) {
  if (goals.size() == 1) return block_for(agent, goals.front(), timeout);
  if (!agent.api->wait_any_keeps_time) return sleep_until_any(goals, timeout);
  std::vector<hsa_signal_t> signals;
  std::vector<hsa_signal_value_t> thresholds;
  for (const Below& goal : goals) {
    signals.push_back(goal.signal);
    thresholds.push_back(goal.threshold);
  }
  std::vector<hsa_signal_condition_t> conditions(signals.size(), HSA_SIGNAL_CONDITION_LT);
  agent.api->amd_signal_wait_any(static_cast<std::uint32_t>(signals.size()), signals.data(), conditions.data(),
                                 thresholds.data(), ticks_of(agent, timeout), HSA_WAIT_STATE_BLOCKED, nullptr);
}

}  // namespace fastdispatch::detail
