// The end of a wavefront that overran its private memory, for translated code.
#pragma once

#include <cstdint>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// Ends the wavefront: these lanes accessed what is beyond their private memory.
[[noreturn]] void leave_after_overrun(const WaveState* state, std::uint64_t lanes);

}  // namespace softgpu::compute::runtime
