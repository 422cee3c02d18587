// Launched kernels whose work-groups are not all taken, for workers that look for some.
//
// Thread safety: every member may be called by any worker.
// Memory ordering: everything that a dispatch's launch did happens before join() returns the dispatch.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "softgpu/command_processor/dispatch.hpp"

namespace softgpu::command_processor {

class RunningDispatches {
public:
  void add(std::shared_ptr<Dispatch> dispatch) {
    const std::lock_guard lock(mutex_);
    dispatches_.push_back(std::move(dispatch));
    count_.store(dispatches_.size(), std::memory_order_release);
  }

  /// The same if it is not there.
  void add_again(const std::shared_ptr<Dispatch>& dispatch) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(dispatches_, dispatch) != dispatches_.end()) return;
    dispatches_.push_back(dispatch);
    count_.store(dispatches_.size(), std::memory_order_release);
  }

  [[nodiscard]] bool is_empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }

  /// Whether the condition holds for a dispatch that has work-groups left.
  template <class Condition>
  [[nodiscard]] bool any(const Condition& condition) {
    if (is_empty()) return false;
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(
        dispatches_, [&](const auto& candidate) { return candidate->has_unclaimed() && condition(*candidate); });
  }

  /// Joins the oldest dispatch that has work-groups left and for which the condition holds; null if there is none.
  template <class Condition>
  [[nodiscard]] std::shared_ptr<Dispatch> join(const Condition& condition) {
    if (is_empty()) return nullptr;
    const std::lock_guard lock(mutex_);
    std::erase_if(dispatches_, [](const auto& candidate) { return !candidate->has_unclaimed(); });
    count_.store(dispatches_.size(), std::memory_order_release);
    const auto found = std::ranges::find_if(dispatches_, [&](const auto& candidate) { return condition(*candidate); });
    if (found == dispatches_.end()) return nullptr;
    (*found)->join();
    return *found;
  }

  /// From here on no worker joins it.
  void remove(const Dispatch& dispatch) {
    if (is_empty()) return;
    const std::lock_guard lock(mutex_);
    std::erase_if(dispatches_, [&](const auto& candidate) { return candidate.get() == &dispatch; });
    count_.store(dispatches_.size(), std::memory_order_release);
  }

private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Dispatch>> dispatches_;
  alignas(64) std::atomic<std::size_t> count_{0};
};

}  // namespace softgpu::command_processor
