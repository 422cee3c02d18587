// Waiting for signals in a way that notices failures and time limits.
#pragma once

#include <chrono>
#include <functional>
#include <span>

#include <hsa/hsa.h>

#include "dispatch/hsa/amd_signal.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch::detail {

struct AgentState;

/// A point in time after which waiting ends; never, for the time limit `forever`.
class Deadline {
public:
  explicit Deadline(std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] bool passed() const noexcept { return std::chrono::steady_clock::now() >= time_; }
  [[nodiscard]] bool is_never() const noexcept { return time_ == std::chrono::steady_clock::time_point::max(); }
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept { return time_ - std::chrono::steady_clock::now(); }

private:
  std::chrono::steady_clock::time_point time_;
};

/// How long to wait for copies that are of no use any more. Longer than any copy takes, unless the GPU is lost, too.
constexpr std::chrono::seconds copies_may_take{5};

/// For condition variables, which add the time to the time of day.
constexpr std::chrono::hours longest_sleep{1};

/// A waiter's goal: the value of `signal` is below `threshold`.
struct Below {
  hsa_signal_t signal;
  hsa_signal_value_t threshold;
  [[nodiscard]] bool reached() const noexcept { return load_acquire(signal) < threshold; }
};

/// Waits until `goal` is reached; false when the time is up. In between it calls `check_failure`, which throws when the
/// goal cannot be reached any more.
bool wait_for(const AgentState& agent, const Below& goal, const WaitOptions& options,
              const std::function<void()>& check_failure);

/// The same, but blocks by `block_for`, which may return before its time.
bool wait_for(const Below& goal, const WaitOptions& options,
              const std::function<void(std::chrono::nanoseconds)>& block_for,
              const std::function<void()>& check_failure);

/// The same until `reached()`.
bool wait_for(const std::function<bool()>& reached, const WaitOptions& options,
              const std::function<void(std::chrono::nanoseconds)>& block_for,
              const std::function<void()>& check_failure);

/// Blocks in HSA until `goal` is reached, or until `timeout` or a little more has passed.
void block_for(const AgentState& agent, const Below& goal, std::chrono::nanoseconds timeout);

/// The most that passes between the looks of a thread that HSA does not wake.
constexpr std::chrono::nanoseconds between_looks = std::chrono::milliseconds(10);

/// Blocks until one of `goals`, of as many signals, is reached, or until `timeout` or a little more has passed: in HSA,
/// or where HSA cannot wait for several signals, asleep between looks at them. It may return earlier.
void block_for_any(const AgentState& agent, std::span<const Below> goals, std::chrono::nanoseconds timeout);

}  // namespace fastdispatch::detail
