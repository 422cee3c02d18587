// What GPUs do differently, by ISA. Every such choice stands here, with its source.
#pragma once

#include <cstdint>
#include <string_view>

namespace fastdispatch::detail {

/// Whether the GPU's firmware knows AMD's barrier-value packets. AMD's own runtimes send them to these GPUs only:
/// gfx90a, and gfx9.4 and gfx9.5 up to stepping 2 (CLR, rocsettings.cpp, barrier_value_packet_; IREE,
/// select_wait_barrier_strategy). Elsewhere the packet is an error of the queue, or a queue that stands still.
/// `isa` is a name of HSA's: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".
[[nodiscard]] bool has_barrier_value_packets(std::string_view isa) noexcept;

/// What keeps kernel arguments out of the GPU's memory.
enum class KernargObstacle : std::uint8_t {
  none,
  /// The host's writes over PCI Express may not be in place once the host has read one of them back. CLR relies on it
  /// on gfx90a, and on gfx9.4 and gfx9.5 up to stepping 2 (DeviceKernelArgsReadback). Other GPUs need a register that
  /// flushes the host data path.
  writes_need_a_flush,
  /// The L2 of gfx90a drops lines that the host writes over XGMI; over PCI Express only if the machine is configured so
  /// (LLVM's AMDGPU usage guide, memory model gfx90a). CLR puts no arguments there by default, IREE none at all.
  l2_may_be_stale,
};
[[nodiscard]] KernargObstacle kernarg_obstacle(std::string_view isa, bool xgmi_to_host) noexcept;

}  // namespace fastdispatch::detail
