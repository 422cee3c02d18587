// How many work-groups of a kernel a GPU holds at a time: from a code object to the count in lib/occupancy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dispatch/code_object/kernel_metadata.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "occupancy/occupancy.hpp"

namespace fastdispatch::detail {

// The registers of a kernel of the ELF code object in `elf`, as its descriptor asks for them. `name` is for error
// texts. Throws Error when the descriptor is not in the file.
[[nodiscard]] KernelRegisters read_kernel_registers(std::span<const std::byte> elf, const KernelMetadata& kernel,
                                                    std::string_view name);

struct PlacedGroups {
  occupancy::Place place;  // one compute unit, or a pair
  std::uint32_t waves_per_group = 0;
  std::uint32_t waves_per_simd = 0;  // for which there are places and registers
  std::uint32_t groups = 0;          // in the place
  occupancy::Limit limit{};          // of `groups`
};

// Work-groups of `work_items` work-items, at least one, with `lds_bytes` of LDS each.
[[nodiscard]] PlacedGroups place_groups(const occupancy::ComputeUnit& unit, const KernelRegisters& registers,
                                        std::uint32_t work_items, std::uint64_t lds_bytes);

}  // namespace fastdispatch::detail
