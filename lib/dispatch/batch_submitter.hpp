// Submitting batches to one queue.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dispatch/batch_image.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"

namespace fastdispatch::detail {

class QueueState;

// Owns what the queue's batches in flight need until they completed: their images and the signals of their copies.
//
// Thread safety: that of the queue.
class BatchSubmitter {
public:
  BatchSubmitter(QueueState& queue, Agent agent, Producers producers)
      : queue_(queue), producers_(producers), signals_(agent) {}

  Submission submit(const std::shared_ptr<const BatchImage>& image);

private:
  struct InFlight {
    std::uint64_t epoch;
    std::shared_ptr<const BatchImage> image;
    std::vector<PooledSignal> signals;
  };

  // Of one copy: it starts when `start` is 0 and decrements `done`.
  struct CopySignals {
    hsa_signal_t start;
    hsa_signal_t done;
  };

  // `published(count)` is called after each part with the number of packets that were submitted so far.
  template <class Published>
  Submission submit_in_parts(std::span<const Packet> packets, InFlight& in_flight, Published published);
  Submission submit_with_copies(InFlight& in_flight);
  // `signals` are those of the copy and of all later ones.
  void start(const CopyStep& copy, std::span<const CopySignals> signals);
  // Takes over what `in_flight` holds.
  void keep(InFlight& in_flight);

  QueueState& queue_;
  Producers producers_;
  SignalPool signals_;
  std::mutex mutex_;  // of in_flight_, where there are several producers
  std::deque<InFlight> in_flight_;
};

}  // namespace fastdispatch::detail
