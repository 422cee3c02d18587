// What of other queues has completed when something starts in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fastdispatch::detail {

// The end of a segment, which is what goes into a queue in one piece, and what has completed by then.
struct Milestone {
  std::size_t queue = 0;
  std::uint64_t epoch = 0;  // of its queue; 0 has always completed
  // Of each queue, up to which epoch.
  std::vector<std::uint64_t> completed{};
};

// Vector clocks over queues, which count epochs. A segment starts when those of other queues have completed that its
// queue has been told to wait for, and all that these came after; it completes behind all that was put into its queue
// before. A queue's own segments count as known to it: whoever encodes them orders them. Nothing here allocates once
// the milestones that it is given have been used.
class QueueClocks {
public:
  explicit QueueClocks(std::size_t queues);

  // Whether `milestone` has been reached when the next segment of `queue` starts.
  [[nodiscard]] bool is_known(std::size_t queue, const Milestone& milestone) const noexcept {
    return covers(known_[queue], milestone);
  }
  // Reduces `needed` to the milestones that `queue` has to wait for, so that all of them have completed. Milestones
  // that the queue knows already go, and milestones that another one in `needed` comes after.
  void leave_out_known(std::size_t queue, std::vector<const Milestone*>& needed) const noexcept;

  // What is put into `queue` from now on starts behind `milestone`.
  void wait(std::size_t queue, const Milestone& milestone) noexcept;
  // Starts a segment; epochs of a queue grow. Returns its end, until the next one of the queue starts.
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
