// The state of Streams: the queues, and how each batch is spread over them.
//
// Thread safety: as for Streams, see fastdispatch/streams.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "dispatch/queue/queue_state.hpp"
#include "dispatch/queue/shared_fate.hpp"
#include "dispatch/record/batch_recording.hpp"
#include "dispatch/streams/partition.hpp"
#include "dispatch/streams/run_order.hpp"
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
  void start_after(const Submission& submission);
  void wait(const WaitOptions& options);
  [[nodiscard]] StreamsLayout layout(const BatchRecording& recording);

  [[nodiscard]] Agent agent() const noexcept { return agent_; }
  [[nodiscard]] std::size_t queues() const noexcept { return queues_.size(); }

private:
  // One version of a batch, spread over the queues.
  struct Spread {
    std::shared_ptr<const BatchVersion> version;
    StreamsLayout layout;
    std::vector<std::unique_ptr<BatchRecording>> segments;
    SpreadRecording order;
  };

  [[nodiscard]] Spread& spread_of(const BatchRecording& recording);
  [[nodiscard]] Spread make_spread(const BatchRecording& recording);
  void forget_outdated_spreads();
  // The queue with the number that RunOrder uses.
  [[nodiscard]] PacketQueue& queue(std::size_t number) const noexcept {
    return number < queues_.size() ? queues_[number]->packets() : *joining_;
  }
  void fail(const Error& error) noexcept { fate_.fail(error); }

  Agent agent_;
  QueueOptions queue_options_;
  SharedFate fate_;
  std::vector<std::unique_ptr<QueueState>> queues_;
  std::unique_ptr<PacketQueue>
      joining_;                // gets only waits for the others; made with the first spread over several queues
  std::list<Spread> spreads_;  // the latest is first
  RunOrder order_;
};

}  // namespace fastdispatch::detail
