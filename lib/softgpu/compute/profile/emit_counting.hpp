// Emits the calls that count, into the code of kernels that are profiled. Elsewhere nothing is emitted.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/emit/lane_addresses.hpp"
#include "softgpu/compute/profile/kernel_profile.hpp"

namespace softgpu::compute::profile {

/// Before an instruction.
void count_execution(Emitter& e, const Instruction& instruction);

// Before each access of the current instruction, of `bytes` a lane. WaveState's lane addresses are changed.

/// The lanes' addresses in global memory.
void count_access(Emitter& e, const LaneAddresses& addresses, std::uint32_t bytes);
/// <16 x i32> in LDS, which the instruction's offset is added to.
void count_lds_access(Emitter& e, const Chunks& addresses, std::uint32_t offset, std::uint32_t bytes);
/// <16 x i64>, whose aperture tells the space.
void count_flat_access(Emitter& e, const Chunks& addresses, std::int64_t offset, std::uint32_t bytes);
void count_scratch_access(Emitter& e, std::uint32_t bytes);
/// By the addresses that WaveState has already, of the lanes in a mask (i64).
void count_put_access(Emitter& e, llvm::Value* lanes, Space space, std::uint32_t bytes);

}  // namespace softgpu::compute::profile
