// Loops that do nothing but look at LDS until another wavefront of the work-group changed it.
//
// Wavefronts of a work-group share a thread: a wavefront that waits has to let the others run. Most instructions that
// wait are known as such (s_barrier, s_sleep, glc). A loop that polls LDS has no such instruction; unlike a loop that
// works on LDS, it stores nothing and computes nothing.
#pragma once

#include <cstdint>
#include <set>

#include "softgpu/compute/program/program.hpp"

namespace softgpu::compute {

/// The offsets of the branches back to the beginnings of such loops.
[[nodiscard]] std::set<std::int64_t> waiting_loops(const Program& program);

}  // namespace softgpu::compute
