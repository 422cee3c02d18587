#include "softgpu/command_processor/coming_kernels.hpp"

#include <algorithm>

#include "softgpu/command_processor/packets.hpp"

namespace softgpu::command_processor {
namespace {

constexpr std::uint64_t most_packets = 256;

}  // namespace

void ComingKernels::note(const std::byte* ring, std::uint64_t slot_mask, std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  packets_.clear();
  for (std::uint64_t index = begin; index < std::min(end, begin + most_packets); ++index) {
    const std::byte* slot = ring + (index & slot_mask) * packet_bytes;
    const std::uint32_t first = __atomic_load_n(reinterpret_cast<const std::uint32_t*>(slot), __ATOMIC_ACQUIRE);
    const PacketHeader header{static_cast<std::uint16_t>(first)};
    if (header.type() == HSA_PACKET_TYPE_INVALID) break;
    if (header.type() != HSA_PACKET_TYPE_KERNEL_DISPATCH) continue;
    const auto& packet = *reinterpret_cast<const hsa_kernel_dispatch_packet_t*>(slot);
    const bool is_noted =
        std::ranges::any_of(packets_, [&](const auto& noted) { return noted.kernel_object == packet.kernel_object; });
    if (!is_noted) packets_.push_back(packet);
  }
  std::ranges::reverse(packets_);
}

std::optional<hsa_kernel_dispatch_packet_t> ComingKernels::take() {
  const std::lock_guard lock(mutex_);
  if (packets_.empty()) return std::nullopt;
  const hsa_kernel_dispatch_packet_t packet = packets_.back();
  packets_.pop_back();
  return packet;
}

}  // namespace softgpu::command_processor
