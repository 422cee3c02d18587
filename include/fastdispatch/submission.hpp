// Work that was submitted to a queue, to be waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/queue_reference.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch {

namespace detail {
class Group;
}  // namespace detail
class Queue;

/// Called once, when a submission completed or can't complete any more: `failure` is the reason, or null if it
/// completed.
using CompletionCallback = std::function<void(const Error* failure)>;

/// Views the completion of packets in a Queue; cheap to copy, may be dropped. Once the Queue was destroyed, every use
/// but epoch() throws Error. It must not be used while another thread destroys the Queue.
///
/// Completion is counted: packets that end a submission carry the queue's epoch signal and a barrier bit, so epochs
/// complete in order and a submission is a queue and a number. Packets that could not carry it (no barrier bit, or a
/// completion signal of their own) are covered by the queue's next epoch. If no epoch has followed, waiting (wait,
/// done, on_complete, wait_any, wait_all, Queue::start_after) submits a barrier packet that ends one.
///
/// Thread safety: every member may be called from any thread. The exception is Producers::single: only the producer may
/// wait for a submission that may need a barrier packet. Submissions of batches and of Queue::barrier never need one.
class FASTDISPATCH_EXPORT Submission {
public:
  /// Waits until all of its packets completed, and so all earlier packets of the queue.
  /// Throws TimeoutError when the time is up, and Error when the queue or its agent failed.
  void wait(WaitOptions options = {}) const;
  /// Whether all of its packets completed. Throws Error when the queue or its agent failed.
  [[nodiscard]] bool done() const;

  /// Calls `callback` when the submission completed or failed; at once if it has. The callback is called exactly once,
  /// even if the queue is destroyed before: the destructor waits for the call.
  ///
  /// Thread: the library keeps one for each agent. Callbacks of a queue come in the order of its submissions, callbacks
  /// of one submission in the order of `on_complete`, callbacks of different queues in any order. One callback runs at
  /// a time, so a long callback holds up the others. An exception that leaves a callback ends the process, as from any
  /// thread's function. A callback may do what other threads may: submit (with Producers::multiple), wait, copy, call
  /// `on_complete`, destroy a queue. It must not destroy the last Runtime. Its captures must live until it was called;
  /// it is destroyed after the call.
  ///
  /// Cost: an allocation, a lock and a wake-up here; for the submission nothing. Callbacks need no core until they are
  /// called: their thread blocks.
  /// Throws Error when `callback` is empty, or when the submission needs a barrier packet and the queue has failed;
  /// QueueFullError or TimeoutError if the queue has no room for the packet. The callback is not called then.
  void on_complete(CompletionCallback callback) const;

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

private:
  friend class Queue;
  friend class detail::PacketQueue;
  friend class detail::Group;
  Submission(detail::QueueReference queue, std::uint64_t epoch) noexcept : queue_(queue), epoch_(epoch) {}

  detail::QueueReference queue_;
  std::uint64_t epoch_;
};

/// Waits until one of `submissions`, to any queues of one runtime, completed, and returns the index of the first that
/// completed.
/// Throws TimeoutError when the time is up. Throws Error when `submissions` is empty, or when no submission completed
/// and the queue or agent of one of them failed.
/// Cost: spinning looks at each, blocking is one call into HSA.
FASTDISPATCH_EXPORT std::size_t wait_any(std::span<const Submission> submissions, WaitOptions options = {});

/// Waits until all of `submissions`, to any queues of one runtime, completed. Throws TimeoutError when the time is up.
/// Throws Error when the queue or agent of a submission that did not complete failed, even if others are still running.
FASTDISPATCH_EXPORT void wait_all(std::span<const Submission> submissions, WaitOptions options = {});

}  // namespace fastdispatch
