// The ring of a queue: reserving slots, writing packets, counting epochs. It needs plain memory only, no device.
//
// Purpose: the submit path. Base, mask and both indices are cached here, so that submitting makes no call into HSA.
//
// Thread safety: with Producers::multiple any thread may call try_reserve and publish; with Producers::single one
// thread does. The counters may be read from any thread.
//
// Memory ordering: the consumer frees slots by storing the read index with release, try_reserve loads it with acquire,
// so a slot's old packet was read before its new one is written. publish stores each header with release after the
// packet's body, and the consumer loads headers with acquire, so a packet is seen whole or not at all.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <hsa/amd_hsa_queue.h>

#include "dispatch/backoff.hpp"
#include "fastdispatch/packets.hpp"
#include "fastdispatch/queue.hpp"

namespace fastdispatch::detail {

// AMD's ABI, known to hardware: the two indices lie at fixed places behind the public hsa_queue_t.
static_assert(offsetof(amd_queue_t, hsa_queue) == 0);
static_assert(offsetof(amd_queue_t, write_dispatch_id) == 0x38);
static_assert(offsetof(amd_queue_t, read_dispatch_id) == 0x80);

/// Where a ring lies in memory.
struct RingMemory {
  Packet* base = nullptr;  ///< `size` slots whose headers are INVALID
  std::uint32_t size = 0;  ///< a power of two
  std::uint64_t* write_index = nullptr;
  std::uint64_t* read_index = nullptr;
};

/// Whether a submission ends an epoch, that is whether its last packet decrements the queue's epoch signal.
enum class EndsEpoch { no, yes };

class Ring {
public:
  struct Reservation {
    std::uint64_t first;  ///< packet index of the first slot
    std::uint64_t epoch;  ///< the epoch that covers the packets: their own, or the next one of the queue
  };

  Ring(const RingMemory& memory, Producers producers)
      : memory_(memory), multiple_(producers == Producers::multiple), next_(load(*memory.write_index)), turn_(next_),
        free_until_(load(*memory.read_index) + memory.size), epoch_ends_(std::size_t{memory.size} * 2) {}

  [[nodiscard]] std::uint32_t size() const noexcept { return memory_.size; }
  [[nodiscard]] std::uint64_t write_index() const noexcept { return load(*memory_.write_index); }
  [[nodiscard]] std::uint64_t read_index() const noexcept { return load(*memory_.read_index); }
  /// What a slot holds now, for error messages: consumer and producers may be changing it meanwhile.
  [[nodiscard]] Packet peek(std::uint64_t index) const noexcept {
    const Packet& from = memory_.base[index & (memory_.size - 1)];
    Packet packet;
    for (std::size_t i = 0; i < packet.words.size(); ++i)
      packet.words[i] = __atomic_load_n(&from.words[i], __ATOMIC_ACQUIRE);
    return packet;
  }

  /// Reserves `count` slots (at most size()), all or none; none where the ring has no room for all of them. Who has a
  /// reservation must publish: the consumer stops at a slot until it is.
  [[nodiscard]] std::optional<Reservation> try_reserve(std::uint32_t count, EndsEpoch ends_epoch) noexcept {
    return multiple_ ? try_reserve_shared(count, ends_epoch) : try_reserve_alone(count, ends_epoch);
  }

  /// Writes `packets` to the slots from `first` on, the last one with `completion_signal`.
  void publish(std::uint64_t first, std::span<const Packet> packets, hsa_signal_t completion_signal) noexcept {
    const std::size_t last = packets.size() - 1;
    for (std::size_t i = 0; i < last; ++i) publish(slot(first + i), packets[i], packets[i].completion_signal());
    publish(slot(first + last), packets[last], completion_signal);
  }

  /// The epochs that were given out; the last of them may not be published yet.
  [[nodiscard]] std::uint64_t epochs() const noexcept { return epochs_.load(std::memory_order_acquire); }

  /// The packet index behind the last packet of `epoch`; for the latest epochs only, as many as the ring has slots.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t epoch) const noexcept {
    return epoch == 0 ? 0 : epoch_end(epoch).load(std::memory_order_acquire);
  }

private:
  static std::uint64_t load(std::uint64_t& index) noexcept {
    return std::atomic_ref(index).load(std::memory_order_acquire);
  }

  [[nodiscard]] Packet& slot(std::uint64_t index) noexcept { return memory_.base[index & (memory_.size - 1)]; }

  // Proves room for the slots up to `end`. The read index is looked at only when what is known of it does not do: its
  // cache line belongs to the consumer.
  [[nodiscard]] bool has_room(std::uint64_t end) noexcept {
    if (end <= free_until_.load(std::memory_order_acquire)) return true;
    const std::uint64_t free_until = read_index() + memory_.size;
    // Racing threads may store an older value over a newer one, which errs on the safe side.
    free_until_.store(free_until, std::memory_order_release);
    return end <= free_until;
  }

  [[nodiscard]] std::optional<Reservation> try_reserve_alone(std::uint32_t count, EndsEpoch ends_epoch) noexcept {
    const std::uint64_t first = next_;
    if (!has_room(first + count)) return std::nullopt;
    next_ = first + count;
    std::atomic_ref(*memory_.write_index).store(next_, std::memory_order_release);
    return Reservation{first, count_epoch(next_, ends_epoch)};
  }

  // Room is proved before the write index moves, so that it never overshoots what the ring can hold.
  [[nodiscard]] std::optional<Reservation> try_reserve_shared(std::uint32_t count, EndsEpoch ends_epoch) noexcept {
    std::atomic_ref write_index(*memory_.write_index);
    std::uint64_t first = write_index.load(std::memory_order_relaxed);
    do {
      if (!has_room(first + count)) return std::nullopt;
    } while (
        !write_index.compare_exchange_weak(first, first + count, std::memory_order_acq_rel, std::memory_order_relaxed));
    // Epochs are numbered in the order of the slots. The reservation itself is the ticket: whoever reserved the slots
    // before these counts first, within a few instructions.
    for (Backoff backoff(Backoff::Sleep::never); turn_.load(std::memory_order_acquire) != first;) backoff();
    const std::uint64_t epoch = count_epoch(first + count, ends_epoch);
    turn_.store(first + count, std::memory_order_release);
    return Reservation{first, epoch};
  }

  std::uint64_t count_epoch(std::uint64_t end, EndsEpoch ends_epoch) noexcept {
    const std::uint64_t epoch = epochs_.load(std::memory_order_relaxed) + 1;
    if (ends_epoch == EndsEpoch::yes) {
      epoch_end(epoch).store(end, std::memory_order_relaxed);
      epochs_.store(epoch, std::memory_order_release);
    }
    return epoch;
  }

  static void publish(Packet& slot, const Packet& packet, hsa_signal_t completion_signal) noexcept {
    constexpr std::size_t header = sizeof(packet.words[0]);
    constexpr std::size_t signal = 14 * sizeof(packet.words[0]);
    std::memcpy(&slot.words[1], &packet.words[1], signal - header);
    std::memcpy(&slot.words[14], &completion_signal, sizeof(completion_signal));
    std::atomic_ref(slot.words[0]).store(packet.words[0], std::memory_order_release);
  }

  // More entries than there can be epochs that did not complete: each has a packet in the ring, but for the one that
  // was read and still runs.
  [[nodiscard]] std::atomic<std::uint64_t>& epoch_end(std::uint64_t epoch) noexcept {
    return epoch_ends_[epoch & (epoch_ends_.size() - 1)];
  }
  [[nodiscard]] const std::atomic<std::uint64_t>& epoch_end(std::uint64_t epoch) const noexcept {
    return epoch_ends_[epoch & (epoch_ends_.size() - 1)];
  }

  const RingMemory memory_;
  const bool multiple_;
  std::uint64_t next_;                     ///< single producer: its copy of the write index
  std::atomic<std::uint64_t> turn_;        ///< multiple producers: up to where epochs are counted
  std::atomic<std::uint64_t> free_until_;  ///< slots up to this index were free when last looked at
  std::atomic<std::uint64_t> epochs_{0};
  std::vector<std::atomic<std::uint64_t>> epoch_ends_;
};

}  // namespace fastdispatch::detail
