#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include <hsa/hsa.h>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/grid.hpp"

namespace fastdispatch::detail {

// Where an explicit argument lies in the kernarg segment, in bytes.
struct ArgumentSlot {
  std::uint32_t offset;
  std::uint32_t size;
};

// What the code object wants the dispatcher to write behind the explicit arguments. What is not listed here
// (hostcall, heap, printf, multigrid, default queue, completion action) stays zero: the service is not there.
enum class ImplicitValue : std::uint8_t {
  global_offset,  // always 0: HSA dispatches start at 0
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
};

struct ImplicitSlot {
  std::uint32_t offset;
  std::uint16_t size;
  ImplicitValue value;
};

// One kernel, ready to be dispatched: what the code object's metadata says, what the loader made of it, and the agent's
// limits. Made once by Module, never changed.
struct KernelInfo {
  std::string name;
  std::uint64_t object = 0;  // of the kernel descriptor, as a packet wants it
  std::uint32_t kernarg_size = 0;
  std::uint32_t group_segment_size = 0;
  std::uint32_t private_segment_size = 0;
  std::uint32_t max_group_size = 0;          // the kernel's own limit and the agent's
  std::uint32_t max_group_segment_size = 0;  // the agent's, bytes
  hsa_dim3_t max_grid{};                     // the agent's, work-items
  std::uint16_t max_group[3] = {};           // the agent's, work-items
  bool needs_queue = false;                  // an implicit argument depends on the queue
  std::vector<ArgumentSlot> arguments;
  std::vector<ImplicitSlot> implicit_arguments;
};

// A parameter of a C++ signature.
enum class ParameterKind : std::uint8_t { value, pointer, local_memory };
struct Parameter {
  ParameterKind kind;
  std::size_t size;
  const std::type_info* type;
};

// Throws Error, saying what is wrong, when the kernel can't be launched so: a zero or too large grid or group, or more
// group memory than the agent has. `local_memory` is what LocalMemory arguments add.
FASTDISPATCH_EXPORT void check_dispatch(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory);

// Zeroes the kernarg segment and fills the implicit arguments; the explicit ones are written after it. `queue` may be
// null where kernel.needs_queue is false. Allocates nothing.
FASTDISPATCH_EXPORT void write_implicit_arguments(const KernelInfo& kernel, const Grid& grid, const hsa_queue_t* queue,
                                                  std::byte* kernarg) noexcept;

// The packet of a checked dispatch, all but header and setup (which are published together) and completion signal.
[[nodiscard]] FASTDISPATCH_EXPORT hsa_kernel_dispatch_packet_t dispatch_packet(const KernelInfo& kernel,
                                                                               const Grid& grid,
                                                                               std::uint64_t local_memory,
                                                                               void* kernarg) noexcept;

}  // namespace fastdispatch::detail
