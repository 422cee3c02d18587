// In which order runs of spread recordings that are spread over queues wait for one another.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "dispatch/streams/dependencies.hpp"
#include "dispatch/streams/partition.hpp"
#include "dispatch/streams/queue_clocks.hpp"

namespace fastdispatch::detail {

// Whether runs of other spread recordings may go on beside those of one.
enum class Overlap {
  where_nothing_conflicts,
  never,  // what it touches is not known
};

// A recording that is spread over queues: which segments of other spread recordings' runs, and of its own, each of its
// segments must come after, and where they ended.
class SpreadRecording {
public:
  SpreadRecording(const Partition& partition, std::span<const Step> steps, Overlap overlap);

  [[nodiscard]] std::size_t segments() const noexcept { return segments_.size(); }
  [[nodiscard]] std::size_t queue_of(std::size_t segment) const noexcept { return segments_[segment].queue; }

  // Forgets what was worked out for runs behind those of `other`.
  void forget(const SpreadRecording& other) { behind_.erase(&other); }

private:
  friend class RunOrder;

  struct Place {
    std::size_t queue;
    std::vector<std::size_t> waits;
  };

  // Works out what runs behind those of `earlier` wait for, unless that is known.
  void meet(const SpreadRecording& earlier);
  // The segments of the last run of `earlier` that one of these must come after: the last of each other queue.
  [[nodiscard]] const std::vector<std::size_t>& behind(const SpreadRecording& earlier, std::size_t segment) const {
    return behind_.find(&earlier)->second[segment];
  }

  Overlap overlap_;
  std::vector<Place> segments_;
  AccessLists accesses_;                                   // of each segment
  std::map<const SpreadRecording*, Dependencies> behind_;  // what it has met
  // Of the last run and of the one that is being submitted, each segment's end.
  std::vector<Milestone> ends_;
  std::vector<Milestone> next_ends_;
  Milestone end_;  // when the last run has completed, and everything before it
};

// Tells for one run after the other what its queues have to wait for, so that all goes as if the runs did not overlap.
// Of each of the spread recordings that ran lately, a segment waits for what it conflicts with in the last run: what
// earlier runs of the spread did lies before that in the same queues. Everything else is before the `floor`, the end of
// a run, for which every queue waits.
//
// Nothing is allocated unless two spread recordings meet that did not before.
class RunOrder {
public:
  static constexpr std::size_t most_recent = 4;

  // Over `queues` queues, and one more, whose number is `queues`, to join the others. Of spread recordings that did not
  // run among the last `recent`, only the end is looked at.
  explicit RunOrder(std::size_t queues, std::size_t recent = most_recent);

  // Calls, in the order in which things are to be submitted,
  //   wait(queue, milestone)   what goes to the queue from now on is to wait for it
  //   submit(segment)          returns the epoch of its queue that ends it
  //   join()                   returns an epoch of the joining queue, which ends after all that this queue waited for
  // and returns when the run has completed, and everything before it. Where one of these throws, the run counts for
  // nothing, provided that nothing was submitted.
  template <class Wait, class Submit, class Join>
  const Milestone& run(SpreadRecording& spread, Wait wait, Submit submit, Join join);

  // When everything has completed.
  [[nodiscard]] const Milestone& end() const noexcept { return recent_.empty() ? floor_ : recent_.back()->end_; }

  // Keeps nothing of a spread that is to go.
  void forget(const SpreadRecording& spread);

private:
  // Allocates whatever the run may need.
  void prepare(SpreadRecording& spread);
  void need_for(const SpreadRecording& spread, std::size_t segment);
  void need_everything();
  template <class Wait>
  void wait_for_needed(std::size_t queue, Wait wait);
  [[nodiscard]] bool is_last(const Milestone& milestone) const noexcept;
  void finish(SpreadRecording& spread, const Milestone& end);
  // All up to the `count`-th of the recent spread recordings have run before the floor.
  void raise_floor(std::size_t count);

  std::size_t joining_;
  std::size_t most_recent_;
  QueueClocks clocks_;
  std::vector<SpreadRecording*> recent_;  // what ran last is last
  Milestone floor_;
  std::vector<const Milestone*> needed_;
};

template <class Wait>
void RunOrder::wait_for_needed(std::size_t queue, Wait wait) {
  clocks_.leave_out_known(queue, needed_);
  for (const Milestone* milestone : needed_) {
    wait(queue, *milestone);
    clocks_.wait(queue, *milestone);
  }
}

template <class Wait, class Submit, class Join>
const Milestone& RunOrder::run(SpreadRecording& spread, Wait wait, Submit submit, Join join) {
  prepare(spread);
  for (std::size_t segment = 0; segment < spread.segments(); ++segment) {
    const std::size_t queue = spread.queue_of(segment);
    need_for(spread, segment);
    wait_for_needed(queue, wait);
    spread.next_ends_[segment] = clocks_.start(queue, submit(segment));
  }
  if (const Milestone& last = spread.next_ends_.back(); is_last(last)) {
    finish(spread, last);
  } else {
    need_everything();
    wait_for_needed(joining_, wait);
    finish(spread, clocks_.start(joining_, join()));
  }
  return spread.end_;
}

}  // namespace fastdispatch::detail
