#include "dispatch/streams/streams_state.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

constexpr std::uint32_t most_queues = 64;

Partition in_one_piece(std::size_t steps) {
  Partition result;
  Segment& all = result.segments.emplace_back(Segment{.queue = 0, .steps = {}, .waits = {}});
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
      fate_(options.queues + std::size_t{1}), order_(options.queues) {
  if (options.queues == 0 || options.queues > most_queues)
    throw Error(fmt::format("streams over {} queues: there must be from 1 to {}", options.queues, most_queues));
  for (std::uint32_t i = 0; i < options.queues; ++i)
    queues_.push_back(std::make_unique<QueueState>(agent, queue_options_, &fate_));
}

// Where one fails, others still look at its epoch signal: all stop before any signal goes.
StreamsState::~StreamsState() {
  if (joining_) joining_->stop();
  for (const auto& queue : queues_) queue->packets().stop();
}

Submission StreamsState::submit(const BatchRecording& recording, std::span<ParameterValue> values) {
  const BatchParameters& parameters = recording.parameters();
  if (!parameters.empty() || !values.empty()) parameters.check(values, agent_);
  Plan& plan = plan_of(recording);
  bool begun = false;
  const auto wait = [&](std::size_t waiting, const Milestone& end) {
    queue(waiting).start_after(queue(end.queue), end.epoch);
  };
  const auto submit_segment = [&](std::size_t number) {
    BatchSubmitter& batches = queues_[plan.program.queue_of(number)]->batches();
    const std::uint64_t epoch = batches.submit(*plan.segments[number], values).epoch();
    begun = true;
    return epoch;
  };
  const auto join = [&] { return joining_->barrier().epoch(); };
  try {
    const Milestone& end = order_.run(plan.program, wait, submit_segment, join);
    return queue(end.queue).submission(end.epoch);
  } catch (const Error& error) {
    if (begun) fate_.fail(Error(fmt::format("only a part of a batch could be submitted: {}", error.what())));
    throw;
  } catch (const std::bad_alloc&) {
    if (begun) fate_.fail(agent_.state().queues.wordless_error());
    throw;
  }
}

StreamsState::Plan& StreamsState::plan_of(const BatchRecording& recording) {
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const Plan& plan) { return plan.version == recording.version(); });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
  } else {
    plans_.push_front(make_plan(recording));
    forget_outdated_plans();
  }
  return plans_.front();
}

// What is in flight stays with the queues.
void StreamsState::forget_outdated_plans() {
  for (auto next = plans_.begin(); next != plans_.end();) {
    const auto plan = next++;
    if (!plan->version->outdated.load(std::memory_order_acquire)) continue;
    order_.forget(plan->program);
    for (Plan& other : plans_) other.program.forget(plan->program);
    plans_.erase(plan);
  }
}

StreamsState::Plan StreamsState::make_plan(const BatchRecording& recording) {
  const bool derived = recording.fences() == Fences::derived && !recording.empty();
  Partition spread = derived ? partition(recording.steps(), queues_.size()) : in_one_piece(recording.steps().size());
  std::vector<std::unique_ptr<BatchRecording>> segments;
  segments.reserve(spread.segments.size());
  for (const Segment& segment : spread.segments) segments.push_back(recording.select(segment.steps));
  SpreadProgram program(spread, recording.steps(), derived ? Overlap::where_nothing_conflicts : Overlap::never);
  if (spread.queues > 1 && !joining_) joining_ = std::make_unique<PacketQueue>(agent_, queue_options_, &fate_);
  return {.version = recording.version(),
          .layout = {.queues = spread.queues, .segments = spread.segments.size(), .waits = spread.waits},
          .segments = std::move(segments),
          .program = std::move(program)};
}

StreamsLayout StreamsState::layout(const BatchRecording& recording) { return plan_of(recording).layout; }

void StreamsState::follow(const Submission& submission) {
  for (const auto& queue : queues_) queue->packets().start_after(submission);
}

void StreamsState::wait(const WaitOptions& options) {
  if (const Milestone& end = order_.end(); end.epoch != 0) queue(end.queue).wait(end.epoch, options);
  queues_.front()->packets().throw_if_failed();  // a submission that threw half-way is behind no end
}

}  // namespace fastdispatch::detail
