// Several queues that share the independent work of a batch.
//
// Purpose: a barrier bit holds up everything behind it in its queue, related or not. Streams takes a batch apart by the
// reads and writes of its steps: independent chains of steps go to queues of their own, and wait for one another on the
// device where they meet.
//
// Thread safety:
// - one thread submits, as to a queue with Producers::single: no lock, no atomic read-modify-write
// - any thread may wait on a Submission
//
// Memory ordering: as for Queue.
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
#include "fastdispatch/detail/owner.hpp"
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

/// Owns several queues of one agent; move-only. Its destructor stops the queues even if packets have not completed:
/// wait first. Streams that were moved from may be destroyed and assigned to; all else throws Error.
class FASTDISPATCH_EXPORT Streams {
public:
  /// Throws Error when the options are outside of the agent's limits or HSA has no queue left.
  explicit Streams(Agent agent, const StreamsOptions& options = {});
  ~Streams();
  Streams(Streams&&) noexcept;
  Streams& operator=(Streams&&) noexcept;

  /// Submits a recorded batch, as Queue::submit does. A replay allocates and locks nothing. A batch with
  /// Fences::derived is spread over the queues if this is worth the waits between them; the first submission works this
  /// out. A batch with other fences goes to one queue as it is.
  ///
  /// Submissions run as if one after the other. With Fences::derived, each part of a batch that goes to a queue waits
  /// only for parts of earlier submissions, of the same batch or others, that conflict with it or are before it in its
  /// queue. Parts that are further back than the last four batches have completed before. A batch with other fences
  /// starts when everything before has completed, and holds up everything behind it.
  ///
  /// The Submission is complete when all its steps, and all submissions before, are complete. It can be waited for like
  /// any other: alone, with others, with Queue::start_after. Once the Streams were destroyed, its use throws Error.
  /// Throws Error as Queue::submit does, with nothing submitted. If it throws with a part submitted, because
  /// `full_timeout` struck, a copy could not be started or a queue failed meanwhile, all of the queues have failed.
  /// When one queue fails, all of them fail, and every waiter gets the reason.
  Submission submit(const Batch& batch);
  template <class... T>
    requires(sizeof...(T) > 0)
  Submission submit(const Batch& batch, const ParameterSetting<T>&... settings) {
    std::array<detail::ParameterValue, sizeof...(T)> values{detail::ParameterValue{settings.id, &settings.value}...};
    return submit(batch, std::span<detail::ParameterValue>(values));
  }

  /// Later submissions start after `submission`, which is of a queue outside of this object; see Queue::start_after.
  void start_after(const Submission& submission);

  /// Waits for everything submitted so far.
  /// Throws as Submission::wait does. Throws if a queue has failed, even if all complete submissions have completed.
  void wait(WaitOptions options = {});

  /// How `batch` is spread, or would be.
  [[nodiscard]] StreamsLayout layout(const Batch& batch);

  [[nodiscard]] Agent agent() const;
  [[nodiscard]] std::size_t queues() const;

private:
  Submission submit(const Batch& batch, std::span<detail::ParameterValue> values);

  detail::Owner<detail::StreamsState> state_;
};

}  // namespace fastdispatch
