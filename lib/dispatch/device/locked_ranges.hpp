// The pageable memory that running copies have locked.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace fastdispatch::detail {

/// To HSA such memory is locked, but only the copy that locked it may rely on the lock: the lock may end while another
/// copy reads the memory.
///
/// Thread safety: every member may be called from any thread.
class LockedRanges {
public:
  /// Before the memory is locked.
  void add(std::span<const std::byte> range) {
    const std::scoped_lock lock(mutex_);
    ranges_.push_back(range);
  }
  /// After it was unlocked.
  void remove(std::span<const std::byte> range) noexcept {
    const std::scoped_lock lock(mutex_);
    for (auto& candidate : ranges_) {
      if (candidate.data() != range.data() || candidate.size() != range.size()) continue;
      candidate = ranges_.back();
      ranges_.pop_back();
      return;
    }
  }
  /// Calls `look`, and returns whether `range` overlaps with a locked range at that time.
  template <class Look>
  [[nodiscard]] bool overlap_while(std::span<const std::byte> range, Look look) const {
    const std::scoped_lock lock(mutex_);
    look();
    const std::less<> before;
    for (const auto& candidate : ranges_)
      if (before(candidate.data(), range.data() + range.size()) &&
          before(range.data(), candidate.data() + candidate.size()))
        return true;
    return false;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::span<const std::byte>> ranges_;
};

}  // namespace fastdispatch::detail
