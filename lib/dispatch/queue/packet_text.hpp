// A packet in words, decoded from its 64 bytes in the ring.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

/// A packet's place.
struct PacketPlace {
  std::uint64_t queue;  ///< hsa_queue_t::id
  std::uint64_t index;  ///< the packet's, which grows; its slot is the index modulo the ring's size
};

/// Everything that the packet says, in one line: "queue 1, packet 7: kernel dispatch, barrier, acquire agent, ...".
/// `kernel` is the name of a dispatch's kernel; if it is empty, the line has the address of the kernel object.
[[nodiscard]] std::string packet_line(const PacketPlace& place, const Packet& packet, std::string_view kernel);

/// The parts of such a line, for others who show packets.
[[nodiscard]] std::string type_text(const Packet& packet);
[[nodiscard]] std::string_view scope_text(FenceScope scope) noexcept;
/// "16384 x 2": as many extents as the dispatch has dimensions.
[[nodiscard]] std::string grid_text(const Packet& dispatch);
[[nodiscard]] std::string group_text(const Packet& dispatch);
/// What a barrier packet waits for: "all of 0x7f00, 0x7f40", or "no signal". Empty for other packets.
[[nodiscard]] std::string dependencies_text(const Packet& packet);
[[nodiscard]] std::string kernel_text(const Packet& dispatch, std::string_view name);
[[nodiscard]] std::uint32_t private_bytes(const Packet& dispatch) noexcept;
[[nodiscard]] std::uint32_t lds_bytes(const Packet& dispatch) noexcept;
[[nodiscard]] std::uint64_t kernarg_address(const Packet& dispatch) noexcept;

}  // namespace fastdispatch::detail
