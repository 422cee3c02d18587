// What was submitted to a queue, to be waited for.
#pragma once

#include <cstdint>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch {

namespace detail {
class QueueState;
}

/// Views the completion of packets in a Queue, which must outlive it; cheap to copy, may be dropped.
///
/// Completion is counted: packets that end a submission carry the queue's epoch signal and a barrier bit, so epochs
/// complete in order and a submission is a queue and a number. Packets that could not carry it (no barrier bit, or a
/// completion signal of their own) are covered by the queue's next epoch; waiting submits a barrier packet for that
/// where none has followed, which counts as submitting to the queue (see Producers::single).
class FASTDISPATCH_EXPORT Submission {
public:
  /// Waits until all of its packets completed, and so all earlier ones of the queue.
  /// Throws TimeoutError when the time is up, and Error when the queue or its agent failed.
  void wait(WaitOptions options = {}) const;
  /// Whether all of its packets completed. Throws Error when the queue or its agent failed.
  [[nodiscard]] bool done() const;

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

private:
  friend class detail::QueueState;
  Submission(detail::QueueState& queue, std::uint64_t epoch) noexcept : queue_(&queue), epoch_(epoch) {}

  detail::QueueState* queue_;
  std::uint64_t epoch_;
};

}  // namespace fastdispatch
