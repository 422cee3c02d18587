// One blocked wait for each queue. ROCr lets only the first waiter of a signal sleep where the driver has no event age
// (before version 1.14 of its interface): the others spin.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "dispatch/device/wait.hpp"

namespace fastdispatch::detail {

/// Of the threads that wait for epochs of a queue, one blocks in HSA until any epoch completes. The others sleep until
/// that thread returns.
///
/// Thread safety: every member may be called from any thread.
class BlockedWait {
public:
  /// Calls `block_in_hsa(next, timeout)`, where `next` is what `next_completion()` returns, or sleeps until a thread
  /// that called it returns, or for the timeout; does nothing if `goal` is reached. Returns whether the completions'
  /// thread is to be told (see try_begin).
  template <class NextCompletion, class BlockInHsa>
  [[nodiscard]] bool block(const Below& goal, std::chrono::nanoseconds timeout, NextCompletion next_completion,
                           BlockInHsa block_in_hsa) {
    std::unique_lock lock(mutex_);
    // In this order, and with the lock: who then sleeps has a goal that is not before the one that is waited for.
    const Below next = next_completion();
    if (goal.reached()) return false;
    if (taken_) {
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(timeout, longest_sleep));
      return false;
    }
    taken_ = true;
    lock.unlock();
    block_in_hsa(next, timeout);
    return end();
  }

  /// For the completions' thread, which blocks for several queues at once: whether it may block in HSA for this one,
  /// and for what. If not, it is told when the thread that does returns.
  template <class NextCompletion>
  [[nodiscard]] std::optional<Below> try_begin(NextCompletion next_completion) {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(taken_, true)) {
      completions_wait_ = true;
      return std::nullopt;
    }
    return next_completion();
  }
  /// Ends what try_begin began. Returns whether the completions' thread is to be told.
  bool end() {
    const std::scoped_lock lock(mutex_);
    taken_ = false;
    changed_.notify_all();
    return std::exchange(completions_wait_, false);
  }

private:
  static constexpr std::chrono::hours longest_sleep{1};  // condition variables add it to the time of day

  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;             ///< a thread blocks in HSA
  bool completions_wait_ = false;  ///< for that thread
};

}  // namespace fastdispatch::detail
