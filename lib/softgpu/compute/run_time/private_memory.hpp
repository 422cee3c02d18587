// The end of a wavefront that overran its private memory, for translated code.
#pragma once

#include <cstdint>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// Ends the wavefront: these lanes accessed what is beyond their private memory. `offset` is the instruction's: LLVM
/// makes one call of those of several instructions, so that the place of the call does not tell it.
[[noreturn]] void leave_after_overrun(const WaveState* state, std::uint64_t lanes, std::int64_t offset);

}  // namespace softgpu::compute::runtime
