// What of other queues has completed when something starts in one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fastdispatch::detail {

// Vector clocks over queues. What goes into a queue in one piece, a segment, starts when the segments before it in its
// queue have completed, and those of other queues that it waits for; with these, all that they came after. Segments are
// numbered as they start.
class QueueClocks {
public:
  explicit QueueClocks(std::size_t queues) : started_(queues), latest_(queues, Clock(queues)) {}

  [[nodiscard]] std::size_t segments() const noexcept { return segments_.size(); }
  [[nodiscard]] std::size_t queue_of(std::size_t segment) const noexcept { return segments_[segment].queue; }

  // Starts a segment in `queue` behind all of `needed`; returns those that it has to wait for, the latest of each queue
  // at most: none of its own queue, none that its queue waited for before, none that another of them came after.
  std::vector<std::size_t> start(std::size_t queue, std::span<const std::size_t> needed);

  // Whether `segment`, of another queue, has completed when the latest one of `queue` starts.
  [[nodiscard]] bool is_behind(std::size_t queue, std::size_t segment) const noexcept {
    return knows(latest_[queue], segment);
  }
  // Whether all segments have completed when `segment` has.
  [[nodiscard]] bool is_last(std::size_t segment) const noexcept;

private:
  // Of each queue, how many segments have completed.
  using Clock = std::vector<std::size_t>;
  struct Segment {
    std::size_t queue;
    std::size_t ordinal;  // the queue's first has 1
    Clock completed;      // when it has
  };

  [[nodiscard]] bool knows(const Clock& clock, std::size_t segment) const noexcept {
    return clock[segments_[segment].queue] >= segments_[segment].ordinal;
  }

  std::vector<Segment> segments_;
  Clock started_;
  std::vector<Clock> latest_;  // what has completed when the latest segment of each queue has
};

}  // namespace fastdispatch::detail
