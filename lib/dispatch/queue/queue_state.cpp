#include "dispatch/queue/queue_state.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/record/fence_rules.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

QueueState::QueueState(Agent agent, const QueueOptions& options, SharedFate* fate)
    : packets_(agent, options, fate), batches_(packets_, options.kernarg_memory),
      kernargs_(agent, options.kernarg_bytes, options.kernarg_memory) {}

KernargSlot QueueState::begin_dispatch(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory) {
  check_dispatch(kernel, grid, local_memory, packets_.agent());
  return acquire_kernargs(std::max(kernel.kernarg_size, 1U));
}

inline std::optional<Ring::Reservation> QueueState::try_reserve(KernargSlot& slot, EndsEpoch ends_epoch) noexcept {
  const Ring::Turn turn(packets_.ring());
  const auto reservation = packets_.ring().try_reserve(turn, 1, ends_epoch);
  if (reservation) {
    kernargs_.retire(slot.index_, reservation->epoch);
    slot.queue_ = nullptr;  // the memory is not given back, but retired
  }
  return reservation;
}

Ring::Reservation QueueState::wait_and_reserve(KernargSlot& slot, EndsEpoch ends_epoch) {
  for (PacketQueue::RoomWait wait(packets_);;) {
    wait(packets_.packets_wanted(1));
    if (const auto reservation = try_reserve(slot, ends_epoch)) return *reservation;
  }
}

// The packet has no address here, so that it goes from registers to the ring.
Submission QueueState::submit(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory,
                              const DispatchOptions& options, KernargSlot& slot) {
  const KernargBlock& arguments = kernargs_.memory();
  const std::byte* const kernarg = slot.bytes().data();
  const Ordering ordering = fences::with_new_arguments(options.ordering, arguments.memory());
  const hsa_signal_t completion = options.completion != nullptr ? options.completion->handle() : hsa_signal_t{};
  if (is_watched()) [[unlikely]] {
    Packet packet = dispatch_packet(kernel, grid, local_memory, kernarg, ordering);
    packet.set_completion_signal(completion);
    return submit(packet, std::move(slot));
  }
  packets_.throw_if_failed();
  arguments.complete_writes();
  const EndsEpoch ends_epoch = PacketQueue::ends_epoch(completion, ordering);
  const auto room = try_reserve(slot, ends_epoch);
  const Ring::Reservation reservation = room ? *room : wait_and_reserve(slot, ends_epoch);
  Packet packet = dispatch_packet(kernel, grid, local_memory, kernarg, ordering);
  packet.set_completion_signal(completion);
  packets_.publish_new(reservation.first, packet, ends_epoch);
  return packets_.submission(reservation.epoch);
}

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
  if (!detail::is_forked_child.load(std::memory_order_relaxed) && reference_.lives())
    queue_->retire_kernargs(index_, 0);
}

}  // namespace fastdispatch
