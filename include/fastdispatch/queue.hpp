// Queues: rings of packets that a GPU's command processor reads.
//
// Purpose: the shortest way from packets in memory to the command processor. A submission of packets, or a repeated
// submission of a batch without copies, copies the packets into the ring, stores their headers and rings the doorbell
// once. It does not call HSA and does not allocate. A batch with copies passes the copies to HSA.
//
// Thread safety:
// - Producers::multiple: any thread may submit at any time. The price is one atomic exchange for each run of packets,
//   batch, or part of a batch that is longer than half of the ring; three for a dispatch with its arguments in the
//   queue's pool; and waiting for producers that reserve at the same time.
// - Producers::single: one thread submits, without locks and atomic read-modify-writes.
// - Waiting may submit: Queue::wait does. Waiting on a Submission does if none of its packets ends an epoch (see
//   there).
//
// Memory ordering: a thread's writes before it submits (kernel arguments, pinned buffers) are visible to a packet that
// acquires at system scope: headers are stored with release. A packet's writes that it released at system scope are
// visible after Submission::wait or a true Submission::done, which acquire.
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
#include "fastdispatch/detail/owner.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/kernarg.hpp"
#include "fastdispatch/kernel_argument.hpp"
#include "fastdispatch/packets.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"
#include "fastdispatch/timed_submission.hpp"

namespace fastdispatch {

class Batch;
template <class Signature>
class Kernel;
template <class T>
struct ParameterSetting;
namespace detail {
class QueueState;
struct KernelInfo;
struct ParameterValue;
}  // namespace detail

enum class Producers { single, multiple };

/// What a submission does when the ring has no room for it, or the queue's pool no room for its kernel arguments.
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
  /// Bit i of word j allows compute unit 32 * j + i; empty: all. docs/hardware.md has what it means on several XCDs.
  std::vector<std::uint32_t> compute_unit_mask{};
  std::size_t kernarg_bytes = std::size_t{1} << 20U;
  KernargMemory kernarg_memory = KernargMemory::host;  ///< of dispatches and batches
};

/// The choices of a single dispatch.
struct DispatchOptions {
  Ordering ordering{};
  /// Decremented when the kernel completed, and must live until then; null: the queue's own epoch signal.
  const Signal* completion = nullptr;
  const KernargBlock* kernargs = nullptr;  ///< where the arguments go; null: a block of the queue's pool
};

/// Owns an HSA queue. Its destructor stops the queue even if packets have not completed: wait first. A queue that was
/// moved from may be destroyed and assigned to; all else throws Error.
class FASTDISPATCH_EXPORT Queue {
public:
  /// Throws Error when the options are outside of the agent's limits, HSA has no queue left, or the agent does not
  /// support `kernarg_memory`.
  explicit Queue(Agent agent, const QueueOptions& options = {});
  ~Queue();
  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;

  /// Submits a recorded batch; each further submission is a replay. Each parameter of the batch must be set:
  /// `queue.submit(batch, fd::set(count, 5), fd::set(output, buffer))`. The values are written over the values of an
  /// earlier submission that completed. A replay does not encode, and allocates only if more submissions are in flight
  /// than ever before.
  ///
  /// Throws Error, with nothing submitted, when
  /// - the batch is another agent's, or the queue failed
  /// - a parameter is not set, set twice or another batch's
  /// - the kernel or the agent can't run a grid
  /// - HSA has no memory or signals left for it
  /// - the batch has more packets than half of the ring and the queue has WhenFull::report
  ///
  /// Throws QueueFullError or TimeoutError if there is no room now.
  ///
  /// Two exceptions leave a part submitted and the queue failed: TimeoutError behind the first part of a batch that is
  /// longer than half of the ring, and Error because a copy could not be started. A copy that fails while it runs fails
  /// the queue, too, when somebody waits for it.
  Submission submit(const Batch& batch);
  template <class... T>
    requires(sizeof...(T) > 0)
  Submission submit(const Batch& batch, const ParameterSetting<T>&... settings);

  /// The same, and the device writes down when each kernel ran. For measurements: each kernel gets a completion signal
  /// of its own, and the batch is encoded anew, with a barrier packet behind its last kernel. To time a single
  /// dispatch, record a batch of one. From the first such submission on, HSA's profiling stays on for the queue.
  ///
  /// Throws as submit(batch) does, and Error when HSA cannot switch profiling on.
  TimedSubmission submit_timed(const Batch& batch);
  template <class... T>
    requires(sizeof...(T) > 0)
  TimedSubmission submit_timed(const Batch& batch, const ParameterSetting<T>&... settings);

  /// Submits packets as they are, all or none: one reservation, one doorbell. A last packet with a barrier bit and
  /// without a completion signal gets the queue's epoch signal. Everything that the packets name must live until they
  /// completed.
  /// Throws Error, with nothing submitted, when there are no packets or more packets than half of the ring's slots
  /// (GPUs may free slots late), when a packet is of the type invalid, or when the queue failed; QueueFullError or
  /// TimeoutError if there is no room.
  Submission submit(std::span<const Packet> packets);
  Submission submit(const Packet& packet) { return submit(std::span(&packet, 1)); }

  /// Dispatches a kernel by itself: `queue.dispatch(kernel, fd::grid(n), {.completion = &signal}, arguments...)`. Each
  /// argument is a KernelArgument for its parameter.
  /// Throws Error, with nothing submitted, when grid, group or group memory are more than kernel or agent allow, when
  /// the block in `options` is too small, when no memory is left for the kernel's calls of the host (docs/hostcall.md),
  /// and as acquire_kernargs and submit do.
  template <class... Parameters, class... Arguments>
    requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
  Submission dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, DispatchOptions options,
                      Arguments&&... arguments);
  template <class... Parameters, class... Arguments>
    requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
  Submission dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, Arguments&&... arguments);
  /// An argument is wider than its parameter, or floating-point where the parameter is an integer: cast it.
  template <class... Parameters, class... Arguments,
            std::size_t narrowed_argument = detail::first_narrowed<void(Parameters...), Arguments...>>
    requires(narrowed_argument > 0)
  Submission dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, DispatchOptions options,
                      Arguments&&... arguments) = delete;
  template <class... Parameters, class... Arguments,
            std::size_t narrowed_argument = detail::first_narrowed<void(Parameters...), Arguments...>>
    requires(narrowed_argument > 0)
  Submission dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, Arguments&&... arguments) = delete;

  /// Submits a barrier packet that completes when everything before it has completed.
  /// Throws Error when the queue failed, QueueFullError or TimeoutError if there is no room.
  Submission barrier();
  /// Later submissions to this queue start after `submission`, which is of another queue of any agent, has completed,
  /// and see its writes. Packets that are in this queue already go on. The host doesn't wait. If the other queue fails,
  /// or is destroyed, before `submission` completed, then this queue fails, too: the later submissions would never
  /// start. Cost: a barrier packet, or nothing if `submission` has completed or an earlier call covers it. On GPUs
  /// without AgentProperties::barrier_value_packets: also a signal, and a barrier packet in the other queue or a
  /// callback of it (docs/hardware.md). The first call with each other queue allocates and takes a lock. If
  /// `submission` needs a barrier packet behind it (see Submission), this call submits the packet to the other queue:
  /// with Producers::single only the other queue's producer may then call it. Throws Error when one of the two queues
  /// failed, QueueFullError or TimeoutError if one of them has no room; later submissions do not wait then.
  void start_after(const Submission& submission);

  /// Waits for everything submitted so far, by a barrier packet: that counts as submitting. `options` limit the wait
  /// for its room, too.
  /// Throws as Submission::wait does.
  void wait(WaitOptions options = {});

  /// Returns when every callback that Submission::on_complete was given so far for this queue has been called and
  /// destroyed; `wait` returns before. The policy of `options` is ignored: the caller blocks.
  /// Thread safety: any thread but the one that calls callbacks may call it.
  /// Throws TimeoutError when the time is up, and Error in a callback, which would wait for itself.
  void wait_for_callbacks(WaitOptions options = {});

  /// Memory for the arguments of a dispatch, from the queue's pool. If the pool is full, waits for the oldest dispatch,
  /// and submits a barrier packet behind it if it needs one. It counts as submitting.
  /// Throws Error when `bytes` are 0 or more than the pool has. If it would have to wait, throws Error also when the
  /// queue failed or, with Producers::single, when the oldest slot was never submitted; QueueFullError or TimeoutError
  /// if there is no room.
  [[nodiscard]] KernargSlot acquire_kernargs(std::size_t bytes);
  /// Submits a packet whose arguments are in `slot`. The slot goes back to the pool when the packet completed, or at
  /// once when this throws. The packet acquires at agent scope at least, and at system scope if the arguments are in
  /// device memory.
  /// Throws as submit(std::span) does.
  Submission submit(const Packet& packet, KernargSlot&& slot);

  [[nodiscard]] Agent agent() const;
  [[nodiscard]] std::uint32_t size() const;
  /// HSA's queue. Submitting to it directly breaks the count of epochs; it is there for profiling and the like.
  [[nodiscard]] hsa_queue_t* handle() const;

private:
  Submission submit(const Batch& batch, std::span<detail::ParameterValue> values);
  TimedSubmission submit_timed(const Batch& batch, std::span<detail::ParameterValue> values);
  Submission submit(const Packet& packet, const KernargBlock& arguments);
  /// The two halves of `dispatch`. Between them its arguments are written to the slot.
  [[nodiscard]] KernargSlot begin_dispatch(const detail::KernelInfo& kernel, const Grid& grid,
                                           std::uint64_t local_memory);
  Submission submit(const detail::KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory,
                    const DispatchOptions& options, KernargSlot& slot);

  detail::Owner<detail::QueueState> state_;
};

}  // namespace fastdispatch
