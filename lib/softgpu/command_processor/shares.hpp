// How the work-groups of a grid are handed out: a stretch of neighbours for each core, range by range.
//
// Neighbouring work-groups mostly access neighbouring memory, and the kernels of a batch mostly access the same memory:
// each core finds its stretch in its own cache again. A worker that is through with its stretch goes on with others'.
// What a worker does not come to of a range, it gives back.
//
// Thread safety: deal() is for one worker while no other worker knows of the grid; all else may be called by any
// worker.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace softgpu::command_processor {

class Shares {
public:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  void deal(std::uint64_t groups, std::uint32_t cores) noexcept {
    given_back_.clear();
    given_back_count_.store(0, std::memory_order_relaxed);
    count_ = static_cast<std::uint32_t>(std::min({std::uint64_t{cores}, std::uint64_t{most}, groups}));
    for (std::uint32_t i = 0; i != count_; ++i) {
      shares_[i].next.store(groups * i / count_, std::memory_order_relaxed);
      shares_[i].end = groups * (i + 1) / count_;
      shares_[i].least = std::clamp<std::uint64_t>(groups / count_ / 8, 1, largest_least_range);
    }
  }

  /// The next work-groups to run, on the core of that number; none when all are taken.
  [[nodiscard]] std::optional<Range> claim(std::uint32_t core) noexcept {
    if (given_back_count_.load(std::memory_order_relaxed) != 0)
      if (const auto range = claim_again()) return range;
    for (std::uint32_t i = 0; i != count_; ++i) {
      Share& share = shares_[(core + i) % count_];
      std::uint64_t begin = share.next.load(std::memory_order_relaxed);
      while (begin < share.end) {
        const std::uint64_t end =
            begin + std::min(share.end - begin, std::clamp((share.end - begin) / 2, share.least, largest_range));
        if (share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed))
          return Range{.begin = begin, .end = end};
      }
    }
    return std::nullopt;
  }

  /// Takes all that was dealt. For one worker while no other worker knows of the grid.
  void take_all() noexcept {
    for (Share& share : shares_) share.next.store(share.end, std::memory_order_relaxed);
  }

  void give_back(const Range& range) {
    const std::lock_guard lock(mutex_);
    given_back_.push_back(range);
    given_back_count_.store(given_back_.size(), std::memory_order_relaxed);
  }

  [[nodiscard]] bool are_left() const noexcept {
    if (given_back_count_.load(std::memory_order_relaxed) != 0) return true;
    return std::any_of(shares_.begin(), shares_.begin() + count_,
                       [](const Share& share) { return share.next.load(std::memory_order_relaxed) < share.end; });
  }

private:
  [[nodiscard]] std::optional<Range> claim_again() noexcept {
    const std::lock_guard lock(mutex_);
    if (given_back_.empty()) return std::nullopt;
    const Range range = given_back_.back();
    given_back_.pop_back();
    given_back_count_.store(given_back_.size(), std::memory_order_relaxed);
    return range;
  }

  /// A range is half of the rest of a share, so that workers finish together. It has an upper bound: between ranges a
  /// worker sees that its grid is over, or that there is a core for another worker. Its lower bound is an eighth of the
  /// share, within these bounds: beginning a range takes as long as a small work-group.
  static constexpr std::uint64_t largest_range = 64;
  static constexpr std::uint64_t largest_least_range = 8;
  static constexpr std::uint32_t most = 16;

  struct alignas(64) Share {
    std::atomic<std::uint64_t> next{0};
    std::uint64_t end = 0;
    std::uint64_t least = 1;  ///< work-groups in a range
  };

  std::array<Share, most> shares_;
  std::uint32_t count_ = 0;

  std::mutex mutex_;
  std::vector<Range> given_back_;
  std::atomic<std::size_t> given_back_count_{0};
};

}  // namespace softgpu::command_processor
