// What was submitted to a queue, to be waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch {

namespace detail {
class Group;
class PacketQueue;
}  // namespace detail
class Queue;

/// Called once, when a submission completed or cannot any more: `failure` says why not, and is null where it completed.
using CompletionCallback = std::function<void(const Error* failure)>;

/// Views the completion of packets in a Queue, which must outlive it; cheap to copy, may be dropped.
///
/// Completion is counted: packets that end a submission carry the queue's epoch signal and a barrier bit, so epochs
/// complete in order and a submission is a queue and a number. Packets that could not carry it (no barrier bit, or a
/// completion signal of their own) are covered by the queue's next epoch. Where none has followed, waiting (wait, done,
/// on_complete, wait_any, wait_all, Queue::start_after) submits a barrier packet for that.
///
/// Thread safety: every member may be called from any thread; but of a queue with Producers::single, a submission that
/// may need that barrier is its producer's to wait for. Those of batches and fences never do.
class FASTDISPATCH_EXPORT Submission {
public:
  /// Waits until all of its packets completed, and so all earlier ones of the queue.
  /// Throws TimeoutError when the time is up, and Error when the queue or its agent failed.
  void wait(WaitOptions options = {}) const;
  /// Whether all of its packets completed. Throws Error when the queue or its agent failed.
  [[nodiscard]] bool done() const;

  /// Lets `callback` be called when the submission completed, at once where it has, or failed. It is called exactly
  /// once, also where the queue is destroyed before; the destructor waits for that.
  ///
  /// Thread: one that the library keeps for each agent. Callbacks of a queue come in the order of its submissions,
  /// those of one submission in the order of `on_complete`; those of different queues in any order. One runs at a time,
  /// so that a long one holds up the others. An exception that leaves one ends the process, as from any thread's
  /// function. A callback may do what other threads may: submit (with Producers::multiple), wait, copy, call
  /// `on_complete`, destroy a queue. It must not destroy the last Runtime. What it captures must live until it was
  /// called; it is destroyed after.
  ///
  /// Cost: an allocation, a lock and a wake-up here; for the submission nothing. Callbacks need no core until they are
  /// called: their thread blocks.
  /// Throws Error when `callback` is empty, or where the submission needs a barrier to follow it and the queue has
  /// failed, QueueFullError or TimeoutError where the queue has no room for that; the callback is not called then.
  void on_complete(CompletionCallback callback) const;

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

private:
  friend class Queue;
  friend class detail::PacketQueue;
  friend class detail::Group;
  Submission(detail::PacketQueue& queue, std::uint64_t epoch) noexcept : queue_(&queue), epoch_(epoch) {}

  detail::PacketQueue* queue_;
  std::uint64_t epoch_;
};

/// Waits until one of `submissions`, to any queues of one runtime, completed; returns the index of the first that has.
/// Throws TimeoutError when the time is up, and Error when none completed and the queue or agent of one of them failed,
/// or when there are none. Cost: spinning looks at each, blocking is one call into HSA.
FASTDISPATCH_EXPORT std::size_t wait_any(std::span<const Submission> submissions, WaitOptions options = {});

/// Waits until all of `submissions`, to any queues of one runtime, completed.
/// Throws TimeoutError when the time is up, and Error when the queue or agent of one that did not complete failed, even
/// where others are still running.
FASTDISPATCH_EXPORT void wait_all(std::span<const Submission> submissions, WaitOptions options = {});

}  // namespace fastdispatch
