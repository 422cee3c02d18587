// The failures of work-groups, in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/launch.hpp"
#include "softgpu/compute/run_time/early_exit.hpp"

namespace softgpu::compute {

/// What the early exit of a wavefront means for its dispatch. `wave` is the wavefront's number in its work-group, if it
/// was one of them that failed.
[[nodiscard]] Failure describe(const EarlyExit& exit, const WorkGroup& group, std::optional<std::uint32_t> wave = {});
[[nodiscard]] Failure out_of_memory(const WorkGroup& group);

/// An instruction's offset from the kernel's entry, as messages have it. Functions that a kernel calls may lie before
/// it.
[[nodiscard]] std::string offset_from_entry(std::uint64_t offset);

}  // namespace softgpu::compute
