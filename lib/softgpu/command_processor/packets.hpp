// The AQL packets as they lie in a queue's ring.
//
// Facts: HSA Platform System Architecture specification 2.9, hsa.h, hsa_ext_amd.h; the PM4 packet is what ROCr submits
// to invalidate code caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

namespace softgpu::command_processor {

inline constexpr std::size_t packet_bytes = 64;

/// The first 16 bits of every packet.
struct PacketHeader {
  std::uint16_t bits;

  [[nodiscard]] hsa_packet_type_t type() const noexcept { return static_cast<hsa_packet_type_t>(bits & 0xff); }
  [[nodiscard]] bool acquires() const noexcept { return (bits >> HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE & 3) != 0; }
  [[nodiscard]] hsa_fence_scope_t release_scope() const noexcept {
    return static_cast<hsa_fence_scope_t>(bits >> HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE & 3);
  }
  [[nodiscard]] bool barrier() const noexcept { return ((bits >> HSA_PACKET_HEADER_BARRIER) & 1) != 0; }
};

/// AMD's own packets, all of HSA type vendor specific, by the byte after the header.
enum class VendorFormat : std::uint8_t { pm4 = 1, barrier_value = 2 };

/// Jumps to PM4 commands, which only the firmware of gfx9 and newer reads this way.
struct Pm4Packet {
  std::uint16_t header;
  std::uint16_t format;
  std::uint32_t indirect_buffer[4];  ///< PM4 INDIRECT_BUFFER: header, address / 4 low, high, size in dwords
  std::uint32_t dwords_left;
  std::uint32_t reserved[8];
  hsa_signal_t completion_signal;
};

/// A packet's 64 bytes, copied out of the ring.
union Packet {
  std::uint32_t header_and_setup;
  hsa_kernel_dispatch_packet_t dispatch;
  hsa_barrier_and_packet_t barrier;  ///< barrier-OR has the same layout
  hsa_amd_barrier_value_packet_t barrier_value;
  Pm4Packet pm4;
};

static_assert(sizeof(Packet) == packet_bytes);
static_assert(sizeof(Pm4Packet) == packet_bytes);
static_assert(offsetof(hsa_amd_barrier_value_packet_t, signal) == 8);
static_assert(offsetof(hsa_amd_barrier_value_packet_t, cond) == 32);
static_assert(offsetof(Pm4Packet, completion_signal) == 56);
static_assert(offsetof(hsa_barrier_and_packet_t, completion_signal) == 56);
static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) == 56);

/// The commands in a PM4 packet's indirect buffer that need nothing done here, as caches have no part in this model.
/// Faults where the buffer is not in memory.
[[nodiscard]] bool is_cache_maintenance(const Pm4Packet& packet) noexcept;

}  // namespace softgpu::command_processor
