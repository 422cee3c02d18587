#include "dispatch/streams/run_order.hpp"

#include <algorithm>
#include <iterator>

namespace fastdispatch::detail {

SpreadRecording::SpreadRecording(const Partition& partition, std::span<const Step> steps, Overlap overlap)
    : overlap_(overlap) {
  for (const Segment& segment : partition.segments) {
    segments_.push_back({segment.queue, segment.waits});
    std::vector<Access>& touched = accesses_.emplace_back();
    for (const std::size_t step : segment.steps) {
      const std::vector<Access> accesses = accesses_of(steps[step]);
      touched.insert(touched.end(), accesses.begin(), accesses.end());
    }
  }
}

void SpreadRecording::meet(const SpreadRecording& earlier) {
  if (behind_.contains(&earlier)) return;
  Dependencies dependencies = dependencies_between(earlier.accesses_, accesses_);
  for (std::size_t segment = 0; segment < segments(); ++segment) {
    std::vector<std::size_t> last_of_queues;
    for (const std::size_t other : dependencies[segment]) {  // in order
      const std::size_t queue = earlier.queue_of(other);
      if (queue == queue_of(segment)) continue;
      std::erase_if(last_of_queues, [&](std::size_t before) { return earlier.queue_of(before) == queue; });
      last_of_queues.push_back(other);
    }
    dependencies[segment] = std::move(last_of_queues);
  }
  behind_.emplace(&earlier, std::move(dependencies));
}

RunOrder::RunOrder(std::size_t queues, std::size_t recent)
    : joining_(queues), most_recent_(recent), clocks_(queues + 1), floor_(clocks_.latest().front()) {
  recent_.reserve(most_recent_ + 1);
  // The floor, and one segment of each queue for this run and for each run that is remembered.
  needed_.reserve(1 + (most_recent_ + 1) * queues);
}

void RunOrder::prepare(SpreadRecording& spread) {
  if (spread.overlap_ == Overlap::where_nothing_conflicts)
    for (const SpreadRecording* earlier : recent_) spread.meet(*earlier);
  if (spread.end_.completed.empty()) {
    spread.ends_.assign(spread.segments(), floor_);
    spread.next_ends_ = spread.ends_;
    spread.end_ = floor_;  // last: a set end_ tells that the other members are allocated
  }
}

void RunOrder::need_for(const SpreadRecording& spread, std::size_t segment) {
  needed_.clear();
  if (spread.overlap_ == Overlap::never) {
    needed_.push_back(&end());
    return;
  }
  needed_.push_back(&floor_);
  for (const SpreadRecording* earlier : recent_)
    for (const std::size_t other : spread.behind(*earlier, segment)) needed_.push_back(&earlier->ends_[other]);
  for (const std::size_t other : spread.segments_[segment].waits) needed_.push_back(&spread.next_ends_[other]);
}

void RunOrder::need_everything() {
  needed_.clear();
  for (const Milestone& latest : clocks_.latest().first(joining_)) needed_.push_back(&latest);
}

bool RunOrder::is_last(const Milestone& milestone) const noexcept {
  const auto work = clocks_.latest().first(joining_);
  return std::all_of(work.begin(), work.end(),
                     [&](const Milestone& latest) { return milestone.completed[latest.queue] >= latest.epoch; });
}

void RunOrder::finish(SpreadRecording& spread, const Milestone& end) {
  spread.end_ = end;
  std::swap(spread.ends_, spread.next_ends_);
  std::erase(recent_, &spread);
  recent_.push_back(&spread);
  if (spread.overlap_ == Overlap::never)
    raise_floor(recent_.size());
  else if (recent_.size() > most_recent_)
    raise_floor(recent_.size() - most_recent_);
}

void RunOrder::raise_floor(std::size_t count) {
  floor_ = recent_[count - 1]->end_;
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(count));
}

void RunOrder::forget(const SpreadRecording& spread) {
  const auto found = std::find(recent_.begin(), recent_.end(), &spread);
  if (found != recent_.end()) raise_floor(static_cast<std::size_t>(found - recent_.begin()) + 1);
}

}  // namespace fastdispatch::detail
