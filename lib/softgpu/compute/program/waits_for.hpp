// What the wavefronts of a kernel may wait for: it decides how they are run.
#pragma once

#include <cstdint>

namespace softgpu::compute {

/// Each includes those before it.
enum class WaitsFor : std::uint8_t {
  nothing,
  turns,       ///< for their next turn: a loop may go on for long, and gives way to others then
  work_group,  ///< for wavefronts of their work-group: s_barrier, loops over LDS
  anyone,      ///< for other work-groups, other kernels or the host: s_sleep, loads and atomics of current values
  whole_grid,  ///< for all work-groups of the dispatch: ds_gws_barrier
};

}  // namespace softgpu::compute
