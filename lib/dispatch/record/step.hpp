// The steps of a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "dispatch/record/access.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/detail/pool_memory.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch::detail {

struct DispatchStep {
  const KernelInfo* kernel;
  Grid grid;
  std::uint64_t local_memory;      // bytes that LocalMemory arguments add
  std::size_t kernarg;             // where its block starts in the batch's kernargs
  std::vector<Access> accesses{};  // for Fences::derived only
};
struct CopyStep {
  MemoryView destination;
  MemoryView source;
  std::shared_ptr<const PoolMemory> block{};  // the source, if it is the batch's own
};
using Step = std::variant<DispatchStep, CopyStep>;

// What the step reads and writes. Memory that a copy touches counts as the system's.
[[nodiscard]] std::vector<Access> accesses_of(const Step& step);

}  // namespace fastdispatch::detail
