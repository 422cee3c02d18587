#include "fastdispatch/grid.hpp"

#include <cstdint>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/grid_limits.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

namespace {

[[noreturn]] void refuse(const Grid& grid, const AgentProperties& limits) {
  const auto& [size, group, dynamic_lds_bytes] = grid;
  constexpr const char* axes = "xyz";
  for (std::size_t i = 0; i < 3; ++i) {
    if (size[i] == 0 || group[i] == 0)
      throw Error(fmt::format("the {} has no work-items along {}", size[i] == 0 ? "grid" : "work-group", axes[i]));
    if (group[i] > size[i])
      throw Error(
          fmt::format("the work-group of {} work-items along {} is larger than the grid of {}: round the grid up",
                      group[i], axes[i], size[i]));
    if (size[i] > limits.grid_extent_max[i])
      throw Error(fmt::format("the grid has {} work-items along {}; {} allows {}", size[i], axes[i], limits.name,
                              limits.grid_extent_max[i]));
    if (group[i] > limits.work_group_extent_max[i])
      throw Error(fmt::format("the work-group has {} work-items along {}; {} allows {}", group[i], axes[i], limits.name,
                              limits.work_group_extent_max[i]));
  }
  if (dynamic_lds_bytes > limits.lds_bytes)
    throw Error(fmt::format("{} bytes of dynamic LDS are more than the {} that a work-group of {} can have",
                            dynamic_lds_bytes, limits.lds_bytes, limits.name));
  throw Error(fmt::format("a work-group of {} x {} x {} = {} work-items is more than the {} that {} allows", group[0],
                          group[1], group[2], std::uint64_t{group[0]} * group[1] * group[2], limits.work_group_size_max,
                          limits.name));
}

}  // namespace

void validate(const Grid& grid, Agent agent) {
  const AgentProperties& limits = agent.properties();
  if (!detail::can_run(grid, limits)) [[unlikely]]
    refuse(grid, limits);
}

}  // namespace fastdispatch
