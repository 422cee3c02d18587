// A recording spread over several queues: docs/streams.md tells how and why.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dispatch/record/step.hpp"

namespace fastdispatch::detail {

// Steps that go to a queue in one piece, with fences derived among them. A segment starts when the segments that it
// waits for have completed, and behind everything that it conflicts with in its own queue.
struct Segment {
  std::size_t queue;
  std::vector<std::size_t> steps;  // in the order in which they go to the queue
  std::vector<std::size_t>
      waits;  // for earlier segments, by number; without those that another one of them comes after
};

struct Partition {
  std::size_t queues = 1;         // that have segments; the first ones
  std::vector<Segment> segments;  // each conflicts only with those before it
  // The most packets that wait for other queues in a run, be it the first one or one behind a run of the same
  // recording.
  std::size_t waits = 0;
};

// Spreads `steps`, of which there is at least one, over `queues` queues, even where that does not pay; over fewer where
// some would get nothing.
[[nodiscard]] Partition spread_over(std::span<const Step> steps, std::size_t queues);

// Spreads `steps`, of which there is at least one, over at most `queues` queues; over one where the waits between
// several would cost more than they gain.
[[nodiscard]] Partition partition(std::span<const Step> steps, std::size_t queues);

}  // namespace fastdispatch::detail
