// Whether an agent can run a grid: a few instructions, on the path of each dispatch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/grid.hpp"

namespace fastdispatch::detail {

[[nodiscard]] inline bool can_run(const Grid& grid, const AgentProperties& limits) noexcept {
  std::uint64_t group_items = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    // An empty group wraps around: it is greater than any grid.
    if (grid.group_size[i] - 1 >= grid.size[i] || grid.size[i] > limits.grid_extent_max[i] ||
        grid.group_size[i] > limits.work_group_extent_max[i])
      return false;
    group_items *= grid.group_size[i];
  }
  return group_items <= limits.work_group_size_max && grid.dynamic_lds_bytes <= limits.lds_bytes;
}

}  // namespace fastdispatch::detail
