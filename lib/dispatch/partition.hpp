// A program spread over several queues: docs/streams.md tells how and why.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/batch_image.hpp"

namespace fastdispatch::detail {

// A segment that another one waits for.
struct SegmentWait {
  std::size_t segment;  // by its number
  bool of_run_before;   // not of this run of the program but of the one before it

  friend bool operator==(const SegmentWait&, const SegmentWait&) = default;
};

// Steps that go to a queue in one piece, with fences derived among them. It starts when the queue's segments before it
// have completed, and those that it waits for.
struct Segment {
  std::size_t queue;
  std::vector<std::size_t> steps;        // in the order in which they go to the queue
  std::vector<SegmentWait> waits;        // in a first run, behind which everything before has completed
  std::vector<SegmentWait> waits_again;  // in a run right behind one of the same program
};

struct Partition {
  std::size_t queues = 1;         // that have segments; the first ones
  std::vector<Segment> segments;  // one waits only for those before it and for those of the run before
  // A segment that completes behind all others, where there is one.
  std::optional<std::size_t> last;

  // Packets that wait for other queues, a run: where no segment is the last, one more for each queue.
  [[nodiscard]] std::size_t waits() const noexcept;
};

// Spreads `steps`, which are some, over `queues` queues, or over fewer where there is nothing for the others; worth it
// or not.
[[nodiscard]] Partition spread_over(std::span<const Step> steps, std::size_t queues);

// Spreads `steps`, which are some, over at most `queues` queues; over one where several are not worth the waits between
// them.
[[nodiscard]] Partition partition(std::span<const Step> steps, std::size_t queues);

}  // namespace fastdispatch::detail
