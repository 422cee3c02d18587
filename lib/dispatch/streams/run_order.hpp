// For which segments of earlier runs a run of a spread recording waits.
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

// Whether runs of other recordings may overlap with the runs of a recording.
enum class Overlap {
  where_nothing_conflicts,
  never,  // its accesses are not known
};

// A recording that is spread over queues. It knows which segments each of its segments must come after, its own and
// other recordings', and where the segments of its last run ended.
class SpreadRecording {
public:
  SpreadRecording(const Partition& partition, std::span<const Step> steps, Overlap overlap);

  [[nodiscard]] std::size_t segments() const noexcept { return segments_.size(); }
  [[nodiscard]] std::size_t queue_of(std::size_t segment) const noexcept { return segments_[segment].queue; }

  // Forgets the waits for runs behind runs of `other`.
  void forget(const SpreadRecording& other) { behind_.erase(&other); }

private:
  friend class RunOrder;

  struct Place {
    std::size_t queue;
    std::vector<std::size_t> waits;
  };

  // Works out which segments of `earlier` the segments wait for, unless this is known.
  void meet(const SpreadRecording& earlier);
  // The segments of the last run of `earlier` that `segment` must come after: the last one of each other queue.
  [[nodiscard]] const std::vector<std::size_t>& behind(const SpreadRecording& earlier, std::size_t segment) const {
    return behind_.find(&earlier)->second[segment];
  }

  Overlap overlap_;
  std::vector<Place> segments_;
  AccessLists accesses_;                                   // of each segment
  std::map<const SpreadRecording*, Dependencies> behind_;  // of the recordings that it has met
  // Each segment's end, of the last run and of the run that is being submitted.
  std::vector<Milestone> ends_;
  std::vector<Milestone> next_ends_;
  Milestone end_;  // when the last run has completed, and everything before it
};

// Tells for one run after the other for which milestones its queues have to wait, so that the results are as if the
// runs did not overlap. A few recordings that ran lately are remembered. A segment waits for conflicting segments of
// their last runs; earlier runs of these recordings lie before, in the same queues. Everything else lies before the
// `floor`, the end of a run, for which every queue waits.
//
// Nothing is allocated unless two recordings meet for the first time.
class RunOrder {
public:
  static constexpr std::size_t most_recent = 4;

  // For `queues` queues, and one more queue, with the number `queues`, that joins the others. `recent` recordings are
  // remembered.
  explicit RunOrder(std::size_t queues, std::size_t recent = most_recent);

  // Calls, in the order of submission,
  //   wait(queue, milestone)   the queue's next segments are to wait for the milestone
  //   submit(segment)          returns the epoch that ends the segment in its queue
  //   join()                   returns an epoch of the joining queue that ends after everything that it waited for
  // and returns the milestone at which the run and everything before it have completed. Where one of the functions
  // throws and nothing was submitted, the run counts for nothing.
  template <class Wait, class Submit, class Join>
  const Milestone& run(SpreadRecording& spread, Wait wait, Submit submit, Join join);

  // When everything has completed.
  [[nodiscard]] const Milestone& end() const noexcept { return recent_.empty() ? floor_ : recent_.back()->end_; }

  // Forgets a recording that is about to go.
  void forget(const SpreadRecording& spread);

private:
  // Allocates everything that the run may need.
  void prepare(SpreadRecording& spread);
  void need_for(const SpreadRecording& spread, std::size_t segment);
  void need_everything();
  template <class Wait>
  void wait_for_needed(std::size_t queue, Wait wait);
  [[nodiscard]] bool is_last(const Milestone& milestone) const noexcept;
  void finish(SpreadRecording& spread, const Milestone& end);
  // The floor moves behind the first `count` remembered recordings.
  void raise_floor(std::size_t count);

  std::size_t joining_;
  std::size_t most_recent_;
  QueueClocks clocks_;
  std::vector<SpreadRecording*> recent_;  // the latest is last
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
