// Launches of wavefronts written in C++ instead of translated wavefronts. The runner cannot tell the difference.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/kernel.hpp"

namespace softgpu::compute {

inline hsa_kernel_dispatch_packet_t packet_of(std::array<std::uint32_t, 3> grid, std::array<std::uint16_t, 3> group) {
  hsa_kernel_dispatch_packet_t packet{};
  packet.setup = 3 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  packet.grid_size_x = grid[0];
  packet.grid_size_y = grid[1];
  packet.grid_size_z = grid[2];
  packet.workgroup_size_x = group[0];
  packet.workgroup_size_y = group[1];
  packet.workgroup_size_z = group[2];
  return packet;
}

enum class Waits { never, for_turns, at_barriers, for_anyone };

inline std::shared_ptr<const Kernel> kernel_of(WaveFunction wave, Waits waits, KernelDescriptor descriptor = {},
                                               const Target& target = {}) {
  constexpr std::array kinds = {WaitsFor::nothing, WaitsFor::turns, WaitsFor::work_group, WaitsFor::anyone};
  return std::make_shared<const Kernel>(descriptor, target, WaveStart{}, WaveCode{wave},
                                        kinds[static_cast<std::size_t>(waits)], nullptr);
}

inline std::shared_ptr<const Launch> launch_of(std::shared_ptr<const Kernel> kernel,
                                               const hsa_kernel_dispatch_packet_t& packet,
                                               const QueueView& queue = {}) {
  auto made = Launch::make(std::move(kernel), packet, queue);
  EXPECT_TRUE(std::holds_alternative<std::shared_ptr<Launch>>(made));
  return std::get<std::shared_ptr<Launch>>(std::move(made));
}

}  // namespace softgpu::compute
