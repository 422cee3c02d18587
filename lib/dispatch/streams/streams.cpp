#include "fastdispatch/streams.hpp"

#include "dispatch/streams/streams_state.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {
namespace {

void check_agent(const Batch& batch, Agent agent) {
  if (batch.agent() != agent) throw Error("a batch recorded for another agent than the streams'");
}

}  // namespace

Streams::Streams(Agent agent, const StreamsOptions& options)
    : state_(std::make_unique<detail::StreamsState>(agent, options), "Streams") {}
Streams::~Streams() = default;
Streams::Streams(Streams&&) noexcept = default;
Streams& Streams::operator=(Streams&&) noexcept = default;

Submission Streams::submit(const Batch& batch) { return submit(batch, std::span<detail::ParameterValue>()); }

Submission Streams::submit(const Batch& batch, std::span<detail::ParameterValue> values) {
  check_agent(batch, agent());
  return state_->submit(detail::recording_of(batch), values);
}

void Streams::start_after(const Submission& submission) { state_->start_after(submission); }
void Streams::wait(WaitOptions options) { state_->wait(options); }

StreamsLayout Streams::layout(const Batch& batch) {
  check_agent(batch, agent());
  return state_->layout(detail::recording_of(batch));
}

Agent Streams::agent() const { return state_->agent(); }
std::size_t Streams::queues() const { return state_->queues(); }

}  // namespace fastdispatch
