#include "dispatch/queue/packet_queue.hpp"

#include <algorithm>

#include <hsa/amd_hsa_queue.h>
#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/failure_messages.hpp"
#include "dispatch/hostcall/hostcall.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/hsa/store_fence.hpp"
#include "dispatch/record/fence_rules.hpp"

namespace fastdispatch::detail {

namespace {

// Newer runtimes put rings into the GPU's memory where they are asked to (HSA_ALLOCATE_QUEUE_DEV_MEM). The indices stay
// in the host's.
bool is_in_device_memory(const HsaApi& api, const void* ring, hsa_agent_t agent) {
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  return api.amd_pointer_info(ring, &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS &&
         info.type != HSA_EXT_POINTER_TYPE_UNKNOWN && info.agentOwner.handle == agent.handle;
}

const char* in_words(Priority priority) noexcept {
  switch (priority) {
  case Priority::low:
    return "low";
  case Priority::high:
    return "high";
  case Priority::normal:
    break;
  }
  return "normal";
}

RingMemory memory_of(const HsaApi& api, hsa_queue_t* queue, hsa_agent_t agent) {
  auto& amd_queue = *reinterpret_cast<amd_queue_t*>(queue);
  const bool combines_writes = is_in_device_memory(api, queue->base_address, agent);
  return {.base = static_cast<Packet*>(queue->base_address),
          .size = queue->size,
          .write_index = const_cast<std::uint64_t*>(&amd_queue.write_dispatch_id),
          .read_index = const_cast<std::uint64_t*>(&amd_queue.read_dispatch_id),
          .store_fence = combines_writes ? store_fence : nullptr};
}

}  // namespace

PacketQueue::PacketQueue(Agent agent, const QueueOptions& options, SharedFate* fate)
    : runtime_(share_runtime_of(agent)), agent_(agent), when_full_(options.when_full),
      full_timeout_(options.full_timeout), producers_(options.producers), failure_(agent, fate), epoch_signal_(agent),
      peer_waits_(failure_, epoch_signal_, options.producers), edges_(*state_of(agent).device_signals),
      queue_(create(options)), ring_(memory_of(agent.api(), queue_.get(), agent.handle()), options.producers),
      doorbell_(agent.api(), queue_->doorbell_signal), life_(*this), trace_(agent, queue_->id) {
  state_of(agent_).queues.add(*this);
  failure_.join();
  log().info("queue {} on {}: {} packets, {}, {} priority", id(), agent.name(), size(),
             producers_ == Producers::single ? "one producer" : "several producers", in_words(options.priority));
}

void PacketQueue::stop() noexcept {
  if (stopped_) return;
  stopped_ = true;
  failure_.leave();
  trace_.end();
  state_of(agent_).completions.remove(*this);
  state_of(agent_).queues.remove(*this);
  const auto calls = end_hostcall_for(agent_, handle());
  queue_.reset();  // until then kernels may read their arguments, and an error that HSA reports reads the ring
  failure_.copies().drain(agent_.api(), Deadline(copies_may_take));
  failure_.abandon_followers();
  life_.end();
}

template <Watched watched>
void PacketQueue::publish_beside_last(const Ring::Reservation& reservation, std::span<const Packet> packets,
                                      EndsEpoch ends_epoch) noexcept {
  Packet first = packets.front();
  first.set_ordering(fences::beside_earlier(first.header().ordering));
  write<watched>(reservation.first, std::span(&first, 1), EndsEpoch::no);
  if (packets.size() > 1) write<watched>(reservation.first + 1, packets.subspan(1), ends_epoch);
  doorbell_.ring(reservation.first + packets.size() - 1);
}
template void PacketQueue::publish_beside_last<Watched::no>(const Ring::Reservation&, std::span<const Packet>,
                                                            EndsEpoch) noexcept;
template void PacketQueue::publish_beside_last<Watched::yes>(const Ring::Reservation&, std::span<const Packet>,
                                                             EndsEpoch) noexcept;

Submission PacketQueue::barrier() {
  const Packet packet = encode(BarrierAnd{});
  return submit(std::span(&packet, 1));
}

void PacketQueue::try_barrier() noexcept {
  const Packet packet = encode(BarrierAnd{});
  if (const auto reservation = ring_.try_reserve(1, EndsEpoch::yes))
    publish_later_packets(*reservation, std::span(&packet, 1), EndsEpoch::yes);
}

void PacketQueue::start_after(PacketQueue& other, std::uint64_t epoch) {
  if (other.completed(epoch)) return;
  other.throw_if_failed();
  other.cover(epoch);
  peer_waits_.wait_once(other.failure_, other.epoch_signal_, epoch, [&] {
    return agent_.properties().barrier_value_packets ? wait_by_value(other, epoch) : wait_by_edge(other, epoch);
  });
}

std::uint64_t PacketQueue::wait_by_value(const PacketQueue& other, std::uint64_t epoch) {
  const auto [signal, threshold] = other.completion_of(epoch);
  const Packet packet = encode(BarrierValue{
      .ordering = fences::wait_for_queue, .signal = signal, .condition = HSA_SIGNAL_CONDITION_LT, .value = threshold});
  return submit(std::span(&packet, 1)).epoch();
}

std::uint64_t PacketQueue::wait_by_edge(PacketQueue& other, std::uint64_t epoch) {
  EdgeSignals::Edge& edge = edges_.take(completed_epoch());
  const hsa_signal_t signal = edge.signal->handle();
  const Packet packet = encode(BarrierAnd{.ordering = fences::wait_for_queue, .signals = {signal}});
  log().debug("queue {} waits for queue {} by a barrier-AND packet: the firmware of {} knows no barrier-value packets",
              id(), other.id(), agent_.name());
  other.complete_edge(epoch, signal, failure_);
  edge.covered_by = submit(std::span(&packet, 1)).epoch();
  return edge.covered_by;
}

void PacketQueue::complete_edge(std::uint64_t epoch, hsa_signal_t edge, const QueueFailure& follower) {
  if (try_complete_by_packet(epoch, edge, follower)) return;
  log().debug("queue {}: the host completes the signal that another queue waits for, not a packet", id());
  // If the queue fails, so does the follower.
  state_of(agent_).completions.add(*this, epoch, [&api = agent_.api(), edge](const Error* error) {
    if (error == nullptr) api.signal_store_screlease(edge, 0);
  });
}

// A packet completes behind everything that is in the ring. What lies behind `epoch` may itself wait for the follower,
// unless Streams put it there: a run waits for earlier runs only.
bool PacketQueue::try_complete_by_packet(std::uint64_t epoch, hsa_signal_t edge,
                                         const QueueFailure& follower) noexcept {
  const bool in_streams = failure_.shares_fate_with(follower);
  if (producers_ == Producers::single && !in_streams) return false;  // the caller may be another thread
  const Packet packet = encode(BarrierAnd{.ordering = fences::behind_all, .completion_signal = edge});
  const Ring::Turn turn(ring_);
  if (!in_streams && ring_.end_of(epoch) != ring_.write_index()) return false;
  const auto reservation = ring_.try_reserve(turn, 1, EndsEpoch::no);
  if (reservation) publish_later_packets(*reservation, std::span(&packet, 1), EndsEpoch::no);
  return reservation.has_value();
}

void PacketQueue::check_other_type(const Packet& packet) const {
  if (packet.header().type == PacketType::invalid) [[unlikely]]
    throw Error("a packet to submit has the type invalid: the queue would stop at it for ever");
  const bool is_barrier_value = packet.header().type == PacketType::vendor_specific &&
                                (packet.words[0] >> 16U & 0xffU) == HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  if (is_barrier_value && !agent_.properties().barrier_value_packets) [[unlikely]]
    throw Error(
        fmt::format("a barrier-value packet, which the firmware of {} does not know "
                    "(AgentProperties::barrier_value_packets): wait with BarrierAnd, or with Queue::start_after",
                    agent_.name()));
}

Ring::Reservation PacketQueue::wait_and_reserve(std::uint32_t count, EndsEpoch ends_epoch) {
  for (RoomWait wait(*this);;) {
    wait(packets_wanted(count));
    if (const auto reservation = ring_.try_reserve(count, ends_epoch)) return *reservation;
  }
}

void PacketQueue::wait_for_callbacks(std::chrono::nanoseconds timeout) {
  const HostSpan span("wait", "wait for callbacks", {"queue", id()});
  if (!state_of(agent_).completions.wait(*this, Deadline(timeout)))
    throw TimeoutError(
        fmt::format("waiting for callbacks: not all were called within {}; {}", in_words(timeout), describe()));
}

void PacketQueue::wait(std::uint64_t epoch, const WaitOptions& options) {
  {
    const HostSpan span("wait", "wait for a submission", {"queue", id()}, {"epoch", epoch});
    wait_until_done(epoch, options);
  }
  if (is_watched_by(Watcher::trace)) trace_.collect();
}

void PacketQueue::wait_until_done(std::uint64_t epoch, const WaitOptions& options) {
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
  if (!wait_for(
          completion_of(epoch), rest, [&](auto time) { block(epoch, time); }, check))
    time_is_up();
}

void PacketQueue::block(std::uint64_t epoch, std::chrono::nanoseconds timeout) {
  blocked_wait().block(state_of(agent_), completion_of(epoch), timeout);
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
