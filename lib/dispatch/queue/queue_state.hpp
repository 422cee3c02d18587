// The state of a Queue: a queue for packets, the images of its batches, and its kernel arguments.
//
// Thread safety and memory ordering: those of Queue, see fastdispatch/queue.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dispatch/memory/kernarg_pool.hpp"
#include "dispatch/queue/batch_submitter.hpp"
#include "dispatch/queue/packet_queue.hpp"
#include "dispatch/queue/shared_fate.hpp"
#include "fastdispatch/kernarg.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/submission.hpp"

namespace fastdispatch::detail {

class QueueState {
public:
  /// `fate` is null or outlives the queue.
  QueueState(Agent agent, const QueueOptions& options, SharedFate* fate = nullptr);
  /// Destroys the HSA queue first: until then kernels may read the members' memory.
  ~QueueState() { packets_.stop(); }
  QueueState(const QueueState&) = delete;
  QueueState& operator=(const QueueState&) = delete;

  [[nodiscard]] PacketQueue& packets() noexcept { return packets_; }
  [[nodiscard]] BatchSubmitter& batches() noexcept { return batches_; }

  /// Throws if the queue's agent cannot run the dispatch. Then takes memory for its arguments, and waits for room.
  [[nodiscard]] KernargSlot begin_dispatch(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory);
  /// Submits that dispatch, whose arguments are in `slot`, and takes the slot's memory, unless it throws.
  Submission submit(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory,
                    const DispatchOptions& options, KernargSlot& slot);
  /// Submits a dispatch whose arguments are in `slot`, and takes the slot. If it throws, the slot is given back.
  Submission submit(const Packet& packet, KernargSlot&& slot);
  /// Submits a dispatch whose arguments are in a block that the caller keeps.
  Submission submit(const Packet& packet, const KernargBlock& arguments);
  /// Waits for room.
  [[nodiscard]] KernargSlot acquire_kernargs(std::size_t bytes);

  /// A slot's memory is in use until `epoch` completed.
  void retire_kernargs(std::size_t index, std::uint64_t epoch) noexcept {
    const Ring::Turn turn(packets_.ring());
    kernargs_.retire(index, epoch);
  }

private:
  [[nodiscard]] KernargSlot wait_for_kernargs(std::size_t bytes);
  /// A packet's place. From now on the memory of `slot`, which is empty, is in use until the packet's epoch completed.
  [[nodiscard]] std::optional<Ring::Reservation> try_reserve(KernargSlot& slot, EndsEpoch ends_epoch) noexcept;
  [[nodiscard]] Ring::Reservation wait_and_reserve(KernargSlot& slot, EndsEpoch ends_epoch);

  PacketQueue packets_;
  BatchSubmitter batches_;
  KernargPool kernargs_;  ///< used only during a turn of the ring
};

}  // namespace fastdispatch::detail
