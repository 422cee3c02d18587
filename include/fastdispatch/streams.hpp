// Several queues that share the independent work of a batch.
//
// Purpose: a barrier bit holds up everything behind it in its queue, related or not. Streams takes a batch apart by
// what its steps read and write: chains of steps that have nothing to do with each other go to queues of their own, and
// wait for one another on the device where they meet.
//
// Thread safety: one thread submits, as to a queue with Producers::single: no lock, no atomic read-modify-write.
// Waiting on a Submission is safe from any thread.
//
// Memory ordering: that of Queue.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/batch_parameter.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/submission.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch {

namespace detail {
class StreamsState;
}

struct StreamsOptions {
  std::uint32_t queues = 4;                         ///< at most, from 1 to 64; a GPU runs a few at a time
  std::uint32_t queue_size = 1024;                  ///< packets; a power of two within the agent's limits
  std::chrono::nanoseconds full_timeout = forever;  ///< how long a submission waits for room in a queue
};

/// How a batch is spread.
struct StreamsLayout {
  std::size_t queues = 0;    ///< that it uses
  std::size_t segments = 0;  ///< submissions to them
  std::size_t waits = 0;     ///< packets, at most, by which one queue waits for another in a replay at once

  friend bool operator==(const StreamsLayout&, const StreamsLayout&) = default;
};

/// Owns several queues of one agent; move-only. Its destructor stops the queues whatever is in them: wait first.
class FASTDISPATCH_EXPORT Streams {
public:
  /// Throws Error when the options are outside of the agent's limits or HSA has no queue left.
  explicit Streams(Agent agent, const StreamsOptions& options = {});
  ~Streams();
  Streams(Streams&&) noexcept;
  Streams& operator=(Streams&&) noexcept;

  /// Submits a recorded batch, as Queue::submit does, and again: a replay, which allocates and locks nothing. A batch
  /// with Fences::derived is spread over the queues where that is worth the waits between them, which is worked out at
  /// its first submission; any other goes to one queue as it is.
  ///
  /// Submissions run as if one after the other. Of batches with Fences::derived, the same one or others, each part that
  /// goes to a queue waits only for those of earlier submissions with which it conflicts, or which are before it in its
  /// queue; what is further back than the last four batches has completed before. Any other batch starts when
  /// everything before has completed, and holds up everything behind it.
  ///
  /// The Submission is complete when all steps are, and those of all submissions before; it can be waited for like any
  /// other, alone, with others, with Queue::start_after, and must not outlive the Streams.
  /// Throws Error as Queue::submit does, with nothing submitted. Where it throws with a part submitted, because
  /// `full_timeout` struck, a copy could not be started or a queue failed meanwhile, all of the queues have failed.
  /// When one queue fails, all of them have, and every waiter gets the reason.
  Submission submit(const Batch& batch);
  template <class... T>
    requires(sizeof...(T) > 0)
  Submission submit(const Batch& batch, const ParameterSetting<T>&... settings) {
    std::array<detail::ParameterValue, sizeof...(T)> values{detail::ParameterValue{settings.id, &settings.value}...};
    return submit(batch, std::span<detail::ParameterValue>(values));
  }

  /// Lets what is submitted from now on start after `submission`, to a queue that is not one of these; see
  /// Queue::start_after.
  void start_after(const Submission& submission);

  /// Waits for everything submitted so far.
  /// Throws as Submission::wait does, and where a queue has failed, also when what was submitted whole is complete.
  void wait(WaitOptions options = {});

  /// How `batch` is spread, or would be.
  [[nodiscard]] StreamsLayout layout(const Batch& batch);

  [[nodiscard]] Agent agent() const noexcept;
  [[nodiscard]] std::size_t queues() const noexcept;

private:
  Submission submit(const Batch& batch, std::span<detail::ParameterValue> values);

  std::unique_ptr<detail::StreamsState> state_;
};

}  // namespace fastdispatch
