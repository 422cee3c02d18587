// Queues: rings of packets that a GPU's command processor reads.
//
// Purpose: the shortest way from packets in memory to the command processor. Submitting packets, or a batch without
// copies again, copies the packets into the ring, stores their headers and rings the doorbell once; it calls nothing in
// HSA and allocates nothing. A batch with copies hands them to HSA.
//
// Thread safety: with Producers::multiple any thread may submit to a queue at any time, at the price of one atomic
// exchange a run of packets or batch (or part of one that is longer than the ring), three a dispatch with its arguments
// in the queue's pool, and of waiting for others that reserve at the same time. With Producers::single one thread
// submits; there is no lock and no atomic read-modify-write then.
// Waiting may submit: Queue::wait does, waiting on a Submission where none of its packets ends an epoch (see there).
//
// Memory ordering: what a thread wrote before it submits (kernel arguments, pinned buffers) is visible to a packet that
// acquires at system scope: headers are stored with release. What a packet released at system scope is visible after
// Submission::wait or a true Submission::done, which acquire.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <hsa/hsa.h>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/kernarg.hpp"
#include "fastdispatch/packets.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"

namespace fastdispatch {

class Batch;
template <class Signature>
class Kernel;
template <class T>
struct ParameterSetting;
namespace detail {
class QueueState;
struct ParameterValue;
}  // namespace detail

enum class Producers { single, multiple };

/// What a submission does when the ring has no room for it, or the queue's pool none for its kernel arguments.
enum class WhenFull {
  wait,    ///< until there is room; throw TimeoutError after QueueOptions::full_timeout
  report,  ///< throw QueueFullError at once; nothing was submitted
};

enum class Priority { low, normal, high };

struct QueueOptions {
  std::uint32_t size = 1024;  ///< packets; a power of two within the agent's limits
  Producers producers = Producers::multiple;
  WhenFull when_full = WhenFull::wait;
  std::chrono::nanoseconds full_timeout = forever;  ///< for WhenFull::wait
  Priority priority = Priority::normal;
  std::vector<std::uint32_t> compute_unit_mask{};  ///< bit i of word j allows compute unit 32 * j + i; empty: all
  std::size_t kernarg_bytes = std::size_t{1} << 20U;
  KernargMemory kernarg_memory = KernargMemory::host;  ///< of dispatches and batches
};

/// The choices of a single dispatch.
struct DispatchOptions {
  Ordering ordering{};
  /// Decremented when the kernel completed, and must live until then; none: the queue's own epoch signal.
  const Signal* completion = nullptr;
  const KernargBlock* kernargs = nullptr;  ///< where the arguments go; none: a block of the queue's pool
};

/// Owns an HSA queue. Its destructor stops the queue whatever is in it: wait first.
class FASTDISPATCH_EXPORT Queue {
public:
  /// Throws Error when the options are outside of the agent's limits, HSA has no queue left, or kernel arguments are to
  /// lie where they can't.
  explicit Queue(Agent agent, const QueueOptions& options = {});
  ~Queue();
  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;

  /// Submits a recorded batch, and again: a replay. A batch with parameters wants each of them set:
  /// `queue.submit(batch, fd::set(count, 5), fd::set(output, buffer))`. What they are set to is written over what the
  /// same place held at an earlier submission that completed; nothing is encoded again, nothing allocated unless more
  /// submissions are in flight than ever before.
  /// Throws Error, with nothing submitted, when the batch is another agent's, when a parameter is not set, set twice or
  /// another batch's, when a grid is none that the kernel and the agent can run, when HSA has no memory or signals left
  /// for it, when it is longer than the ring and the queue has WhenFull::report, or when the queue failed;
  /// QueueFullError or TimeoutError where there is no room now. A part is submitted, and the queue has failed, where it
  /// throws TimeoutError behind the first part of a batch that is longer than the ring, or Error because a copy could
  /// not be started. A copy that fails while it runs fails the queue, too, when somebody waits for it.
  Submission submit(const Batch& batch);
  template <class... T>
    requires(sizeof...(T) > 0)
  Submission submit(const Batch& batch, const ParameterSetting<T>&... settings);

  /// Submits packets as they are, all or none: one reservation, one doorbell. A last packet with a barrier bit and
  /// without a completion signal gets the queue's epoch signal. What they name must live until they completed.
  /// Throws Error, with nothing submitted, when there are none or more than the ring has slots, when one is of the type
  /// invalid, or when the queue failed; QueueFullError or TimeoutError where there is no room.
  Submission submit(std::span<const Packet> packets);
  Submission submit(const Packet& packet) { return submit(std::span(&packet, 1)); }

  /// Dispatches a kernel by itself: `queue.dispatch(kernel, fd::grid(n), {.completion = &signal}, arguments...)`.
  /// Throws Error, with nothing submitted, when grid, group or group memory are more than kernel or agent allow, when
  /// the block in `options` is too small, and as acquire_kernargs and submit do.
  template <class... Parameters, class... Arguments>
  Submission dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, DispatchOptions options,
                      Arguments&&... arguments);
  template <class... Parameters, class... Arguments>
  Submission dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, Arguments&&... arguments);

  /// Submits a barrier packet that completes when everything before it has.
  /// Throws Error when the queue failed, QueueFullError or TimeoutError where there is no room.
  Submission barrier();
  /// Lets whatever is submitted to this queue from now on start after `submission`, to another queue of any agent, has
  /// completed, and see what it wrote; what is in this queue already goes on. The host doesn't wait. The other queue
  /// must live until what follows has completed.
  /// Cost: nothing where `submission` has completed or an earlier call covers it, else a barrier packet. It allocates
  /// for the first call with each other queue.
  /// Where `submission` needs a barrier to follow it (see Submission), this submits that to the other queue: with
  /// Producers::single only the other queue's producer may call it then.
  /// Throws Error when the other queue failed or this one has, QueueFullError or TimeoutError where either of them has
  /// no room; nothing that follows here waits then. When the other queue fails later, what follows here never starts.
  void start_after(const Submission& submission);

  /// Waits for everything submitted so far, by a barrier packet: that counts as submitting. `options` limit the wait
  /// for its room, too.
  /// Throws as Submission::wait does.
  void wait(WaitOptions options = {});

  /// Memory for the arguments of a dispatch, from the queue's pool; waits for the oldest dispatch when there is none,
  /// with a barrier packet behind it where that needs one. It counts as submitting.
  /// Throws Error when `bytes` are 0 or more than the pool has; where it would have to wait, also when the queue failed
  /// or, with Producers::single, when the oldest slot was never submitted; QueueFullError or TimeoutError where there
  /// is no room.
  [[nodiscard]] KernargSlot acquire_kernargs(std::size_t bytes);
  /// Submits a packet whose arguments are in `slot`, which comes back when it completed, or at once when this throws.
  /// Where they are in device memory, the packet acquires at system scope whatever it says.
  /// Throws as submit(std::span) does.
  Submission submit(const Packet& packet, KernargSlot&& slot);

  [[nodiscard]] Agent agent() const noexcept;
  [[nodiscard]] std::uint32_t size() const noexcept;
  /// HSA's queue. Submitting to it directly breaks the count of epochs; it is there for profiling and the like.
  [[nodiscard]] hsa_queue_t* handle() const noexcept;

private:
  Submission submit(const Batch& batch, std::span<detail::ParameterValue> values);
  Submission submit(const Packet& packet, const KernargBlock& arguments);

  std::unique_ptr<detail::QueueState> state_;
};

}  // namespace fastdispatch
