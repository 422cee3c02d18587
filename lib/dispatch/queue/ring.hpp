// The ring of a queue: reserving slots, writing packets, counting epochs. It needs plain memory only, no device.
//
// Purpose: the submit path. Base, mask and both indices are cached here, so that submitting makes no call into HSA.
//
// Thread safety:
// - Producers::multiple: any thread may call try_reserve and publish
// - Producers::single: one thread calls them
// - the counters may be read from any thread
//
// A producer reserves in its turn, a few instructions for which other producers wait: one atomic exchange begins the
// turn, a store ends it. A batch's image is taken in the same turn. The memory for a dispatch's arguments is taken in a
// turn of its own.
//
// Memory ordering: a turn acquires what the turn before released. The consumer frees slots by storing the read index
// with release, try_reserve loads it with acquire, so a slot's old packet was read before its new one is written.
// publish stores each header with release after the packet's body, and the consumer loads headers with acquire, so a
// packet is seen whole or not at all. In a device's memory, whose writes are combined, fences keep that order.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>

#include "dispatch/device/backoff.hpp"
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
  /// Called between stores that may overtake one another, if the ring is in memory whose writes are combined: a
  /// device's. Null for the host's memory.
  void (*store_fence)() noexcept = nullptr;
};

/// Whether a submission ends an epoch, that is whether its last packet decrements the queue's epoch signal.
enum class EndsEpoch { no, yes };

/// Which part of a submission a reservation is for. Between the first and the last part nobody else gets any slot.
enum class Part { whole, first, middle, last };

class Ring {
public:
  struct Reservation {
    std::uint64_t first;  ///< packet index of the first slot
    std::uint64_t epoch;  ///< the epoch that covers the packets: their own, or the queue's next epoch
  };

  /// The holder is the only producer that reserves. With a single producer there is nothing to take.
  class Turn {
  public:
    explicit Turn(Ring& ring) noexcept : taken_(ring.multiple_ ? &ring.taken_ : nullptr) {
      if (taken_ == nullptr) return;
      for (Backoff backoff(Backoff::Sleep::never); taken_->exchange(true, std::memory_order_acquire);)
        while (taken_->load(std::memory_order_relaxed)) backoff();
    }
    ~Turn() {
      if (taken_ != nullptr) taken_->store(false, std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::atomic<bool>* taken_;
  };

  Ring(const RingMemory& memory, Producers producers)
      : memory_(memory), multiple_(producers == Producers::multiple), next_(load(*memory.write_index)),
        free_until_(load(*memory.read_index) + memory.size), epoch_ends_(std::size_t{memory.size} * 2) {}

  [[nodiscard]] std::uint32_t size() const noexcept { return memory_.size; }
  /// The most packets to reserve at once. Command processors may move the read index late, and in steps, so that a ring
  /// whose packets have all completed still looks partly full: a producer that wants all slots could wait for ever.
  [[nodiscard]] std::uint32_t most_at_once() const noexcept { return std::max(memory_.size / 2, 1U); }
  [[nodiscard]] std::uint64_t write_index() const noexcept { return load(*memory_.write_index); }
  [[nodiscard]] std::uint64_t read_index() const noexcept { return load(*memory_.read_index); }
  /// The packet that a slot holds now, for error messages: consumer and producers may be changing it meanwhile. It may
  /// be made of the words of two packets. Producers store it plainly, for speed, so the thread sanitizer must not look.
  [[nodiscard]] __attribute__((no_sanitize("thread"))) Packet peek(std::uint64_t index) const noexcept {
    const Packet& from = memory_.base[index & (memory_.size - 1)];
    Packet packet;
    for (std::size_t i = 0; i < packet.words.size(); ++i)
      packet.words[i] = __atomic_load_n(&from.words[i], __ATOMIC_ACQUIRE);
    return packet;
  }

  /// Reserves `count` slots (at most most_at_once()). Returns nothing if the ring has no room for all of them, or if
  /// another submission is between its parts. The holder of a reservation must publish: the consumer stops at an
  /// unpublished slot.
  [[nodiscard]] std::optional<Reservation> try_reserve(const Turn& /*proof*/, std::uint32_t count, EndsEpoch ends_epoch,
                                                       Part part = Part::whole) noexcept {
    if (between_parts_ && (part == Part::whole || part == Part::first)) return std::nullopt;
    const std::uint64_t first = next_;
    if (!has_room(first + count)) return std::nullopt;
    between_parts_ = part == Part::first || part == Part::middle;
    next_ = first + count;
    std::atomic_ref(*memory_.write_index).store(next_, std::memory_order_release);
    return Reservation{first, count_epoch(next_, ends_epoch)};
  }
  [[nodiscard]] std::optional<Reservation> try_reserve(std::uint32_t count, EndsEpoch ends_epoch) noexcept {
    return try_reserve(Turn(*this), count, ends_epoch);
  }

  /// Writes `packets` to the slots from `first` on, the last one with `completion_signal`.
  ///
  /// Writes each packet whole, its body before its first word, while its line is in the cache. Two passes, or
  /// non-temporal stores past the caches, take longer (docs/dispatch.md).
  void publish(std::uint64_t first, std::span<const Packet> packets, hsa_signal_t completion_signal) noexcept {
    if (memory_.store_fence != nullptr) [[unlikely]]
      return publish_fenced(first, packets, completion_signal);
    const std::size_t last = packets.size() - 1;
    const Packet* packet = packets.data();
    for (std::size_t left = last; left != 0;) {
      Packet* to = &slot(first);
      const std::size_t count = std::min<std::size_t>(left, memory_.base + memory_.size - to);  // up to the ring's end
      for (const Packet* end = packet + count; packet != end; ++packet, ++to) publish(*to, *packet);
      first += count;
      left -= count;
    }
    Packet& to = slot(first);
    write_words<1, signal_word>(to, *packet);
    to.set_completion_signal(completion_signal);
    write_header(to, *packet);
  }

  /// The same for one packet that the caller has just made.
  void publish_new(std::uint64_t index, const Packet& packet, hsa_signal_t completion_signal) noexcept {
    if (memory_.store_fence != nullptr) [[unlikely]] {
      const Packet copy = packet;  // the packet itself has no address
      return publish_fenced(index, {&copy, 1}, completion_signal);
    }
    Packet& to = slot(index);
    copy_new<1, signal_word>(to, packet);
    to.set_completion_signal(completion_signal);
    write_header(to, packet);
  }

  /// How many epochs were given out; the last epoch may not be published yet.
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

  // Whether there is room for the slots up to `end`. The read index's cache line belongs to the consumer, so it is
  // loaded only if the last known value does not suffice.
  [[nodiscard]] bool has_room(std::uint64_t end) noexcept {
    if (end <= free_until_) return true;
    free_until_ = read_index() + memory_.size;
    return end <= free_until_;
  }

  std::uint64_t count_epoch(std::uint64_t end, EndsEpoch ends_epoch) noexcept {
    const std::uint64_t epoch = epochs_.load(std::memory_order_relaxed) + 1;
    if (ends_epoch == EndsEpoch::yes) {
      epoch_end(epoch).store(end, std::memory_order_relaxed);
      epochs_.store(epoch, std::memory_order_release);
    }
    return epoch;
  }

  static constexpr std::size_t signal_word = offsetof(hsa_kernel_dispatch_packet_t, completion_signal) / 4;

  template <std::size_t begin, std::size_t end>
  static void write_words(Packet& slot, const Packet& packet) noexcept {
    std::memcpy(&slot.words[begin], &packet.words[begin], (end - begin) * sizeof(packet.words[0]));
  }
  static void write_body(Packet& slot, const Packet& packet) noexcept {
    write_words<1, sizeof(Packet) / sizeof(std::uint32_t)>(slot, packet);
  }
  static void write_header(Packet& slot, const Packet& packet) noexcept {
    std::atomic_ref(slot.words[0]).store(packet.words[0], std::memory_order_release);
  }
  static void publish(Packet& slot, const Packet& packet) noexcept {
    write_body(slot, packet);
    write_header(slot, packet);
  }

  // All bodies arrive before any header, and all headers before the caller rings the doorbell.
  void publish_fenced(std::uint64_t first, std::span<const Packet> packets, hsa_signal_t completion_signal) noexcept {
    for (std::size_t i = 0; i < packets.size(); ++i) write_body(slot(first + i), packets[i]);
    slot(first + packets.size() - 1).set_completion_signal(completion_signal);
    memory_.store_fence();
    for (std::size_t i = 0; i < packets.size(); ++i) write_header(slot(first + i), packets[i]);
    memory_.store_fence();
  }

  // There are more entries than incomplete epochs: each incomplete epoch has a packet in the ring, except for the
  // packet that was read and still runs.
  [[nodiscard]] std::atomic<std::uint64_t>& epoch_end(std::uint64_t epoch) noexcept {
    return epoch_ends_[epoch & (epoch_ends_.size() - 1)];
  }
  [[nodiscard]] const std::atomic<std::uint64_t>& epoch_end(std::uint64_t epoch) const noexcept {
    return epoch_ends_[epoch & (epoch_ends_.size() - 1)];
  }

  const RingMemory memory_;
  const bool multiple_;
  std::atomic<bool> taken_{false};  ///< somebody's turn
  bool between_parts_ = false;
  std::uint64_t next_;        ///< the write index; only this Ring changes it
  std::uint64_t free_until_;  ///< slots up to this index were free when last looked at
  std::atomic<std::uint64_t> epochs_{0};
  std::vector<std::atomic<std::uint64_t>> epoch_ends_;
};

}  // namespace fastdispatch::detail
