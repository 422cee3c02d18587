// What the translated code of a profiled kernel calls to count.
#pragma once

#include <cstdint>
#include <span>

#include "softgpu/compute/profile/kernel_profile.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::profile {

/// `lanes` are the active ones, a bit each.
void add_execution(InstructionCounts* instruction, std::uint64_t lanes);

/// An access of the active lanes to WaveState::lane_addresses: to global memory or LDS, or where no address is looked
/// at, to scratch.
void add_access(InstructionCounts* instruction, const WaveState* state, std::uint64_t lanes, Space space);
/// The same for flat addresses, which `offset` is added to: each lane's tells its space.
void add_flat_access(InstructionCounts* instruction, const WaveState* state, std::uint64_t lanes, std::uint64_t offset);

/// How the active lanes' addresses lie. At least one is active.
[[nodiscard]] Shape shape_of(std::span<const std::uint64_t, 64> addresses, std::uint64_t lanes, std::uint32_t bytes);

/// How LDS serves the active lanes' accesses, by this model: it has 32 banks, and a dword lies in the bank of its
/// number. A pass serves the next lanes whose dwords could fill the banks once (32 lanes of a dword each, 16 of two, 8
/// of three or four), and takes as many turns as one bank has dwords to give. Lanes with one dword share it, but
/// atomics do not.
struct LdsCost {
  std::uint64_t passes = 0;     ///< those with an active lane
  std::uint64_t conflicts = 0;  ///< the further turns of all passes
};
[[nodiscard]] LdsCost lds_cost(std::span<const std::uint64_t, 64> addresses, std::uint64_t lanes, std::uint32_t bytes,
                               Direction direction);

}  // namespace softgpu::compute::profile
