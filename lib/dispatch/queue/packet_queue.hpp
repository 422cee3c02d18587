// A queue for packets: the ring, the doorbell, the epoch signal, and the reason of a failure. QueueState adds batches
// and kernel arguments.
//
// Thread safety and memory ordering: those of Queue, see fastdispatch/queue.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/device/agent_queue.hpp"
#include "dispatch/device/backoff.hpp"
#include "dispatch/device/wait.hpp"
#include "dispatch/hsa/watching.hpp"
#include "dispatch/queue/doorbell.hpp"
#include "dispatch/queue/edge_signals.hpp"
#include "dispatch/queue/epoch_signal.hpp"
#include "dispatch/queue/peer_waits.hpp"
#include "dispatch/queue/queue_failure.hpp"
#include "dispatch/queue/queue_life.hpp"
#include "dispatch/queue/queue_trace.hpp"
#include "dispatch/queue/ring.hpp"
#include "dispatch/trace/host_span.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/queue_reference.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"

namespace fastdispatch::detail {

struct QueueDeleter {
  const HsaApi* api;
  void operator()(hsa_queue_t* queue) const noexcept { api->queue_destroy(queue); }
};
using QueueHandle = std::unique_ptr<hsa_queue_t, QueueDeleter>;

class PacketQueue final : public AgentQueue {
public:
  /// The room that a producer wants and does not get now, for messages: 3 packets in a ring of 64.
  struct Wanted {
    std::size_t amount;
    std::string_view unit;
    std::string_view place;
    std::size_t capacity;
  };

  /// Between two attempts of a producer to get room: waits, or throws the reason why there will be no room.
  class RoomWait {
  public:
    explicit RoomWait(PacketQueue& queue) noexcept : queue_(queue) {}
    void operator()(const Wanted& wanted);

  private:
    PacketQueue& queue_;
    std::optional<Deadline> deadline_;
    Backoff backoff_;
    std::optional<HostSpan> span_;
  };

  /// `fate` is null or outlives the queue.
  PacketQueue(Agent agent, const QueueOptions& options, SharedFate* fate = nullptr);
  ~PacketQueue() { stop(); }

  /// Destroys the HSA queue, even if there are packets in it; after that only the destructor may be called. Queues that
  /// wait for a packet in it fail.
  void stop() noexcept;

  /// `packets` has at least one packet, and passes check_fits.
  Submission submit(std::span<const Packet> packets) {
    if (is_watched()) [[unlikely]]
      return submit_watched(packets);
    return submit_as_they_are<Watched::no>(packets);
  }
  /// Submits a packet that waits for all earlier ones.
  Submission barrier();
  /// Later submissions wait for `epoch` of `other`.
  void start_after(PacketQueue& other, std::uint64_t epoch);
  void start_after(const Submission& submission) { start_after(*submission.queue_, submission.epoch()); }
  /// Throws if the queue would never get past the packet.
  void check_type(const Packet& packet) const {
    if (packet.header().type != PacketType::kernel_dispatch) check_other_type(packet);
  }

  /// Waits for `epoch`; for Submission::wait and done.
  void wait(std::uint64_t epoch, const WaitOptions& options);
  [[nodiscard]] bool done(std::uint64_t epoch);
  /// Blocks until `epoch` completed, or for the timeout. It may return early.
  void block(std::uint64_t epoch, std::chrono::nanoseconds timeout);
  /// Waits for everything submitted so far: the next epoch covers packets that no earlier epoch covers.
  void wait(const WaitOptions& options) { wait(ring_.epochs() + 1, options); }

  /// For Queue::wait_for_callbacks.
  void wait_for_callbacks(std::chrono::nanoseconds timeout);

  /// The last epoch that completed.
  [[nodiscard]] std::uint64_t completed_epoch() const noexcept { return epoch_signal_.completed(); }
  [[nodiscard]] bool completed(std::uint64_t epoch) const noexcept override { return completed_epoch() >= epoch; }
  [[nodiscard]] Below completion_of(std::uint64_t epoch) const noexcept override {
    return epoch_signal_.completion_of(epoch);
  }
  /// Whether a packet in the queue is to complete `epoch`.
  [[nodiscard]] bool covers(std::uint64_t epoch) const noexcept { return ring_.epochs() >= epoch; }
  /// Submits a barrier packet if no packet covers `epoch`.
  void cover(std::uint64_t epoch) {
    if (!covers(epoch)) barrier();
  }
  [[nodiscard]] Submission submission(std::uint64_t epoch) noexcept { return {reference(), epoch}; }
  [[nodiscard]] QueueReference reference() const noexcept { return life_.reference(); }

  [[nodiscard]] Ring& ring() noexcept { return ring_; }
  /// Whether packets end an epoch.
  [[nodiscard]] static EndsEpoch ends_epoch(std::span<const Packet> packets) noexcept {
    return ends_epoch(packets.back().completion_signal(), packets.back().header().ordering);
  }
  [[nodiscard]] static EndsEpoch ends_epoch(hsa_signal_t completion_signal, Ordering ordering) noexcept {
    return completion_signal.handle == 0 && ordering.barrier == BarrierBit::set ? EndsEpoch::yes : EndsEpoch::no;
  }
  /// Writes packets into their reservation and rings the doorbell. If it is watched, the log gets the packets first.
  template <Watched watched = Watched::no>
  void publish(const Ring::Reservation& reservation, std::span<const Packet> packets, EndsEpoch ends_epoch) noexcept {
    write<watched>(reservation.first, packets, ends_epoch);
    doorbell_.ring(reservation.first + packets.size() - 1);
  }
  /// The same for one packet that was just made, and that nobody watches.
  void publish_new(std::uint64_t index, const Packet& packet, EndsEpoch ends_epoch) noexcept {
    ring_.publish_new(index, packet,
                      ends_epoch == EndsEpoch::yes ? epoch_signal_.handle() : packet.completion_signal());
    doorbell_.ring(index);
  }
  /// The same as `publish`, but publishes the first packet without its barrier bit; the first packet does not end an
  /// epoch.
  template <Watched watched = Watched::no>
  void publish_beside_last(const Ring::Reservation& reservation, std::span<const Packet> packets,
                           EndsEpoch ends_epoch) noexcept;
  /// `publish` where a branch more does not matter.
  void publish_later_packets(const Ring::Reservation& reservation, std::span<const Packet> packets,
                             EndsEpoch ends_epoch) noexcept {
    if (is_watched())
      publish<Watched::yes>(reservation, packets, ends_epoch);
    else
      publish(reservation, packets, ends_epoch);
  }

  /// Throws Error if they are too many for one piece: a wait for room might never end.
  void check_fits(std::size_t packets) const;
  [[nodiscard]] Wanted packets_wanted(std::size_t count) const noexcept {
    return {.amount = count, .unit = "packets", .place = "ring", .capacity = size()};
  }

  /// From now on, waiters and producers of this queue, and of the queues that fail with it, throw `error`.
  void fail(const Error& error) noexcept override { failure_.fail(error); }
  /// The same for a status that HSA reported to the queue's callback.
  void fail(hsa_status_t status) noexcept;
  [[nodiscard]] const Error* failure() const noexcept override { return failure_.reason(); }
  void throw_if_failed() const { failure_.throw_if_failed(); }
  bool look_at_copies() noexcept override { return failure_.look_at_copies(); }
  /// The copies of the queue's batches.
  [[nodiscard]] CopyWatch& copies() noexcept { return failure_.copies(); }

  /// From now on the device writes into completion signals when their packets ran.
  void enable_profiling();
  /// The same for a trace. If HSA refuses, the log says so, and the trace has no times of the queue's packets.
  [[nodiscard]] bool try_enable_profiling() noexcept;
  [[nodiscard]] QueueTrace& trace() noexcept { return trace_; }

  /// For messages: the indices and the queue's state.
  [[nodiscard]] std::string describe() const;
  void add_running_kernels(std::vector<std::string>& names) const override;
  [[nodiscard]] bool was_to_complete(hsa_signal_t signal) const noexcept override;

  [[nodiscard]] Agent agent() const noexcept { return agent_; }
  [[nodiscard]] Producers producers() const noexcept { return producers_; }
  [[nodiscard]] WhenFull when_full() const noexcept { return when_full_; }
  [[nodiscard]] hsa_queue_t* handle() const noexcept override { return queue_.get(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return ring_.size(); }
  /// HSA's number of the queue, for messages.
  [[nodiscard]] std::uint64_t id() const noexcept { return queue_->id; }

private:
  /// Checks the options against the agent's limits and makes the queue; HSA reports its errors to `fail`.
  [[nodiscard]] QueueHandle create(const QueueOptions& options);

  template <Watched watched>
  Submission submit_as_they_are(std::span<const Packet> packets) {
    const EndsEpoch ends = ends_epoch(packets);
    const Ring::Reservation reservation = reserve(static_cast<std::uint32_t>(packets.size()), ends);
    publish<watched>(reservation, packets, ends);
    return submission(reservation.epoch);
  }
  /// Submits packets for the log or a trace.
  Submission submit_watched(std::span<const Packet> packets);
  Submission submit_traced(std::span<const Packet> packets);
  void log_packets(std::uint64_t first, std::span<const Packet> packets, EndsEpoch ends_epoch) const noexcept;

  template <Watched watched = Watched::no>
  void write(std::uint64_t first, std::span<const Packet> packets, EndsEpoch ends_epoch) noexcept {
    if constexpr (watched == Watched::yes) log_packets(first, packets, ends_epoch);
    ring_.publish(first, packets,
                  ends_epoch == EndsEpoch::yes ? epoch_signal_.handle() : packets.back().completion_signal());
  }
  void check_other_type(const Packet& packet) const;
  [[nodiscard]] Ring::Reservation reserve(std::uint32_t count, EndsEpoch ends_epoch) {
    throw_if_failed();
    const auto reservation = ring_.try_reserve(count, ends_epoch);
    return reservation ? *reservation : wait_and_reserve(count, ends_epoch);
  }
  [[nodiscard]] Ring::Reservation wait_and_reserve(std::uint32_t count, EndsEpoch ends_epoch);
  /// Submits a packet that waits for `epoch` of `other`, and returns the epoch that covers the packet.
  [[nodiscard]] std::uint64_t wait_by_value(const PacketQueue& other, std::uint64_t epoch);
  [[nodiscard]] std::uint64_t wait_by_edge(PacketQueue& other, std::uint64_t epoch);
  /// Lets a packet, or else the host, complete `edge` when `epoch` has completed.
  void complete_edge(std::uint64_t epoch, hsa_signal_t edge, const QueueFailure& follower);
  [[nodiscard]] bool try_complete_by_packet(std::uint64_t epoch, hsa_signal_t edge,
                                            const QueueFailure& follower) noexcept;
  void wait_until_done(std::uint64_t epoch, const WaitOptions& options);
  /// Submits a barrier packet where there is room for one.
  void try_barrier() noexcept;
  /// The first packet that is not known to have completed.
  [[nodiscard]] std::uint64_t oldest_packet() const noexcept;

  RuntimeShare runtime_;
  Agent agent_;
  WhenFull when_full_;
  std::chrono::nanoseconds full_timeout_;
  Producers producers_;
  bool stopped_ = false;
  std::atomic<bool> profiles_ = false;
  std::atomic<bool> cannot_profile_ = false;
  QueueFailure failure_;
  EpochSignal epoch_signal_;
  PeerWaits peer_waits_;
  EdgeSignals edges_;
  QueueHandle queue_;
  Ring ring_;
  Doorbell doorbell_;
  QueueLife life_;
  QueueTrace trace_;
};

}  // namespace fastdispatch::detail
