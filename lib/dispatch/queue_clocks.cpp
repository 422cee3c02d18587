#include "dispatch/queue_clocks.hpp"

#include <algorithm>
#include <utility>

namespace fastdispatch::detail {

std::vector<std::size_t> QueueClocks::start(std::size_t queue, std::span<const std::size_t> needed) {
  Clock clock = latest_[queue];
  std::vector<std::size_t> waits;
  for (const std::size_t segment : needed) {
    const auto comes_after = [&](std::size_t other) { return knows(segments_[other].completed, segment); };
    if (knows(clock, segment) || std::any_of(waits.begin(), waits.end(), comes_after)) continue;
    std::erase_if(waits, [&](std::size_t other) { return knows(segments_[segment].completed, other); });
    waits.push_back(segment);
  }
  for (const std::size_t segment : waits)
    std::transform(clock.begin(), clock.end(), segments_[segment].completed.begin(), clock.begin(),
                   [](std::size_t a, std::size_t b) { return std::max(a, b); });
  clock[queue] = ++started_[queue];
  latest_[queue] = clock;
  segments_.push_back({queue, started_[queue], std::move(clock)});
  return waits;
}

bool QueueClocks::is_last(std::size_t segment) const noexcept { return segments_[segment].completed == started_; }

}  // namespace fastdispatch::detail
