#include "dispatch/queue/queue_state.hpp"

#include <spdlog/fmt/fmt.h>

#include "dispatch/record/fence_rules.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

QueueState::QueueState(Agent agent, const QueueOptions& options, SharedFate* fate)
    : packets_(agent, options, fate), batches_(packets_, options.kernarg_memory),
      kernargs_(agent, options.kernarg_bytes, options.kernarg_memory) {}

Submission QueueState::submit(const Packet& packet, const KernargSlot& slot) {
  try {
    check_type(packet);
    Packet dispatch = packet;
    if (kernargs_.memory() == KernargMemory::device) {
      kernargs_.complete_writes();
      dispatch.set_ordering(fences::with_cached_arguments(packet.header().ordering));
    }
    const Submission submission = packets_.submit({&dispatch, 1});
    retire_kernargs(slot, submission.epoch());
    return submission;
  } catch (...) {
    retire_kernargs(slot, 0);
    throw;
  }
}

KernargSlot QueueState::acquire_kernargs(std::size_t bytes) {
  {
    const Ring::Turn turn(packets_.ring());
    if (const KernargSlot slot = kernargs_.try_acquire(bytes, packets_.completed_epoch()); !slot.bytes.empty())
      return slot;
  }
  return wait_for_kernargs(bytes);
}

KernargSlot QueueState::wait_for_kernargs(std::size_t bytes) {
  const PacketQueue::Wanted wanted{
      .amount = bytes, .unit = "bytes", .place = "kernarg pool", .capacity = kernargs_.capacity()};
  for (PacketQueue::RoomWait wait(packets_, wanted);; wait()) {
    std::uint64_t oldest = 0;
    {
      const Ring::Turn turn(packets_.ring());
      if (const KernargSlot slot = kernargs_.try_acquire(bytes, packets_.completed_epoch()); !slot.bytes.empty())
        return slot;
      oldest = kernargs_.oldest_epoch();
    }
    if (oldest == KernargPool::unretired && packets_.producers() == Producers::single)
      throw Error(
          fmt::format("the queue's kernarg pool of {} bytes is held by blocks that were never submitted: make it "
                      "larger with QueueOptions::kernarg_bytes",
                      kernargs_.capacity()));
    // Where no epoch covers it yet, this lets one follow.
    if (oldest != KernargPool::unretired) static_cast<void>(packets_.done(oldest));
  }
}

void QueueState::retire_kernargs(const KernargSlot& slot, std::uint64_t epoch) noexcept {
  const Ring::Turn turn(packets_.ring());
  kernargs_.retire(slot, epoch);
}

}  // namespace fastdispatch::detail
