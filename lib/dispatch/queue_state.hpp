// What is behind a Queue: the ring, the epoch signal, and why the queue failed where it did.
//
// Thread safety and memory ordering: those of Queue, see fastdispatch/queue.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/agent_state.hpp"
#include "dispatch/backoff.hpp"
#include "dispatch/batch_submitter.hpp"
#include "dispatch/peer_waits.hpp"
#include "dispatch/ring.hpp"
#include "dispatch/shared_fate.hpp"
#include "dispatch/wait.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/kernarg.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"

namespace fastdispatch::detail {

/// Tells the command processor up to where to read.
class Doorbell {
public:
  Doorbell(const HsaApi& api, hsa_signal_t signal) noexcept;

  // With several producers a smaller index may follow a larger one: HSA asks for growing values only of queues of type
  // HSA_QUEUE_TYPE_SINGLE.
  void ring(std::uint64_t last_index) const noexcept {
    if (hardware_ != nullptr)
      std::atomic_ref(*hardware_).store(last_index, std::memory_order_release);
    else
      api_->signal_store_screlease(signal_, static_cast<hsa_signal_value_t>(last_index));
  }

private:
  const HsaApi* api_;
  hsa_signal_t signal_;
  std::uint64_t* hardware_ = nullptr;
};

struct QueueDeleter {
  const HsaApi* api;
  void operator()(hsa_queue_t* queue) const noexcept { api->queue_destroy(queue); }
};
using QueueHandle = std::unique_ptr<hsa_queue_t, QueueDeleter>;

/// Throws where a queue would never get past the packet.
inline void check_type(const Packet& packet) {
  if (packet.header().type == PacketType::invalid) [[unlikely]]
    throw Error("a packet to submit has the type invalid: the queue would stop at it for ever");
}

class QueueState {
public:
  /// What a producer does between two attempts to get room: waits, or throws what keeps it from getting any.
  class RoomWait {
  public:
    RoomWait(QueueState& queue, std::size_t packets) noexcept : queue_(queue), packets_(packets) {}
    void operator()();

  private:
    QueueState& queue_;
    std::size_t packets_;
    std::optional<Deadline> deadline_;
    Backoff backoff_;
  };

  /// `fate` is null or outlives the queue.
  QueueState(Agent agent, const QueueOptions& options, SharedFate* fate = nullptr);
  ~QueueState() { stop(); }
  QueueState(const QueueState&) = delete;
  QueueState& operator=(const QueueState&) = delete;

  /// Destroys the HSA queue, whatever is in it; after that only the destructor may be called. The epoch signal stays:
  /// other queues may be waiting for it.
  void stop() noexcept;

  Submission submit(std::span<const Packet> packets);
  Submission submit(const Packet& packet, const KernargSlot& slot);
  Submission fence();
  /// Lets what is submitted from now on wait for `epoch` of `other`.
  void follow(QueueState& other, std::uint64_t epoch);
  void follow(const Submission& submission) { follow(*submission.queue_, submission.epoch()); }

  /// Waits for `epoch`; what Submission::wait and done are.
  void wait(std::uint64_t epoch, const WaitOptions& options);
  [[nodiscard]] bool done(std::uint64_t epoch);
  [[nodiscard]] bool completed(std::uint64_t epoch) const noexcept { return completed_epoch() >= epoch; }
  /// What a waiter for `epoch` waits for.
  [[nodiscard]] Below completion_of(std::uint64_t epoch) const noexcept {
    return {.signal = epoch_signal_.handle(), .threshold = 1 - static_cast<hsa_signal_value_t>(epoch)};
  }
  /// Whether a packet in the queue is to complete `epoch`.
  [[nodiscard]] bool covers(std::uint64_t epoch) const noexcept { return ring_.epochs() >= epoch; }
  /// Submits a barrier packet where that is needed for it.
  void cover(std::uint64_t epoch) {
    if (!covers(epoch)) fence();
  }
  /// Waits for everything submitted so far: the next epoch covers what no earlier one does.
  void wait(const WaitOptions& options) { wait(ring_.epochs() + 1, options); }

  [[nodiscard]] Ring& ring() noexcept { return ring_; }
  /// Whether packets end an epoch.
  [[nodiscard]] static EndsEpoch ends_epoch(std::span<const Packet> packets) noexcept {
    const Packet& last = packets.back();
    return last.completion_signal().handle == 0 && last.header().ordering.barrier == BarrierBit::set ? EndsEpoch::yes
                                                                                                     : EndsEpoch::no;
  }
  /// Writes packets into their reservation and rings the doorbell.
  void publish(const Ring::Reservation& reservation, std::span<const Packet> packets, EndsEpoch ends_epoch) noexcept {
    write(reservation.first, packets, ends_epoch);
    doorbell_.ring(reservation.first + packets.size() - 1);
  }
  /// The same, but the first packet, which ends no epoch, without its barrier bit.
  void publish_beside_last(const Ring::Reservation& reservation, std::span<const Packet> packets,
                           EndsEpoch ends_epoch) noexcept;
  [[nodiscard]] Submission submission(std::uint64_t epoch) noexcept { return {*this, epoch}; }

  [[nodiscard]] KernargSlot acquire_kernargs(std::size_t bytes);
  void retire_kernargs(const KernargSlot& slot, std::uint64_t epoch) noexcept;

  /// Records why the queue failed, the first time; waiters and producers then throw it, those of the queues that share
  /// its fate, too. HSA's threads call this.
  void fail(const Error& error) noexcept;
  /// Leaves the others out.
  void fail_alone(const Error& error) noexcept;
  /// As above, for what HSA reported to the queue's callback.
  void fail(hsa_status_t status) noexcept;
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// Why; only where it failed.
  [[nodiscard]] const Error& error() const noexcept { return *error_; }
  void throw_if_failed() const {
    if (failed()) [[unlikely]]
      throw Error(*error_);
  }
  /// The queue fails where a copy of a batch did, in it or in a queue that shares its fate. Nothing else tells: whoever
  /// waits has to look. Whether there are any copies.
  bool look_at_copies() noexcept;

  /// For messages: the indices, and what the queue is at.
  [[nodiscard]] std::string describe() const;
  /// Adds the names of the kernels that were started and are not known to have completed, the latest first.
  void add_running_kernels(std::vector<std::string>& names) const;
  /// Whether a packet that is not known to have completed has `signal` as its completion signal.
  [[nodiscard]] bool was_to_complete(hsa_signal_t signal) const noexcept;

  /// The last epoch that completed.
  [[nodiscard]] std::uint64_t completed_epoch() const noexcept;
  [[nodiscard]] BatchSubmitter& batches() noexcept { return batches_; }

  [[nodiscard]] Agent agent() const noexcept { return agent_; }
  [[nodiscard]] WhenFull when_full() const noexcept { return when_full_; }
  [[nodiscard]] hsa_queue_t* handle() const noexcept { return queue_.get(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return ring_.size(); }

private:
  /// Checks the options against the agent's limits and makes the queue, whose errors come back here.
  [[nodiscard]] QueueHandle create(const QueueOptions& options);

  void write(std::uint64_t first, std::span<const Packet> packets, EndsEpoch ends_epoch) noexcept {
    ring_.publish(first, packets,
                  ends_epoch == EndsEpoch::yes ? epoch_signal_.handle() : packets.back().completion_signal());
  }
  /// Submits a packet whose arguments are in device memory.
  Submission submit_with_device_kernargs(const Packet& narrow);
  [[nodiscard]] Ring::Reservation reserve(std::uint32_t count, EndsEpoch ends_epoch);
  /// Submits a barrier packet where there is room for one.
  void try_fence() noexcept;
  [[nodiscard]] KernargSlot wait_for_kernargs(std::size_t bytes);
  /// The first packet that is not known to have completed.
  [[nodiscard]] std::uint64_t oldest_packet() const noexcept;

  Agent agent_;
  WhenFull when_full_;
  std::chrono::nanoseconds full_timeout_;
  Producers producers_;
  SharedFate* fate_;
  bool stopped_ = false;

  std::atomic<bool> failed_{false};
  std::mutex error_mutex_;
  std::optional<Error> error_;  ///< written once, before failed_ is set

  std::uint64_t id_;  ///< no other queue of the process ever has it
  PeerWaits peer_waits_;
  BatchSubmitter batches_;  ///< before the queue: what batches in flight need outlives it
  Signal epoch_signal_;     ///< its value is minus the number of completed epochs
  QueueHandle queue_;
  Ring ring_;
  Doorbell doorbell_;

  KernargPool kernargs_;  ///< whose turn it is in the ring uses it
};

}  // namespace fastdispatch::detail
