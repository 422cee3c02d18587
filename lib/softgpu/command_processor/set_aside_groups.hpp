// Work-groups that have begun and that no worker runs now.
//
// Thread safety: every member may be called by any worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "softgpu/command_processor/dispatch.hpp"

namespace softgpu::command_processor {

struct SetAsideGroup {
  std::shared_ptr<Dispatch> dispatch;
  std::unique_ptr<compute::SuspendedGroup> group;  // before the dispatch in destruction
  std::uint64_t since = 0;                         // when it was set aside first, by gpu_clock()
};

class SetAsideGroups {
public:
  void add(SetAsideGroup group) {
    const std::lock_guard lock(mutex_);
    groups_.push_back(std::move(group));
    size_.store(groups_.size(), std::memory_order_release);
  }

  /// The work-group that has been here the longest.
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
