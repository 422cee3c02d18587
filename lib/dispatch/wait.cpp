#include "dispatch/wait.hpp"

#include <algorithm>
#include <cstdint>

#include "dispatch/amd_signal.hpp"
#include "dispatch/backoff.hpp"

namespace fastdispatch::detail {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// About what it takes to block and be woken through the interrupt of a signal: spinning longer gains nothing.
constexpr nanoseconds spin_time = std::chrono::microseconds(50);

// A blocked wait looks for failures this often; HSA wakes it for the signal itself without delay.
constexpr nanoseconds block_slice = std::chrono::milliseconds(10);

constexpr int polls_between_checks = 64;

enum class Outcome { satisfied, time_up };

Outcome spin(hsa_signal_t signal, hsa_signal_value_t threshold, const Deadline& deadline,
             const std::function<void()>& check_failure) {
  while (true) {
    for (int i = 0; i < polls_between_checks; ++i) {
      if (load_acquire(signal) < threshold) return Outcome::satisfied;
      pause();
    }
    check_failure();
    if (deadline.passed()) return Outcome::time_up;
  }
}

Outcome block(const AgentState& agent, hsa_signal_t signal, hsa_signal_value_t threshold, const Deadline& deadline,
              const std::function<void()>& check_failure) {
  while (true) {
    const nanoseconds slice = std::clamp(deadline.left(), nanoseconds(0), block_slice);
    const auto ticks = static_cast<std::uint64_t>(static_cast<double>(slice.count()) *
                                                  static_cast<double>(agent.timestamp_frequency) * 1e-9);
    agent.api->signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, threshold, ticks, HSA_WAIT_STATE_BLOCKED);
    if (load_acquire(signal) < threshold) return Outcome::satisfied;
    check_failure();
    if (deadline.passed()) return Outcome::time_up;
  }
}

}  // namespace

Deadline::Deadline(nanoseconds timeout) noexcept {
  const auto now = steady_clock::now();
  time_ = timeout < steady_clock::time_point::max() - now ? now + timeout : steady_clock::time_point::max();
}

bool wait_below(const AgentState& agent, hsa_signal_t signal, hsa_signal_value_t threshold, const WaitOptions& options,
                const std::function<void()>& check_failure) {
  if (load_acquire(signal) < threshold) return true;
  const Deadline deadline(options.timeout);
  if (options.policy == WaitPolicy::spin) return spin(signal, threshold, deadline, check_failure) == Outcome::satisfied;
  if (options.policy == WaitPolicy::spin_then_block) {
    const Deadline spun(std::min(spin_time, options.timeout));
    if (spin(signal, threshold, spun, check_failure) == Outcome::satisfied) return true;
    if (deadline.passed()) return false;
  }
  return block(agent, signal, threshold, deadline, check_failure) == Outcome::satisfied;
}

}  // namespace fastdispatch::detail
