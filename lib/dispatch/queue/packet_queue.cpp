#include "dispatch/queue/packet_queue.hpp"

#include <algorithm>

#include <hsa/amd_hsa_queue.h>
#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/failure_messages.hpp"
#include "dispatch/hostcall/hostcall.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "dispatch/record/fence_rules.hpp"

namespace fastdispatch::detail {

namespace {

RingMemory memory_of(hsa_queue_t* queue) {
  auto& amd_queue = *reinterpret_cast<amd_queue_t*>(queue);
  return {.base = static_cast<Packet*>(queue->base_address),
          .size = queue->size,
          .write_index = const_cast<std::uint64_t*>(&amd_queue.write_dispatch_id),
          .read_index = const_cast<std::uint64_t*>(&amd_queue.read_dispatch_id)};
}

}  // namespace

PacketQueue::PacketQueue(Agent agent, const QueueOptions& options, SharedFate* fate)
    : runtime_(share_runtime_of(agent)), agent_(agent), when_full_(options.when_full),
      full_timeout_(options.full_timeout), producers_(options.producers), failure_(agent, fate), epoch_signal_(agent),
      peer_waits_(failure_, epoch_signal_, options.producers), queue_(create(options)),
      ring_(memory_of(queue_.get()), options.producers), doorbell_(agent.api(), queue_->doorbell_signal) {
  state_of(agent_).queues.add(*this);
  failure_.join();
}

void PacketQueue::stop() noexcept {
  if (stopped_) return;
  stopped_ = true;
  failure_.leave();
  state_of(agent_).completions.remove(*this);
  state_of(agent_).queues.remove(*this);
  const auto calls = end_hostcall_for(agent_, handle());
  queue_.reset();  // until then kernels may read their arguments, and an error that HSA reports reads the ring
  failure_.abandon_followers();
}

void PacketQueue::publish_beside_last(const Ring::Reservation& reservation, std::span<const Packet> packets,
                                      EndsEpoch ends_epoch) noexcept {
  Packet first = packets.front();
  first.set_ordering(fences::beside_earlier(first.header().ordering));
  write(reservation.first, std::span(&first, 1), EndsEpoch::no);
  if (packets.size() > 1) write(reservation.first + 1, packets.subspan(1), ends_epoch);
  doorbell_.ring(reservation.first + packets.size() - 1);
}

Submission PacketQueue::submit(std::span<const Packet> packets) {
  const EndsEpoch ends = ends_epoch(packets);
  const Ring::Reservation reservation = reserve(static_cast<std::uint32_t>(packets.size()), ends);
  publish(reservation, packets, ends);
  return submission(reservation.epoch);
}

Submission PacketQueue::barrier() {
  const Packet packet = encode(BarrierAnd{});
  return submit(std::span(&packet, 1));
}

void PacketQueue::try_barrier() noexcept {
  const Packet packet = encode(BarrierAnd{});
  if (const auto reservation = ring_.try_reserve(1, EndsEpoch::yes))
    publish(*reservation, std::span(&packet, 1), EndsEpoch::yes);
}

void PacketQueue::start_after(PacketQueue& other, std::uint64_t epoch) {
  if (other.completed(epoch)) return;
  other.throw_if_failed();
  other.cover(epoch);
  peer_waits_.wait_once(other.failure_, other.epoch_signal_, epoch, [&] {
    const auto [signal, threshold] = other.completion_of(epoch);
    const Packet packet = encode(BarrierValue{.ordering = fences::wait_for_queue,
                                              .signal = signal,
                                              .condition = HSA_SIGNAL_CONDITION_LT,
                                              .value = threshold});
    return submit(std::span(&packet, 1)).epoch();
  });
}

Ring::Reservation PacketQueue::reserve(std::uint32_t count, EndsEpoch ends_epoch) {
  throw_if_failed();
  if (const auto reservation = ring_.try_reserve(count, ends_epoch)) [[likely]]
    return *reservation;
  for (RoomWait wait(*this, packets_wanted(count));;) {
    wait();
    if (const auto reservation = ring_.try_reserve(count, ends_epoch)) return *reservation;
  }
}

void PacketQueue::wait_for_callbacks(std::chrono::nanoseconds timeout) {
  if (!state_of(agent_).completions.wait(*this, Deadline(timeout)))
    throw TimeoutError(
        fmt::format("waiting for callbacks: not all were called within {}; {}", in_words(timeout), describe()));
}

void PacketQueue::wait(std::uint64_t epoch, const WaitOptions& options) {
  if (done(epoch)) return;
  const Deadline deadline(options.timeout);
  const auto time_is_up = [&] {
    throw TimeoutError(
        fmt::format("waiting for a submission: not complete within {}; {}", in_words(options.timeout), describe()));
  };
  // A barrier that has to follow may not have room yet.
  for (Backoff backoff; !done(epoch) && !covers(epoch); backoff())
    if (backoff.slow() && deadline.passed()) time_is_up();
  const WaitOptions rest{.policy = options.policy, .timeout = std::min(options.timeout, deadline.left())};
  const auto check = [this] {
    look_at_copies();
    throw_if_failed();
  };
  if (!wait_for(state_of(agent_), completion_of(epoch), rest, check)) time_is_up();
}

bool PacketQueue::done(std::uint64_t epoch) {
  if (completed(epoch)) return true;
  look_at_copies();
  throw_if_failed();
  // Neither the packets nor a later packet carry an epoch signal: submit a barrier packet that does.
  if (!covers(epoch)) try_barrier();
  return false;
}

}  // namespace fastdispatch::detail
