// Where a wavefront runs, as the hardware registers tell it: a compute unit of its queue, a SIMD, a slot.
//
// Work-groups come to the compute units of their queue in turn, as the hardware's dispatcher spreads them. The soft GPU
// has no compute units. A program may learn its place, and rely on it: a queue's mask is kept, for example.
#pragma once

#include <cstdint>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// The registers that say it, by their numbers in s_getreg_b32.
enum class PlaceRegister : std::uint32_t {
  hw_id = 4,  ///< CDNA
  gpr_alloc = 5,
  lds_alloc = 6,
  hw_id1 = 23,  ///< RDNA
  hw_id2 = 24,  ///< RDNA
};

/// What translated code calls.
std::uint32_t place_register(const WaveState* state, std::uint32_t number);
/// Whether the work-group has more than one wavefront (IN_TG of STATUS): 0 or 1.
std::uint32_t is_in_work_group(const WaveState* state);

}  // namespace softgpu::compute
