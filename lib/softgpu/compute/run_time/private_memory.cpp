#include "softgpu/compute/run_time/private_memory.hpp"

#include <bit>

#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::compute::runtime {

void leave_after_overrun(const WaveState* state, std::uint64_t lanes, std::int64_t offset) {
  FaultGuard::exit({.cause = EarlyExit::Cause::private_memory_overrun,
                    .instruction = static_cast<std::uint64_t>(offset),
                    .lane = static_cast<std::uint32_t>(std::countr_zero(lanes)),
                    .private_bytes = state->scratch_bytes_per_lane});
}

}  // namespace softgpu::compute::runtime
