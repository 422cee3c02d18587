// What is behind Streams: the queues, and how each batch is spread over them.
//
// Thread safety: that of Streams, see fastdispatch/streams.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/batch_recording.hpp"
#include "dispatch/partition.hpp"
#include "dispatch/queue_state.hpp"
#include "dispatch/shared_fate.hpp"
#include "fastdispatch/streams.hpp"

namespace fastdispatch::detail {

class StreamsState {
public:
  StreamsState(Agent agent, const StreamsOptions& options);
  ~StreamsState();
  StreamsState(const StreamsState&) = delete;
  StreamsState& operator=(const StreamsState&) = delete;

  // Sorts `values`.
  Submission submit(const BatchRecording& recording, std::span<ParameterValue> values);
  void follow(const Submission& submission);
  void wait(const WaitOptions& options);
  [[nodiscard]] StreamsLayout layout(const BatchRecording& recording);

  [[nodiscard]] Agent agent() const noexcept { return agent_; }
  [[nodiscard]] std::size_t queues() const noexcept { return queues_.size(); }

private:
  struct PlannedSegment {
    QueueState* queue;
    std::unique_ptr<BatchRecording> recording;
    std::vector<SegmentWait> waits;
    std::vector<SegmentWait> waits_again;
    std::uint64_t epoch = 0;         // of this run
    std::uint64_t epoch_before = 0;  // of the run before
  };

  // What was made of one version of a batch.
  struct Plan {
    std::shared_ptr<const BatchVersion> version;
    std::size_t queues;
    std::size_t waits;
    std::vector<PlannedSegment> segments;  // each waits for earlier ones, and for those of the run before
    std::vector<std::size_t> ends;         // segments behind which all have completed
  };

  // The end of a submission.
  struct End {
    QueueState* queue;
    std::uint64_t epoch;
  };

  [[nodiscard]] Plan& plan_of(const BatchRecording& recording);
  [[nodiscard]] Plan make_plan(const BatchRecording& recording);
  // Lets the segment's queue wait for what the segment comes after.
  void submit_waits(const Plan& plan, std::size_t segment, bool again);
  // Where all of its segments, which have been submitted, complete.
  [[nodiscard]] End end_of(const Plan& plan);
  void fail(const Error& error) noexcept { fate_.fail(error); }

  Agent agent_;
  QueueOptions queue_options_;
  SharedFate fate_;
  std::vector<std::unique_ptr<QueueState>> queues_;
  std::unique_ptr<QueueState> joining_;  // gets nothing but waits for the others; made for the first plan that needs it
  std::list<Plan> plans_;                // what was submitted last is first
  const Plan* running_ = nullptr;        // what was submitted last
  std::optional<End> end_;               // of that
};

}  // namespace fastdispatch::detail
