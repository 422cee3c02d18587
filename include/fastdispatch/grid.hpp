// The shape of a dispatch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

class Agent;

/// Work-items and work-groups of a dispatch. Made by `grid(x, y, z)`, in work-items, not groups.
struct Grid {
  std::array<std::uint32_t, 3> size{1, 1, 1};        ///< work-items
  std::array<std::uint32_t, 3> group_size{1, 1, 1};  ///< work-items of one work-group
  std::uint32_t dynamic_lds_bytes = 0;

  /// 1, 2 or 3: extents of 1 at the end do not count.
  [[nodiscard]] constexpr std::uint16_t dimensions() const noexcept {
    if (size[2] != 1) return 3;
    return size[1] != 1 ? 2 : 1;
  }

  /// The same grid in work-groups of x * y * z work-items.
  [[nodiscard]] constexpr Grid group(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) const noexcept {
    Grid result = *this;
    result.group_size = {x, y, z};
    return result;
  }

  /// The same grid with LDS beside what the kernel declares.
  [[nodiscard]] constexpr Grid dynamic_lds(std::uint32_t bytes) const noexcept {
    Grid result = *this;
    result.dynamic_lds_bytes = bytes;
    return result;
  }

  // Spelled out: of default comparisons of arrays compilers make calls.
  friend constexpr bool operator==(const Grid& a, const Grid& b) noexcept {
    return a.size[0] == b.size[0] && a.size[1] == b.size[1] && a.size[2] == b.size[2] &&
           a.group_size[0] == b.group_size[0] && a.group_size[1] == b.group_size[1] &&
           a.group_size[2] == b.group_size[2] && a.dynamic_lds_bytes == b.dynamic_lds_bytes;
  }
};

/// A grid of x, x * y or x * y * z work-items, in work-groups of up to 256 along x unless `group` says otherwise.
///
/// If the grid is not a multiple of the group, the last groups are partial. With LLVM 15 and earlier, HIP's blockDim is
/// the size of the current group: `blockIdx.x * blockDim.x + threadIdx.x` is wrong in a partial group. With later
/// compilers, blockDim is the size of a whole group, but in code objects of version 5 gridDim does not count partial
/// groups. Round the grid up for such kernels, as HIP does, or let them ask __builtin_amdgcn_{workgroup,grid}_size_x().
[[nodiscard]] constexpr Grid grid(std::uint32_t x) noexcept {
  return {.size = {x, 1, 1}, .group_size = {std::min(x, 256U), 1, 1}};
}
[[nodiscard]] constexpr Grid grid(std::uint32_t x, std::uint32_t y) noexcept {
  return {.size = {x, y, 1}, .group_size = {std::min(x, 256U), 1, 1}};
}
[[nodiscard]] constexpr Grid grid(std::uint32_t x, std::uint32_t y, std::uint32_t z) noexcept {
  return {.size = {x, y, z}, .group_size = {std::min(x, 256U), 1, 1}};
}

/// Throws Error, naming the limit, when `agent` cannot run `grid`: an extent of zero, a group larger than the grid or
/// than the agent allows.
FASTDISPATCH_EXPORT void validate(const Grid& grid, Agent agent);

}  // namespace fastdispatch
