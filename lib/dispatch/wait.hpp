// Waiting for a signal in a way that notices failures and time limits.
#pragma once

#include <chrono>
#include <functional>

#include <hsa/hsa.h>

#include "dispatch/agent_state.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch::detail {

/// A point in time after which waiting ends; never, for the time limit `forever`.
class Deadline {
public:
  explicit Deadline(std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] bool passed() const noexcept { return std::chrono::steady_clock::now() >= time_; }
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept { return time_ - std::chrono::steady_clock::now(); }

private:
  std::chrono::steady_clock::time_point time_;
};

/// Waits until the value of `signal` is below `threshold`; false when the time is up. In between it calls
/// `check_failure`, which throws when the wait is in vain.
bool wait_below(const AgentState& agent, hsa_signal_t signal, hsa_signal_value_t threshold, const WaitOptions& options,
                const std::function<void()>& check_failure);

}  // namespace fastdispatch::detail
