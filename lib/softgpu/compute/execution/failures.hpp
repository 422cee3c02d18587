// The failures of work-groups, in words.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/launch.hpp"
#include "softgpu/compute/run_time/early_exit.hpp"

namespace softgpu::compute {

/// What the early exit of a wavefront means for its dispatch. `wave` is the wavefront's number in its work-group, if it
/// was one of them that failed.
[[nodiscard]] Failure describe(const EarlyExit& exit, const WorkGroup& group, std::optional<std::uint32_t> wave = {});
[[nodiscard]] Failure out_of_memory(const WorkGroup& group);

}  // namespace softgpu::compute
