// A command processor for a ring in plain memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dispatch/hsa/amd_signal.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::test {

/// Views a ring from its reader's side.
struct RingView {
  std::span<Packet> slots;  ///< a power of two
  std::uint64_t* doorbell;  ///< the index of the last packet that was rung for; all ones before the first
  std::uint64_t* read_index;
};

/// Reads the packet at the read index: calls `on_packet` with it, marks its slot INVALID, moves the read index, and
/// decrements the packet's completion signal, if it carries one. Returns false if the slot holds no packet.
template <class OnPacket>
bool read_packet(const RingView& ring, OnPacket on_packet) {
  const std::atomic_ref read_index(*ring.read_index);
  const std::uint64_t index = read_index.load(std::memory_order_relaxed);
  Packet& packet = ring.slots[index & (ring.slots.size() - 1)];
  const std::atomic_ref header(packet.words[0]);
  if ((header.load(std::memory_order_acquire) & 0xffU) == HSA_PACKET_TYPE_INVALID) return false;
  on_packet(packet);
  const hsa_signal_t signal = packet.completion_signal();
  header.store(HSA_PACKET_TYPE_INVALID, std::memory_order_relaxed);
  read_index.store(index + 1, std::memory_order_release);
  if (signal.handle != 0)
    std::atomic_ref(const_cast<std::int64_t&>(detail::amd_signal(signal).value))
        .fetch_sub(1, std::memory_order_acq_rel);
  return true;
}

}  // namespace fastdispatch::test
