#include "dispatch/queue/queue_state.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/record/fence_rules.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

QueueState::QueueState(Agent agent, const QueueOptions& options, SharedFate* fate)
    : packets_(agent, options, fate), batches_(packets_, options.kernarg_memory),
      kernargs_(agent, options.kernarg_bytes, options.kernarg_memory) {}

Submission QueueState::submit(const Packet& packet, KernargSlot&& slot) {
  if (slot.queue_ == nullptr || slot.reference_ != packets_.reference())
    throw Error("kernel arguments in a slot of another queue, or in one that was submitted");
  KernargSlot taken = std::move(slot);
  const Submission submission = submit(packet, kernargs_.memory());
  retire_kernargs(taken.index_, submission.epoch());
  taken.queue_ = nullptr;  // the memory is not given back, but retired
  return submission;
}

Submission QueueState::submit(const Packet& packet, const KernargBlock& arguments) {
  packets_.check_type(packet);
  arguments.complete_writes();
  Packet dispatch = packet;
  dispatch.set_ordering(fences::with_new_arguments(packet.header().ordering, arguments.memory()));
  return packets_.submit({&dispatch, 1});
}

KernargSlot QueueState::acquire_kernargs(std::size_t bytes) {
  {
    const Ring::Turn turn(packets_.ring());
    if (const auto slot = kernargs_.try_acquire(bytes, packets_.completed_epoch())) [[likely]]
      return {*this, packets_.reference(), slot->bytes, slot->index};
  }
  return wait_for_kernargs(bytes);
}

KernargSlot QueueState::wait_for_kernargs(std::size_t bytes) {
  const PacketQueue::Wanted wanted{
      .amount = bytes, .unit = "bytes", .place = "kernarg pool", .capacity = kernargs_.capacity()};
  for (PacketQueue::RoomWait wait(packets_);; wait(wanted)) {
    std::uint64_t oldest = 0;
    {
      const Ring::Turn turn(packets_.ring());
      if (const auto slot = kernargs_.try_acquire(bytes, packets_.completed_epoch()))
        return {*this, packets_.reference(), slot->bytes, slot->index};
      oldest = kernargs_.oldest_epoch();
    }
    if (oldest == KernargPool::unretired && packets_.producers() == Producers::single)
      throw Error(
          fmt::format("the queue's kernarg pool of {} bytes is held by blocks that were never submitted: make it "
                      "larger with QueueOptions::kernarg_bytes",
                      kernargs_.capacity()));
    // If no epoch covers it yet, `done` submits a barrier packet.
    if (oldest != KernargPool::unretired) static_cast<void>(packets_.done(oldest));
  }
}

}  // namespace fastdispatch::detail

namespace fastdispatch {

void KernargSlot::give_back() const noexcept {
  if (reference_.lives()) queue_->retire_kernargs(index_, 0);
}

}  // namespace fastdispatch
