// AQL packets: 64 bytes that tell a queue's command processor what to do.
//
// Encoders are constexpr and write whole packets; fields that are not named are zero, as the specification requires of
// reserved fields. Layouts: HSA Platform System Architecture Specification 1.2, section 2.9; AMD's barrier-value
// packet: hsa/hsa_ext_amd.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "fastdispatch/grid.hpp"

namespace fastdispatch {

/// How far a packet's memory fence reaches.
enum class FenceScope : std::uint8_t {
  none = HSA_FENCE_SCOPE_NONE,
  agent = HSA_FENCE_SCOPE_AGENT,    ///< this GPU's caches
  system = HSA_FENCE_SCOPE_SYSTEM,  ///< also the host and other agents
};

/// Whether a packet waits for all earlier packets of its queue to complete. It orders execution, not caches.
enum class BarrierBit : std::uint8_t { clear = 0, set = 1 };

enum class PacketType : std::uint8_t {
  vendor_specific = HSA_PACKET_TYPE_VENDOR_SPECIFIC,
  invalid = HSA_PACKET_TYPE_INVALID,  ///< the type of a free slot; note that it is 1, not 0
  kernel_dispatch = HSA_PACKET_TYPE_KERNEL_DISPATCH,
  barrier_and = HSA_PACKET_TYPE_BARRIER_AND,
  barrier_or = HSA_PACKET_TYPE_BARRIER_OR,
};

/// The ordering that a packet asks for. The defaults are the safest.
struct Ordering {
  BarrierBit barrier = BarrierBit::set;
  FenceScope acquire = FenceScope::system;
  FenceScope release = FenceScope::system;

  friend constexpr bool operator==(const Ordering&, const Ordering&) = default;
};

/// The 16-bit header of every packet.
struct PacketHeader {
  PacketType type = PacketType::invalid;
  Ordering ordering{};

  [[nodiscard]] constexpr std::uint16_t encode() const noexcept {
    return static_cast<std::uint16_t>(
        static_cast<unsigned>(type) << HSA_PACKET_HEADER_TYPE |
        static_cast<unsigned>(ordering.barrier) << HSA_PACKET_HEADER_BARRIER |
        static_cast<unsigned>(ordering.acquire) << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
        static_cast<unsigned>(ordering.release) << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  }

  [[nodiscard]] static constexpr PacketHeader decode(std::uint16_t header) noexcept {
    const auto bits = [header](unsigned shift, unsigned width) { return header >> shift & ((1U << width) - 1U); };
    return {static_cast<PacketType>(bits(HSA_PACKET_HEADER_TYPE, HSA_PACKET_HEADER_WIDTH_TYPE)),
            {static_cast<BarrierBit>(bits(HSA_PACKET_HEADER_BARRIER, HSA_PACKET_HEADER_WIDTH_BARRIER)),
             static_cast<FenceScope>(
                 bits(HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE, HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE)),
             static_cast<FenceScope>(
                 bits(HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE, HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE))}};
  }

  friend constexpr bool operator==(const PacketHeader&, const PacketHeader&) = default;
};

/// A packet of any type, as it lies in the ring. Its first word, header and setup, publishes it.
struct alignas(64) Packet {
  std::array<std::uint32_t, 16> words{};

  [[nodiscard]] constexpr PacketHeader header() const noexcept {
    return PacketHeader::decode(static_cast<std::uint16_t>(words[0]));
  }
  /// Changes barrier bit and scopes, and leaves the rest.
  constexpr void set_ordering(Ordering ordering) noexcept {
    words[0] = (words[0] & 0xffff0000U) | PacketHeader{header().type, ordering}.encode();
  }
  /// The signal that is decremented at completion; every packet type has it in the same place.
  [[nodiscard]] constexpr hsa_signal_t completion_signal() const noexcept { return {word64(14)}; }
  constexpr void set_completion_signal(hsa_signal_t signal) noexcept { set_word64(14, signal.handle); }

  /// The kernel object of a kernel dispatch.
  [[nodiscard]] constexpr std::uint64_t kernel_object() const noexcept { return word64(8); }
  /// Makes a barrier-AND or barrier-OR packet wait for `signal` as the one with this number, 0 to 4.
  constexpr void set_barrier_signal(std::size_t number, hsa_signal_t signal) noexcept {
    set_word64(2 + 2 * number, signal.handle);
  }

  /// Two words as one, starting at word `index`.
  [[nodiscard]] constexpr std::uint64_t word64(std::size_t index) const noexcept {
    return words[index] | std::uint64_t{words[index + 1]} << 32U;
  }
  constexpr void set_word64(std::size_t index, std::uint64_t value) noexcept {
    words[index] = static_cast<std::uint32_t>(value);
    words[index + 1] = static_cast<std::uint32_t>(value >> 32U);
  }

  friend constexpr bool operator==(const Packet&, const Packet&) = default;
};

/// Runs a kernel.
struct KernelDispatch {
  Ordering ordering{};
  Grid grid{};                              ///< its dynamic LDS is not added to group_segment_bytes here
  std::uint32_t private_segment_bytes = 0;  ///< scratch of one work-item
  std::uint32_t group_segment_bytes = 0;    ///< LDS of one work-group, static and dynamic
  std::uint64_t kernel_object = 0;
  std::uint64_t kernarg_address = 0;
  hsa_signal_t completion_signal{};
};

/// Waits for all of its signals to become 0 (null ones count as satisfied).
struct BarrierAnd {
  Ordering ordering{};
  std::array<hsa_signal_t, 5> signals{};
  hsa_signal_t completion_signal{};
};

/// Waits for any of its signals to become 0.
struct BarrierOr {
  Ordering ordering{};
  std::array<hsa_signal_t, 5> signals{};
  hsa_signal_t completion_signal{};
};

/// AMD's barrier: waits until `signal & mask` compares with `value` as `condition` says. Only GPUs with
/// AgentProperties::barrier_value_packets know it.
struct BarrierValue {
  Ordering ordering{};
  hsa_signal_t signal{};
  hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
  hsa_signal_value_t value = 0;
  hsa_signal_value_t mask = -1;
  hsa_signal_t completion_signal{};
};

[[nodiscard]] constexpr Packet encode(const KernelDispatch& dispatch) noexcept {
  const auto& [size, group, lds] = dispatch.grid;
  Packet packet;
  packet.words = {PacketHeader{PacketType::kernel_dispatch, dispatch.ordering}.encode() |
                      std::uint32_t{dispatch.grid.dimensions()} << 16U,
                  (group[0] & 0xffffU) | group[1] << 16U,
                  group[2] & 0xffffU,
                  size[0],
                  size[1],
                  size[2],
                  dispatch.private_segment_bytes,
                  dispatch.group_segment_bytes};
  packet.set_word64(8, dispatch.kernel_object);
  packet.set_word64(10, dispatch.kernarg_address);
  packet.set_completion_signal(dispatch.completion_signal);
  return packet;
}

namespace detail {
template <std::size_t begin, std::size_t... i>
constexpr void copy_words(Packet& to, const Packet& from, std::index_sequence<i...> /*numbers*/) noexcept {
  ((to.words[begin + i] = from.words[begin + i]), ...);
}
/// Copies words of a packet that was just made, so that they go from registers to their place. Copied as a whole, they
/// would be stored one by one and loaded in wider pieces, which wait until the words have reached the cache.
template <std::size_t begin = 0, std::size_t end = 16>
constexpr void copy_new(Packet& to, const Packet& from) noexcept {
  copy_words<begin>(to, from, std::make_index_sequence<end - begin>());
}

[[nodiscard]] constexpr Packet encode_barrier(PacketType type, Ordering ordering,
                                              const std::array<hsa_signal_t, 5>& signals,
                                              hsa_signal_t completion_signal) noexcept {
  Packet packet;
  packet.words[0] = PacketHeader{type, ordering}.encode();
  for (std::size_t i = 0; i < signals.size(); ++i) packet.set_barrier_signal(i, signals[i]);
  packet.set_completion_signal(completion_signal);
  return packet;
}
}  // namespace detail

[[nodiscard]] constexpr Packet encode(const BarrierAnd& barrier) noexcept {
  return detail::encode_barrier(PacketType::barrier_and, barrier.ordering, barrier.signals, barrier.completion_signal);
}

[[nodiscard]] constexpr Packet encode(const BarrierOr& barrier) noexcept {
  return detail::encode_barrier(PacketType::barrier_or, barrier.ordering, barrier.signals, barrier.completion_signal);
}

[[nodiscard]] constexpr Packet encode(const BarrierValue& barrier) noexcept {
  Packet packet;
  packet.words[0] = PacketHeader{PacketType::vendor_specific, barrier.ordering}.encode() |
                    std::uint32_t{HSA_AMD_PACKET_TYPE_BARRIER_VALUE} << 16U;
  packet.set_word64(2, barrier.signal.handle);
  packet.set_word64(4, static_cast<std::uint64_t>(barrier.value));
  packet.set_word64(6, static_cast<std::uint64_t>(barrier.mask));
  packet.words[8] = barrier.condition;
  packet.set_completion_signal(barrier.completion_signal);
  return packet;
}

}  // namespace fastdispatch
