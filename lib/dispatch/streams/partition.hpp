// A recording spread over several queues: docs/streams.md tells how and why.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dispatch/record/step.hpp"

namespace fastdispatch::detail {

// Steps that go to a queue in one piece, with fences derived among them. It starts when the segments have completed
// that it waits for, and behind what it conflicts with in its queue.
struct Segment {
  std::size_t queue;
  std::vector<std::size_t> steps;  // in the order in which they go to the queue
  std::vector<std::size_t> waits;  // for earlier segments, by number; none that others of them cover
};

struct Partition {
  std::size_t queues = 1;         // that have segments; the first ones
  std::vector<Segment> segments;  // each conflicts only with those before it
  // Packets, at most, that wait for other queues in a run, whether behind nothing or behind one of the same recording.
  std::size_t waits = 0;
};

// Spreads `steps`, which are some, over `queues` queues, or over fewer where there is nothing for the others; worth it
// or not.
[[nodiscard]] Partition spread_over(std::span<const Step> steps, std::size_t queues);

// Spreads `steps`, which are some, over at most `queues` queues; over one where several are not worth the waits between
// them.
[[nodiscard]] Partition partition(std::span<const Step> steps, std::size_t queues);

}  // namespace fastdispatch::detail
