#include "dispatch/code_object/kernel_info.hpp"

#include <hsa/amd_hsa_queue.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/demangle.hpp"
#include "dispatch/code_object/grid_limits.hpp"
#include "dispatch/hostcall/hostcall.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/kernel.hpp"

namespace fastdispatch::detail {
namespace {

// The .value_kind of hidden arguments (LLVM's AMDGPU usage guide, code object V3 to V5 metadata). Arguments without a
// value stay zero; ImplicitValue says why.
constexpr std::array<std::pair<std::string_view, std::optional<ImplicitValue>>, 23> hidden_kinds{{
    {"hidden_none", {}},
    {"hidden_global_offset_x", {}},
    {"hidden_global_offset_y", {}},
    {"hidden_global_offset_z", {}},
    {"hidden_hostcall_buffer", ImplicitValue::hostcall_buffer},
    {"hidden_default_queue", {}},
    {"hidden_completion_action", {}},
    {"hidden_multigrid_sync_arg", {}},
    {"hidden_heap_v1", ImplicitValue::heap_state},
    {"hidden_block_count_x", ImplicitValue::block_count_x},
    {"hidden_block_count_y", ImplicitValue::block_count_y},
    {"hidden_block_count_z", ImplicitValue::block_count_z},
    {"hidden_group_size_x", ImplicitValue::group_size_x},
    {"hidden_group_size_y", ImplicitValue::group_size_y},
    {"hidden_group_size_z", ImplicitValue::group_size_z},
    {"hidden_remainder_x", ImplicitValue::remainder_x},
    {"hidden_remainder_y", ImplicitValue::remainder_y},
    {"hidden_remainder_z", ImplicitValue::remainder_z},
    {"hidden_grid_dims", ImplicitValue::grid_dims},
    {"hidden_dynamic_lds_size", ImplicitValue::dynamic_lds_size},
    {"hidden_private_base", ImplicitValue::private_base},
    {"hidden_shared_base", ImplicitValue::shared_base},
    {"hidden_queue_ptr", ImplicitValue::queue_ptr},
}};

bool depends_on_queue(ImplicitValue value) {
  return value == ImplicitValue::private_base || value == ImplicitValue::shared_base ||
         value == ImplicitValue::queue_ptr || value == ImplicitValue::hostcall_buffer;
}

bool depends_on_hostcall(ImplicitValue value) {
  return value == ImplicitValue::hostcall_buffer || value == ImplicitValue::heap_state;
}

auto find_hidden(const ArgumentMetadata& argument) {
  return std::find_if(hidden_kinds.begin(), hidden_kinds.end(), [&](const auto& known) {
    const bool is_address = known.second && depends_on_hostcall(*known.second);
    return known.first == argument.value_kind &&
           (is_address ? argument.size == sizeof(std::uint64_t) : argument.size <= sizeof(std::uint64_t));
  });
}

std::uint64_t grid_value(const KernelInfo& kernel, ImplicitValue value, const Grid& grid) noexcept {
  const auto group_count = [&](std::size_t i) { return grid.size[i] / grid.group_size[i]; };  // of complete groups
  const auto remainder = [&](std::size_t i) { return grid.size[i] % grid.group_size[i]; };
  switch (value) {
  case ImplicitValue::block_count_x:
    return group_count(0);
  case ImplicitValue::block_count_y:
    return group_count(1);
  case ImplicitValue::block_count_z:
    return group_count(2);
  case ImplicitValue::group_size_x:
    return grid.group_size[0];
  case ImplicitValue::group_size_y:
    return grid.group_size[1];
  case ImplicitValue::group_size_z:
    return grid.group_size[2];
  case ImplicitValue::remainder_x:
    return remainder(0);
  case ImplicitValue::remainder_y:
    return remainder(1);
  case ImplicitValue::remainder_z:
    return remainder(2);
  case ImplicitValue::grid_dims:
    return grid.dimensions();
  case ImplicitValue::dynamic_lds_size:
    return grid.dynamic_lds_bytes;
  case ImplicitValue::heap_state:
    return kernel.heap_state;
  default:
    return 0;
  }
}

std::uint64_t queue_value(const KernelInfo& kernel, ImplicitValue value, const hsa_queue_t* queue) {
  // ROCr's queues start with an hsa_queue_t; the high halves of the apertures' addresses are behind it.
  const auto* amd_queue = reinterpret_cast<const amd_queue_t*>(queue);
  switch (value) {
  case ImplicitValue::private_base:
    return amd_queue->private_segment_aperture_base_hi;
  case ImplicitValue::shared_base:
    return amd_queue->group_segment_aperture_base_hi;
  case ImplicitValue::hostcall_buffer:
    return kernel.hostcall == nullptr ? 0 : kernel.hostcall->buffer_of(queue);
  default:
    return reinterpret_cast<std::uintptr_t>(queue);
  }
}

void write(const ImplicitSlot& slot, std::uint64_t value, std::byte* kernarg) noexcept {
  std::memcpy(kernarg + slot.offset, &value, slot.size);  // little-endian: the low bytes come first
}

}  // namespace

KernelInfo make_kernel_info(const KernelMetadata& metadata, std::uint64_t object, Agent agent,
                            std::uint32_t dynamic_stack_bytes) {
  const AgentProperties& properties = agent.properties();
  const std::uint32_t stack_bytes = metadata.uses_dynamic_stack ? dynamic_stack_bytes : 0;
  KernelInfo kernel{.name = demangle(metadata.name),
                    .object = object,
                    .kernarg_size = metadata.kernarg_segment_size,
                    .group_segment_size = metadata.group_segment_fixed_size,
                    .private_segment_size = std::max(metadata.private_segment_fixed_size, stack_bytes),
                    .max_group_size = std::min(metadata.max_flat_workgroup_size, properties.work_group_size_max),
                    .max_group_segment_size = static_cast<std::uint32_t>(properties.lds_bytes),
                    .needs_queue = false,
                    .needs_hostcall = false,
                    .hostcall = nullptr,
                    .heap_state = 0,
                    .agent = agent.handle(),
                    .arguments = {},
                    .implicit_arguments = {},
                    .registers = {},
                    .processor = properties.name,
                    .compute_units = properties.compute_units};
  for (const ArgumentMetadata& argument : metadata.arguments) {
    if (!argument.hidden()) {
      kernel.arguments.push_back({.offset = argument.offset, .size = argument.size});
      continue;
    }
    const auto* kind = find_hidden(argument);
    if (kind == hidden_kinds.end() || !kind->second) continue;
    kernel.implicit_arguments.push_back(
        {.offset = argument.offset, .size = static_cast<std::uint16_t>(argument.size), .value = *kind->second});
    kernel.needs_queue = kernel.needs_queue || depends_on_queue(*kind->second);
    kernel.needs_hostcall = kernel.needs_hostcall || depends_on_hostcall(*kind->second);
  }
  return kernel;
}

void check_implicit_arguments(const KernelMetadata& metadata) {
  for (const ArgumentMetadata& argument : metadata.arguments) {
    if (argument.value_kind == "hidden_printf_buffer") {
      throw Error(
          fmt::format("kernel {} prints to a buffer that is read when the kernel has ended "
                      "(hidden_printf_buffer), which is not supported: compile HIP with -mprintf-kind=hostcall; "
                      "in OpenCL C keep kernels apart from sources with printf",
                      demangle(metadata.name)));
    }
    if (argument.hidden() && find_hidden(argument) == hidden_kinds.end()) {
      throw Error(fmt::format("kernel {} wants the implicit argument {} of {} bytes, which is not known here",
                              demangle(metadata.name), argument.value_kind, argument.size));
    }
  }
}

void provide_services(KernelInfo& kernel, Agent agent) {
  if (!kernel.needs_hostcall || kernel.hostcall != nullptr) return;
  Hostcall& hostcall = hostcall_of(agent);
  const auto wants_heap = [](const ImplicitSlot& slot) { return slot.value == ImplicitValue::heap_state; };
  if (std::ranges::any_of(kernel.implicit_arguments, wants_heap)) kernel.heap_state = hostcall.heap_state();
  kernel.hostcall = &hostcall;
}

bool has_too_large_groups(const KernelInfo& kernel, const Grid& grid) noexcept {
  const auto& [x, y, z] = grid.group_size;
  const std::uint64_t plane = std::uint64_t{x} * y;  // checked by itself, so that the product can't overflow
  return plane > kernel.max_group_size || plane * z > kernel.max_group_size;
}

void throw_too_large_groups(const KernelInfo& kernel, const Grid& grid, std::string_view device) {
  const auto& [x, y, z] = grid.group_size;
  throw Error(fmt::format("kernel {} can't run in work-groups of {} x {} x {} work-items: {} is the most that it was "
                          "compiled for (see __launch_bounds__) and {} takes",
                          kernel.name, x, y, z, kernel.max_group_size, device));
}

namespace {

// Throws the reason.
[[gnu::cold]] void refuse_dispatch(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory,
                                   Agent agent) {
  if (kernel.agent.handle != 0 && kernel.agent.handle != agent.handle().handle) {
    throw Error(fmt::format("kernel {} is not loaded on the {} that it is dispatched to: load its module there, too",
                            kernel.name, agent.name()));
  }
  if (has_too_large_groups(kernel, grid)) throw_too_large_groups(kernel, grid, agent.name());
  if (const std::uint64_t lds = group_segment(kernel, grid, local_memory); lds > kernel.max_group_segment_size) {
    throw Error(fmt::format("kernel {} can't have {} bytes of group memory ({} of its own, the rest asked for at the "
                            "dispatch): {} has {} for a work-group",
                            kernel.name, lds, kernel.group_segment_size, agent.name(), kernel.max_group_segment_size));
  }
  validate(grid, agent);
}

}  // namespace

void check_dispatch(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory, Agent agent) {
  const bool is_loaded = kernel.agent.handle == 0 || kernel.agent.handle == agent.handle().handle;
  if (is_loaded && can_run(grid, agent.properties()) && !has_too_large_groups(kernel, grid) &&
      group_segment(kernel, grid, local_memory) <= kernel.max_group_segment_size) [[likely]]
    return;
  refuse_dispatch(kernel, grid, local_memory, agent);
}

void check_kernargs(const KernelInfo& kernel, std::span<const std::byte> block) {
  if (block.size() >= kernel.kernarg_size) return;
  throw Error(fmt::format("a block of {} bytes is too small for the arguments of kernel {}: it takes {}", block.size(),
                          kernel.name, kernel.kernarg_size));
}

void write_grid_arguments(const KernelInfo& kernel, const Grid& grid, std::byte* kernarg) noexcept {
  for (const ImplicitSlot& slot : kernel.implicit_arguments) {
    if (!depends_on_queue(slot.value)) write(slot, grid_value(kernel, slot.value, grid), kernarg);
  }
}

void write_queue_arguments(const KernelInfo& kernel, const hsa_queue_t* queue, std::byte* kernarg) {
  for (const ImplicitSlot& slot : kernel.implicit_arguments) {
    if (depends_on_queue(slot.value)) write(slot, queue_value(kernel, slot.value, queue), kernarg);
  }
}

}  // namespace fastdispatch::detail
