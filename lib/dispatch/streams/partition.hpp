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
  // How many packets wait for other queues in a run: in the first run, or in a run behind a run of the same recording,
  // whichever has more.
  std::size_t waits = 0;
};

// Spreads `steps`, at least one, over `queues` queues, even if this does not pay; over fewer queues if some would get
// no steps.
[[nodiscard]] Partition spread_over(std::span<const Step> steps, std::size_t queues);

// Spreads `steps`, at least one, over at most `queues` queues; over one queue if waits between several queues would
// cost more than they gain.
[[nodiscard]] Partition partition(std::span<const Step> steps, std::size_t queues);

}  // namespace fastdispatch::detail
