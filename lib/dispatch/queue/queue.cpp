#include "fastdispatch/queue.hpp"

#include <memory>
#include <utility>

#include "dispatch/queue/kernel_times.hpp"
#include "dispatch/queue/queue_state.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

namespace {

void check(const detail::PacketQueue& queue, std::span<const Packet> packets) {
  if (packets.empty()) throw Error("there are no packets to submit");
  for (const Packet& packet : packets) queue.check_type(packet);
}

[[noreturn]] void refuse_batch() { throw Error("a batch recorded for another agent than the queue's"); }

}  // namespace

Queue::Queue(Agent agent, const QueueOptions& options)
    : state_(std::make_unique<detail::QueueState>(agent, options), "queue") {}
Queue::~Queue() = default;
Queue::Queue(Queue&&) noexcept = default;
Queue& Queue::operator=(Queue&&) noexcept = default;

Submission Queue::submit(const Batch& batch) { return submit(batch, std::span<detail::ParameterValue>()); }

Submission Queue::submit(const Batch& batch, std::span<detail::ParameterValue> values) {
  const detail::BatchRecording& recording = detail::recording_of(batch);
  detail::QueueState& state = *state_;
  if (recording.agent() != state.packets().agent()) refuse_batch();
  return state.batches().submit(recording, values);
}

TimedSubmission Queue::submit_timed(const Batch& batch) {
  return submit_timed(batch, std::span<detail::ParameterValue>());
}

TimedSubmission Queue::submit_timed(const Batch& batch, std::span<detail::ParameterValue> values) {
  const detail::BatchRecording& recording = detail::recording_of(batch);
  detail::QueueState& state = *state_;
  if (recording.agent() != state.packets().agent()) refuse_batch();
  state.packets().enable_profiling();
  auto times = std::make_shared<detail::KernelTimes>(recording.agent(), recording.dispatches());
  const Submission submission = state.batches().submit_timed(recording, values, times);
  return {submission, std::move(times)};
}

Submission Queue::submit(std::span<const Packet> packets) {
  check(state_->packets(), packets);
  state_->packets().check_fits(packets.size());
  return state_->packets().submit(packets);
}

Submission Queue::submit(const Packet& packet, KernargSlot&& slot) { return state_->submit(packet, std::move(slot)); }

Submission Queue::submit(const Packet& packet, const KernargBlock& arguments) {
  return state_->submit(packet, arguments);
}

KernargSlot Queue::begin_dispatch(const detail::KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory) {
  return state_->begin_dispatch(kernel, grid, local_memory);
}

Submission Queue::submit(const detail::KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory,
                         const DispatchOptions& options, KernargSlot& slot) {
  return state_->submit(kernel, grid, local_memory, options, slot);
}

void Queue::start_after(const Submission& submission) { state_->packets().start_after(submission); }
void Queue::wait(WaitOptions options) { state_->packets().wait(options); }
void Queue::wait_for_callbacks(WaitOptions options) { state_->packets().wait_for_callbacks(options.timeout); }
Submission Queue::barrier() { return state_->packets().barrier(); }
KernargSlot Queue::acquire_kernargs(std::size_t bytes) { return state_->acquire_kernargs(bytes); }
Agent Queue::agent() const { return state_->packets().agent(); }
std::uint32_t Queue::size() const { return state_->packets().size(); }
hsa_queue_t* Queue::handle() const { return state_->packets().handle(); }

}  // namespace fastdispatch
