// Copies that the device makes: checked, then handed to HSA.
#pragma once

#include <span>

#include <hsa/hsa.h>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch::detail {

// Throws Error when the sizes differ or the two sides overlap.
void check_ranges(const MemoryView& destination, const MemoryView& source);

// Gives GPUs access to each other's memory where both sides are device memory. Throws Error when they can't reach it,
// or when a side is pageable memory, which no device can reach.
void make_reachable(const MemoryView& destination, const MemoryView& source);

// Starts a checked copy that is not empty. `agent` is of the runtime that both sides belong to.
void start_copy(Agent agent, const MemoryView& destination, const MemoryView& source, hsa_signal_t completion,
                std::span<const hsa_signal_t> depends_on);

}  // namespace fastdispatch::detail
