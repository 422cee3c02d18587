// Submitting batches to one queue.
#pragma once

#include <cstdint>
#include <list>
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

// Owns what the queue's batches in flight need until they completed: their images and the signals of their copies. That
// is arranged before anything is published, so that nothing can fail afterwards; a replay of an image in flight
// allocates nothing.
//
// Thread safety: that of the queue.
class BatchSubmitter {
public:
  BatchSubmitter(QueueState& queue, Agent agent, Producers producers)
      : queue_(queue), producers_(producers), signals_(agent) {}

  Submission submit(const std::shared_ptr<const BatchImage>& image);

private:
  // Submissions of one image that has no copies, or one submission of an image that has some.
  struct InFlight {
    std::shared_ptr<const BatchImage> image;
    std::vector<PooledSignal> signals;
    unsigned submitting = 0;  // threads that are between begin and end
    std::uint64_t epoch = 0;  // the last submission's
  };

  // Of one copy: it starts when `start` is 0 and decrements `done`.
  struct CopySignals {
    hsa_signal_t start;
    hsa_signal_t done;
  };

  [[nodiscard]] InFlight& begin(const std::shared_ptr<const BatchImage>& image);
  // What `in_flight` holds is in use until `epoch`.
  void end(InFlight& in_flight, std::uint64_t epoch) noexcept;
  [[nodiscard]] std::unique_lock<std::mutex> lock_where_shared();

  // `epoch` becomes that of the latest part. `published(count)` is called after each part with the number of packets
  // that were submitted so far.
  template <class Published>
  Submission submit_in_parts(std::span<const Packet> packets, std::uint64_t& epoch, Published published);
  Submission submit_with_copies(InFlight& in_flight, std::uint64_t& epoch);
  // `signals` are those of the copy and of all later ones.
  void start(const CopyStep& copy, std::span<const CopySignals> signals);

  QueueState& queue_;
  Producers producers_;
  SignalPool signals_;
  std::mutex mutex_;  // of the lists, where there are several producers
  std::list<InFlight> in_flight_;
  std::list<InFlight> idle_;  // nodes to be used again
};

}  // namespace fastdispatch::detail
