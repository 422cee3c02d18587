// Loops that do nothing but look at LDS until another wavefront of the work-group changed it.
//
// Wavefronts of a work-group share a thread: one that waits has to let the others run. Most ways to wait say so
// (s_barrier, s_sleep, glc); a loop over LDS does not, and is told from one that works on LDS by what it lacks.
#pragma once

#include <cstdint>
#include <set>

#include "softgpu/compute/program/program.hpp"

namespace softgpu::compute {

/// The offsets of the branches back to the beginnings of such loops.
[[nodiscard]] std::set<std::int64_t> waiting_loops(const Program& program);

}  // namespace softgpu::compute
