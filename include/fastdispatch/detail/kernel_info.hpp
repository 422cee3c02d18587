// What a dispatch needs to know of a kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include <hsa/hsa.h>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/occupancy.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// Where an explicit argument lies in the kernarg segment, in bytes.
struct ArgumentSlot {
  std::uint32_t offset;
  std::uint32_t size;
};

// Implicit arguments, which the dispatcher writes behind the explicit arguments. Other implicit arguments stay zero:
// global offsets, because HSA's grids start at 0; multigrid, default queue and completion action, because zero tells
// the kernel that there is no such service. Compilers ask for these also where they cannot tell whether a kernel uses
// them.
enum class ImplicitValue : std::uint8_t {
  block_count_x,
  block_count_y,
  block_count_z,
  group_size_x,
  group_size_y,
  group_size_z,
  remainder_x,
  remainder_y,
  remainder_z,
  grid_dims,
  dynamic_lds_size,
  private_base,
  shared_base,
  queue_ptr,
  hostcall_buffer,
  heap_state,
};

class Hostcall;

struct ImplicitSlot {
  std::uint32_t offset;
  std::uint16_t size;
  ImplicitValue value;
};

// What a wavefront of a kernel takes.
struct KernelRegisters {
  std::uint32_t wavefront_size = 64;
  std::uint32_t rsrc1 = 0;  // COMPUTE_PGM_RSRC1 of the kernel's descriptor: vector registers, WGP mode
  std::uint32_t scalar = 0;
};

// One kernel, ready to be dispatched: the code object's metadata, the loader's address, and the agent's limits. Made
// once by Module, never changed.
struct KernelInfo {
  std::string name;          // demangled, for messages
  std::uint64_t object = 0;  // of the kernel descriptor, as a packet wants it
  std::uint32_t kernarg_size = 0;
  std::uint32_t group_segment_size = 0;
  std::uint32_t private_segment_size = 0;
  std::uint32_t max_group_size = 0;  // the size that it was compiled for, or the agent's limit if that is smaller
  std::uint32_t max_group_segment_size = 0;  // the agent's
  bool needs_queue = false;                  // an implicit argument depends on the queue
  bool needs_hostcall = false;               // an implicit argument is of printf, assert or malloc
  Hostcall* hostcall = nullptr;              // the agent's; Module::kernel sets it where it is needed
  std::uint64_t heap_state = 0;              // likewise
  hsa_agent_t agent{};                       // on which it is loaded; 0: on all
  std::vector<ArgumentSlot> arguments;
  std::vector<ImplicitSlot> implicit_arguments;
  KernelRegisters registers{};      // Module sets them
  std::string processor{};          // the agent's: "gfx90a"
  std::uint32_t compute_units = 0;  // the agent's
};

// A parameter of a C++ signature.
enum class ParameterKind : std::uint8_t { value, pointer, local_memory };
struct Parameter {
  ParameterKind kind;
  std::size_t size;
  const std::type_info* type;
};

// Throws Error, with the reason, when the kernel can't be launched in this way: the kernel is loaded on another agent,
// the group is larger than the kernel was compiled for, the agent has too little group memory, or `agent` can't run the
// grid. `local_memory` is the bytes that LocalMemory adds.
FASTDISPATCH_EXPORT void check_dispatch(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory,
                                        Agent agent);

// Throws Error when the work-groups of `grid` can't run, and when the agent's compute units are not known.
// `local_memory` is the bytes that LocalMemory adds.
[[nodiscard]] FASTDISPATCH_EXPORT Occupancy occupancy_of(const KernelInfo& kernel, const Grid& grid,
                                                         std::uint64_t local_memory);

// Throws Error when a block for the kernel's arguments is too small.
FASTDISPATCH_EXPORT void check_kernargs(const KernelInfo& kernel, std::span<const std::byte> block);

// Fills the implicit arguments that the grid gives, and leaves the rest of the segment as it is.
FASTDISPATCH_EXPORT void write_grid_arguments(const KernelInfo& kernel, const Grid& grid, std::byte* kernarg) noexcept;

// Zeroes the kernarg segment and fills those implicit arguments that the grid gives; the explicit ones are written
// after it. Allocates nothing.
inline void write_implicit_arguments(const KernelInfo& kernel, const Grid& grid, std::byte* kernarg) noexcept {
  std::fill_n(kernarg, kernel.kernarg_size, std::byte{0});
  if (!kernel.implicit_arguments.empty()) write_grid_arguments(kernel, grid, kernarg);
}

// Fills the implicit arguments that the queue gives: where kernel.needs_queue, it follows write_implicit_arguments.
// Throws Error when there is no memory for the calls of the host by the queue's kernels, which the first of them needs.
FASTDISPATCH_EXPORT void write_queue_arguments(const KernelInfo& kernel, const hsa_queue_t* queue, std::byte* kernarg);

// Each LocalMemory starts at a multiple of 16 bytes, the strictest alignment of OpenCL's types in LDS, except for the
// widest vectors (128 bytes), which no instruction loads at once.
[[nodiscard]] constexpr std::uint64_t aligned_local_memory(std::uint64_t bytes) noexcept {
  return (bytes + 15) / 16 * 16;
}

// The LDS of a work-group: the kernel's own, the grid's and that of LocalMemory.
[[nodiscard]] inline std::uint64_t group_segment(const KernelInfo& kernel, const Grid& grid,
                                                 std::uint64_t local_memory) noexcept {
  const std::uint64_t own =
      local_memory == 0 ? kernel.group_segment_size : aligned_local_memory(kernel.group_segment_size);
  return own + grid.dynamic_lds_bytes + local_memory;
}

// The packet of a checked dispatch.
[[nodiscard]] inline Packet dispatch_packet(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory,
                                            const std::byte* kernarg, Ordering ordering) noexcept {
  return encode(
      KernelDispatch{.ordering = ordering,
                     .grid = grid,
                     .private_segment_bytes = kernel.private_segment_size,
                     .group_segment_bytes = static_cast<std::uint32_t>(group_segment(kernel, grid, local_memory)),
                     .kernel_object = kernel.object,
                     .kernarg_address = reinterpret_cast<std::uintptr_t>(kernarg),
                     .completion_signal = {}});
}

}  // namespace fastdispatch::detail
