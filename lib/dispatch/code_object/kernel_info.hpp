// From a code object's metadata to the KernelInfo of a dispatch.
#pragma once

#include <cstdint>
#include <string_view>

#include "dispatch/code_object/kernel_metadata.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/module.hpp"

namespace fastdispatch::detail {

// `object` is where the loader put the kernel descriptor. A dynamic stack gets `dynamic_stack_bytes`, or what the
// compiler knows that it needs, if that is more.
[[nodiscard]] KernelInfo make_kernel_info(const KernelMetadata& metadata, std::uint64_t object, Agent agent,
                                          std::uint32_t dynamic_stack_bytes = ModuleOptions{}.dynamic_stack_bytes);

// Whether the work-groups of `grid` are larger than the kernel was compiled for, or than the agent takes.
[[nodiscard]] bool has_too_large_groups(const KernelInfo& kernel, const Grid& grid) noexcept;
[[noreturn]] void throw_too_large_groups(const KernelInfo& kernel, const Grid& grid, std::string_view device);

// Throws Error when the kernel wants an implicit argument that is not known: such a kernel can't be launched.
void check_implicit_arguments(const KernelMetadata& metadata);

// Gives a kernel what it needs of the agent's hostcall, once; calls for one kernel must come one at a time. Throws
// Error when HSA has no signal or memory left.
void provide_services(KernelInfo& kernel, Agent agent);

}  // namespace fastdispatch::detail
