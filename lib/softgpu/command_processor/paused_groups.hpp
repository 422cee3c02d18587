// Work-groups whose turn was over: they wait for nothing but a core.
//
// Thread safety: every member may be called by any worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "softgpu/command_processor/set_aside.hpp"

namespace softgpu::command_processor {

class PausedGroups {
public:
  void add(SetAsideGroup group) {
    const std::lock_guard lock(mutex_);
    groups_.push_back(std::move(group));
    size_.store(groups_.size(), std::memory_order_release);
  }

  /// The work-group whose turn ended the longest ago.
  [[nodiscard]] std::optional<SetAsideGroup> take() {
    if (size() == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (groups_.empty()) return std::nullopt;
    SetAsideGroup group = std::move(groups_.front());
    groups_.pop_front();
    size_.store(groups_.size(), std::memory_order_release);
    return group;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

private:
  std::mutex mutex_;
  std::deque<SetAsideGroup> groups_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace softgpu::command_processor
