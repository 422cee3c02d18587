#include "dispatch/streams_state.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

constexpr std::uint32_t most_queues = 64;

Partition in_one_piece(std::size_t steps) {
  Partition result{.queues = 1, .segments = {}, .last = 0};
  Segment& all = result.segments.emplace_back(Segment{.queue = 0, .steps = {}, .waits = {}, .waits_again = {}});
  all.steps.resize(steps);
  std::iota(all.steps.begin(), all.steps.end(), 0);
  return result;
}

}  // namespace

StreamsState::StreamsState(Agent agent, const StreamsOptions& options)
    : agent_(agent), queue_options_{.size = options.queue_size,
                                    .producers = Producers::single,
                                    .full_timeout = options.full_timeout,
                                    .kernarg_bytes = 64},  // batches have blocks of their own
      fate_(options.queues + std::size_t{1}) {
  if (options.queues == 0 || options.queues > most_queues)
    throw Error(fmt::format("streams over {} queues: there must be from 1 to {}", options.queues, most_queues));
  for (std::uint32_t i = 0; i < options.queues; ++i)
    queues_.push_back(std::make_unique<QueueState>(agent, queue_options_, &fate_));
}

// Where one fails, others still look at its epoch signal: all stop before any signal goes.
StreamsState::~StreamsState() {
  if (joining_) joining_->stop();
  for (const auto& queue : queues_) queue->stop();
}

Submission StreamsState::submit(const BatchRecording& recording, std::span<ParameterValue> values) {
  const BatchParameters& parameters = recording.parameters();
  if (!parameters.empty() || !values.empty()) parameters.check(values, agent_);
  Plan& plan = plan_of(recording);
  const bool again = running_ == &plan;
  bool begun = false;
  try {
    for (std::size_t number = 0; number < plan.segments.size(); ++number) {
      submit_waits(plan, number, again);
      PlannedSegment& segment = plan.segments[number];
      const Submission submission = segment.queue->batches().submit(*segment.recording, values);
      segment.epoch_before = std::exchange(segment.epoch, submission.epoch());
      begun = true;
    }
    end_ = end_of(plan);
  } catch (const Error& error) {
    if (begun) fate_.fail(Error(fmt::format("only a part of a batch could be submitted: {}", error.what())));
    throw;
  }
  running_ = &plan;
  return end_->queue->submission(end_->epoch);
}

void StreamsState::submit_waits(const Plan& plan, std::size_t segment, bool again) {
  QueueState& queue = *plan.segments[segment].queue;
  if (!again && end_ && end_->queue != &queue) queue.follow(*end_->queue, end_->epoch);
  for (const auto& [number, of_run_before] :
       again ? plan.segments[segment].waits_again : plan.segments[segment].waits) {
    const PlannedSegment& other = plan.segments[number];
    const bool submitted_in_this_run = number < segment;
    queue.follow(*other.queue, of_run_before && submitted_in_this_run ? other.epoch_before : other.epoch);
  }
}

StreamsState::End StreamsState::end_of(const Plan& plan) {
  if (plan.ends.size() == 1) {
    const PlannedSegment& last = plan.segments[plan.ends.front()];
    return {last.queue, last.epoch};
  }
  for (const std::size_t number : plan.ends)
    joining_->follow(*plan.segments[number].queue, plan.segments[number].epoch);
  return {joining_.get(), joining_->fence().epoch()};
}

StreamsState::Plan& StreamsState::plan_of(const BatchRecording& recording) {
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const Plan& plan) { return plan.version == recording.version(); });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
    return plans_.front();
  }
  plans_.push_front(make_plan(recording));
  // What is in flight stays with the queues.
  std::erase_if(plans_, [&](const Plan& plan) {
    const bool outdated = plan.version->outdated.load(std::memory_order_acquire);
    if (outdated && running_ == &plan) running_ = nullptr;
    return outdated;
  });
  return plans_.front();
}

StreamsState::Plan StreamsState::make_plan(const BatchRecording& recording) {
  const bool can_be_spread = recording.fences() == Fences::derived && !recording.empty();
  const Partition spread =
      can_be_spread ? partition(recording.recorded(), queues_.size()) : in_one_piece(recording.steps());
  Plan plan{
      .version = recording.version(), .queues = spread.queues, .waits = spread.waits(), .segments = {}, .ends = {}};
  std::vector<std::size_t> last_of_queue(spread.queues);
  for (const Segment& segment : spread.segments) {
    last_of_queue[segment.queue] = plan.segments.size();
    plan.segments.push_back({.queue = queues_[segment.queue].get(),
                             .recording = recording.part(segment.steps),
                             .waits = segment.waits,
                             .waits_again = segment.waits_again});
  }
  plan.ends = spread.last ? std::vector{*spread.last} : last_of_queue;
  if (plan.ends.size() > 1 && !joining_) joining_ = std::make_unique<QueueState>(agent_, queue_options_, &fate_);
  return plan;
}

StreamsLayout StreamsState::layout(const BatchRecording& recording) {
  const Plan& plan = plan_of(recording);
  return {.queues = plan.queues, .segments = plan.segments.size(), .waits = plan.waits};
}

void StreamsState::follow(const Submission& submission) {
  for (const auto& queue : queues_) queue->follow(submission);
}

void StreamsState::wait(const WaitOptions& options) {
  if (end_) end_->queue->wait(end_->epoch, options);
}

}  // namespace fastdispatch::detail
