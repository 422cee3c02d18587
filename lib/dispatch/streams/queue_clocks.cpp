#include "dispatch/streams/queue_clocks.hpp"

#include <algorithm>

namespace fastdispatch::detail {

QueueClocks::QueueClocks(std::size_t queues) : known_(queues, Clock(queues)) {
  for (std::size_t queue = 0; queue < queues; ++queue) latest_.push_back({.queue = queue, .completed = Clock(queues)});
}

void QueueClocks::leave_out_known(std::size_t queue, std::vector<const Milestone*>& needed) const noexcept {
  auto kept = needed.begin();
  for (const Milestone* next : needed) {
    const auto comes_after = [&](const Milestone* other) { return covers(other->completed, *next); };
    if (is_known(queue, *next) || std::any_of(needed.begin(), kept, comes_after)) continue;
    kept =
        std::remove_if(needed.begin(), kept, [&](const Milestone* other) { return covers(next->completed, *other); });
    *kept++ = next;
  }
  needed.erase(kept, needed.end());
}

void QueueClocks::wait(std::size_t queue, const Milestone& milestone) noexcept {
  Clock& clock = known_[queue];
  std::transform(clock.begin(), clock.end(), milestone.completed.begin(), clock.begin(),
                 [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
}

const Milestone& QueueClocks::start(std::size_t queue, std::uint64_t epoch) noexcept {
  known_[queue][queue] = epoch;
  latest_[queue].epoch = epoch;
  latest_[queue].completed = known_[queue];
  return latest_[queue];
}

}  // namespace fastdispatch::detail
