// One blocked wait for each queue. ROCr lets only the first waiter of a signal sleep where the driver has no event age
// (before version 1.14 of its interface): the others spin.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "dispatch/device/wait.hpp"

namespace fastdispatch::detail {

/// Of the threads that wait for epochs of a queue, one blocks in HSA. Threads that wait for the same epoch, or a later
/// one, sleep until that thread returns. A thread that waits for an earlier epoch blocks in HSA beside it.
///
/// Thread safety: every member may be called from any thread.
class BlockedWait {
public:
  /// Calls `block_in_hsa()`, or sleeps until the thread that blocks in HSA returns, or for `timeout`; does nothing if
  /// `goal` is reached. Returns whether the completions' thread is to be told (see try_begin).
  template <class BlockInHsa>
  [[nodiscard]] bool block(const Below& goal, std::chrono::nanoseconds timeout, BlockInHsa block_in_hsa) {
    std::unique_lock lock(mutex_);
    if (goal.reached()) return false;
    const Place place = place_of(goal);
    if (place == Place::covered) {
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(timeout, longest_sleep));
      return false;
    }
    lock.unlock();
    block_in_hsa();
    return place == Place::first && end();
  }

  enum class Place {
    first,    ///< blocks in HSA; `end` follows
    beside,   ///< blocks in HSA beside the first thread
    covered,  ///< the first thread returns in time
  };

  /// For the completions' thread, which blocks in HSA for several queues at once. Where it is covered, it is told when
  /// the first thread returns.
  [[nodiscard]] Place try_begin(const Below& goal) {
    const std::scoped_lock lock(mutex_);
    const Place place = place_of(goal);
    if (place == Place::covered) completions_wait_ = true;
    return place;
  }
  /// Returns whether the completions' thread is to be told.
  bool end() {
    const std::scoped_lock lock(mutex_);
    taken_ = false;
    changed_.notify_all();
    return std::exchange(completions_wait_, false);
  }

private:
  static constexpr std::chrono::hours longest_sleep{1};  // condition variables add it to the time of day

  // Epoch signals count down: the threshold of a later epoch is lower.
  Place place_of(const Below& goal) {
    if (taken_) return goal.threshold <= threshold_ ? Place::covered : Place::beside;
    taken_ = true;
    threshold_ = goal.threshold;
    return Place::first;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;                ///< a thread blocks in HSA as the first
  hsa_signal_value_t threshold_ = 0;  ///< its goal
  bool completions_wait_ = false;     ///< for that thread
};

}  // namespace fastdispatch::detail
