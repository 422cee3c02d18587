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

// When one queue fails, other queues still look at its epoch signal. So all queues stop before any signal is destroyed.
StreamsState::~StreamsState() {
  if (joining_) joining_->stop();
  for (const auto& queue : queues_) queue->packets().stop();
}

Submission StreamsState::submit(const BatchRecording& recording, std::span<ParameterValue> values) {
  const BatchParameters& parameters = recording.parameters();
  if (!parameters.empty() || !values.empty()) parameters.check(values, agent_);
  Spread& spread = spread_of(recording);
  bool begun = false;
  const auto wait = [&](std::size_t waiting, const Milestone& end) {
    queue(waiting).start_after(queue(end.queue), end.epoch);
  };
  const auto submit_segment = [&](std::size_t number) {
    BatchSubmitter& batches = queues_[spread.order.queue_of(number)]->batches();
    const std::uint64_t epoch = batches.submit(*spread.segments[number], values).epoch();
    begun = true;
    return epoch;
  };
  const auto join = [&] { return joining_->barrier().epoch(); };
  try {
    const Milestone& end = order_.run(spread.order, wait, submit_segment, join);
    return queue(end.queue).submission(end.epoch);
  } catch (const Error& error) {
    if (begun)
      fate_.fail(
          Error(ErrorKind::queue_failed, fmt::format("only a part of a batch could be submitted: {}", error.what())));
    throw;
  } catch (const std::bad_alloc&) {
    if (begun) fate_.fail(state_of(agent_).queues.wordless_error());
    throw;
  }
}

StreamsState::Spread& StreamsState::spread_of(const BatchRecording& recording) {
  const auto found = std::find_if(spreads_.begin(), spreads_.end(),
                                  [&](const Spread& spread) { return spread.version == recording.version(); });
  if (found != spreads_.end()) {
    spreads_.splice(spreads_.begin(), spreads_, found);
  } else {
    spreads_.push_front(make_spread(recording));
    forget_outdated_spreads();
  }
  return spreads_.front();
}

// The queues keep what is in flight.
void StreamsState::forget_outdated_spreads() {
  for (auto next = spreads_.begin(); next != spreads_.end();) {
    const auto spread = next++;
    if (!spread->version->outdated.load(std::memory_order_acquire)) continue;
    order_.forget(spread->order);
    for (Spread& other : spreads_) other.order.forget(spread->order);
    spreads_.erase(spread);
  }
}

StreamsState::Spread StreamsState::make_spread(const BatchRecording& recording) {
  const bool derived = recording.fences() == Fences::derived && !recording.empty();
  Partition parted = derived ? partition(recording.steps(), queues_.size()) : in_one_piece(recording.steps().size());
  std::vector<std::unique_ptr<BatchRecording>> segments;
  segments.reserve(parted.segments.size());
  for (const Segment& segment : parted.segments) segments.push_back(recording.select(segment.steps));
  SpreadRecording recording_in_order(parted, recording.steps(),
                                     derived ? Overlap::where_nothing_conflicts : Overlap::never);
  if (parted.queues > 1 && !joining_) joining_ = std::make_unique<PacketQueue>(agent_, queue_options_, &fate_);
  return {.version = recording.version(),
          .layout = {.queues = parted.queues, .segments = parted.segments.size(), .waits = parted.waits},
          .segments = std::move(segments),
          .order = std::move(recording_in_order)};
}

StreamsLayout StreamsState::layout(const BatchRecording& recording) { return spread_of(recording).layout; }

void StreamsState::start_after(const Submission& submission) {
  for (const auto& queue : queues_) queue->packets().start_after(submission);
}

void StreamsState::wait(const WaitOptions& options) {
  if (const Milestone& end = order_.end(); end.epoch != 0) queue(end.queue).wait(end.epoch, options);
  queues_.front()->packets().throw_if_failed();  // order_ does not know a submission that threw half-way
}

}  // namespace fastdispatch::detail
