// The GPU's clocks, and the end of a turn that has taken long by the host's.
//
// Translated code calls these functions.
#pragma once

#include <cstdint>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// Called by loops, after every so many branches back: ends a turn that has taken long.
void look_at_clock(WaveState* state);

/// s_memrealtime counts at 100 MHz, s_memtime at the frequency that the topology tells of the GPU, whatever the host's.
inline constexpr std::uint64_t real_time_frequency = 100'000'000;
inline constexpr std::uint32_t shader_megahertz = 1700;  ///< a multiple of 100
[[nodiscard]] std::uint64_t real_time();
[[nodiscard]] std::uint64_t shader_clock();

}  // namespace softgpu::compute::runtime
