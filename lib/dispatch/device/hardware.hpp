// What GPUs do differently, by ISA. Every such choice stands here, with its source.
#pragma once

#include <string_view>

namespace fastdispatch::detail {

/// Whether the GPU's firmware knows AMD's barrier-value packets. AMD's own runtimes send them to these GPUs only:
/// gfx90a, and gfx9.4 and gfx9.5 up to stepping 2 (CLR, rocsettings.cpp, barrier_value_packet_; IREE,
/// select_wait_barrier_strategy). Elsewhere the packet is an error of the queue, or a queue that stands still.
/// `isa` is a name of HSA's: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".
[[nodiscard]] bool has_barrier_value_packets(std::string_view isa) noexcept;

/// Whether the host's writes to the GPU's memory over PCI Express are in place once the host has read one of them back.
/// CLR relies on it on gfx90a, and on gfx9.4 and gfx9.5 up to stepping 2 (DeviceKernelArgsReadback). Other GPUs need a
/// register that flushes the host data path.
[[nodiscard]] bool reads_push_writes(std::string_view isa) noexcept;

}  // namespace fastdispatch::detail
