#include "dispatch/queue/packet_text.hpp"

#include <cstddef>

#include <spdlog/fmt/fmt.h>

namespace fastdispatch::detail {

namespace {

constexpr std::size_t most_dependencies = 5;

bool is_barrier_value(const Packet& packet) noexcept {
  return packet.header().type == PacketType::vendor_specific &&
         (packet.words[0] >> 16U & 0xffU) == HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
}

// Layout: hsa_kernel_dispatch_packet_t, and packets.hpp, which encodes it.
std::string extents(const Packet& dispatch, const std::array<std::uint32_t, 3>& all) {
  const std::uint32_t dimensions = dispatch.words[0] >> 16U & 3U;
  std::string text = fmt::format("{}", all[0]);
  for (std::uint32_t i = 1; i < dimensions; ++i) text += fmt::format(" x {}", all[i]);
  return text;
}

std::string signals_text(const Packet& packet, std::string_view how) {
  std::string signals;
  for (std::size_t i = 0; i != most_dependencies; ++i)
    if (const std::uint64_t signal = packet.word64(2 + 2 * i); signal != 0)
      signals += fmt::format("{}{:#x}", signals.empty() ? "" : ", ", signal);
  return signals.empty() ? "no signal" : fmt::format("{} of {}", how, signals);
}

// Layout: hsa_amd_barrier_value_packet_t.
std::string condition_text(const Packet& packet) {
  const auto condition = [&]() -> std::string_view {
    switch (packet.words[8]) {
    case HSA_SIGNAL_CONDITION_EQ:
      return "==";
    case HSA_SIGNAL_CONDITION_NE:
      return "!=";
    case HSA_SIGNAL_CONDITION_LT:
      return "<";
    case HSA_SIGNAL_CONDITION_GTE:
      return ">=";
    default:
      return "(unknown condition)";
    }
  }();
  const auto mask = packet.word64(6);
  return fmt::format("{:#x}{} {} {}", packet.word64(2), ~mask == 0 ? "" : fmt::format(" & {:#x}", mask), condition,
                     static_cast<std::int64_t>(packet.word64(4)));
}

}  // namespace

std::string type_text(const Packet& packet) {
  switch (packet.header().type) {
  case PacketType::invalid:
    return "invalid";
  case PacketType::kernel_dispatch:
    return "kernel dispatch";
  case PacketType::barrier_and:
    return "barrier-AND";
  case PacketType::barrier_or:
    return "barrier-OR";
  case PacketType::vendor_specific:
    if (is_barrier_value(packet)) return "barrier-value";
    return fmt::format("vendor-specific, format {}", packet.words[0] >> 16U & 0xffU);
  }
  return fmt::format("unknown type {}", static_cast<unsigned>(packet.header().type));
}

std::string_view scope_text(FenceScope scope) noexcept {
  switch (scope) {
  case FenceScope::none:
    return "none";
  case FenceScope::agent:
    return "agent";
  case FenceScope::system:
    return "system";
  }
  return "reserved";
}

std::string grid_text(const Packet& dispatch) {
  return extents(dispatch, {dispatch.words[3], dispatch.words[4], dispatch.words[5]});
}

std::string group_text(const Packet& dispatch) {
  return extents(dispatch, {dispatch.words[1] & 0xffffU, dispatch.words[1] >> 16U, dispatch.words[2] & 0xffffU});
}

std::string dependencies_text(const Packet& packet) {
  if (packet.header().type == PacketType::barrier_and) return signals_text(packet, "all");
  if (packet.header().type == PacketType::barrier_or) return signals_text(packet, "any");
  return is_barrier_value(packet) ? condition_text(packet) : std::string();
}

std::string kernel_text(const Packet& dispatch, std::string_view name) {
  return name.empty() ? fmt::format("kernel object {:#x}", dispatch.kernel_object()) : std::string(name);
}

std::uint32_t private_bytes(const Packet& dispatch) noexcept { return dispatch.words[6]; }
std::uint32_t lds_bytes(const Packet& dispatch) noexcept { return dispatch.words[7]; }
std::uint64_t kernarg_address(const Packet& dispatch) noexcept { return dispatch.word64(10); }

std::string packet_line(const PacketPlace& place, const Packet& packet, std::string_view kernel) {
  const auto& [barrier, acquire, release] = packet.header().ordering;
  std::string line =
      fmt::format("queue {}, packet {}: {}, {}, acquire {}, release {}", place.queue, place.index, type_text(packet),
                  barrier == BarrierBit::set ? "barrier" : "no barrier", scope_text(acquire), scope_text(release));
  if (packet.header().type == PacketType::kernel_dispatch)
    line += fmt::format(", {}, grid {}, group {}, LDS {}, private {}, kernarg {:#x}", kernel_text(packet, kernel),
                        grid_text(packet), group_text(packet), lds_bytes(packet), private_bytes(packet),
                        kernarg_address(packet));
  if (const std::string dependencies = dependencies_text(packet); !dependencies.empty())
    line += fmt::format(", waits for {}", dependencies);
  const std::uint64_t signal = packet.completion_signal().handle;
  return line + (signal == 0 ? ", no completion signal" : fmt::format(", completes {:#x}", signal));
}

}  // namespace fastdispatch::detail
