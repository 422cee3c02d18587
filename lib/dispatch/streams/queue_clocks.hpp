// Which epochs of other queues have completed when a segment starts in a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fastdispatch::detail {

// The end of a segment, and the epochs that have completed by then. A segment goes into a queue in one piece.
struct Milestone {
  std::size_t queue = 0;
  std::uint64_t epoch = 0;  // of its queue; 0 has always completed
  // Of each queue, the last epoch that has completed.
  std::vector<std::uint64_t> completed{};
};

// Vector clocks over queues, which count epochs. A queue is told which milestones of other queues to wait for. Its next
// segment starts when these milestones are reached, and with them everything that they came after. The segment
// completes behind everything that was put into its queue before. A queue's own segments count as known to it: their
// encoder orders them. Nothing here allocates once the given milestones have been used.
class QueueClocks {
public:
  explicit QueueClocks(std::size_t queues);

  // Whether `milestone` has been reached when the next segment of `queue` starts.
  [[nodiscard]] bool is_known(std::size_t queue, const Milestone& milestone) const noexcept {
    return covers(known_[queue], milestone);
  }
  // Removes from `needed` the milestones that `queue` need not wait for: milestones that the queue knows already, and
  // milestones that lie before another milestone in `needed`.
  void leave_out_known(std::size_t queue, std::vector<const Milestone*>& needed) const noexcept;

  // The next segments of `queue` start behind `milestone`.
  void wait(std::size_t queue, const Milestone& milestone) noexcept;
  // Starts a segment that ends with `epoch`; epochs of a queue grow. The returned end is valid until the queue's next
  // segment starts.
  const Milestone& start(std::size_t queue, std::uint64_t epoch) noexcept;

  // The ends of all queues' latest segments.
  [[nodiscard]] std::span<const Milestone> latest() const noexcept { return latest_; }

private:
  using Clock = std::vector<std::uint64_t>;

  [[nodiscard]] static bool covers(const Clock& clock, const Milestone& milestone) noexcept {
    return clock[milestone.queue] >= milestone.epoch;
  }

  std::vector<Clock> known_;  // what has completed when the next segment of each queue starts
  std::vector<Milestone> latest_;
};

}  // namespace fastdispatch::detail
