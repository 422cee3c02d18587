// Dispatching a kernel, again and again on the same inputs.
#pragma once

#include "argument.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include <fastdispatch/agent.hpp>
#include <fastdispatch/dynamic_kernel.hpp>
#include <fastdispatch/grid.hpp>

/// Dispatches the kernel `count` times. Before each, its arrays get the contents of `arguments` anew. Afterwards the
/// arrays in `arguments` hold the results. Returns the times that the device wrote down.
/// Throws fastdispatch::Error when memory is exhausted, when the kernel cannot have such a grid, or when it faults.
[[nodiscard]] std::vector<std::chrono::nanoseconds> run_kernel(fastdispatch::Agent gpu,
                                                               const fastdispatch::DynamicKernel& kernel,
                                                               const fastdispatch::Grid& grid,
                                                               std::span<Argument> arguments, std::uint32_t count);
