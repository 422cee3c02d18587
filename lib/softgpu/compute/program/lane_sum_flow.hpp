// The sums of vector registers where the blocks of a program begin.
#pragma once

#include <cstdint>
#include <map>

#include "softgpu/compute/program/lane_sums.hpp"
#include "softgpu/compute/program/program.hpp"

namespace softgpu::compute {

/// By the blocks' offsets. At a block that is not there, nothing is known. Where registers' numbers are computed, or
/// vector instructions may be skipped, nothing can be followed: the result is null.
using LaneSumsOfBlocks = std::map<std::int64_t, LaneSums>;
/// `ids_in_rows` registers begin with work-items' ids in rows, see LaneRows.
[[nodiscard]] std::optional<LaneSumsOfBlocks> follow_lane_sums(const Program& program, unsigned ids_in_rows = 0);

}  // namespace softgpu::compute
