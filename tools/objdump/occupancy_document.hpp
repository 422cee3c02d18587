// How well a kernel fills a GPU, in words and numbers.
#pragma once

#include "document.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dispatch/code_object/kernel_metadata.hpp"

/// The dispatch that an occupancy is for.
struct GroupShape {
  std::uint32_t work_items = 256;
  std::uint32_t dynamic_lds_bytes = 0;
};

/// An ELF file and its processor, such as gfx90a.
struct ElfView {
  std::span<const std::byte> bytes;
  std::string_view processor;
};

/// How many work-groups a compute unit holds at a time, how many wavefronts that are, and what limits them. A text that
/// says so, where that is not known. Of generic code a row for each GPU that runs it.
[[nodiscard]] Document occupancy_document(const ElfView& elf, const fastdispatch::detail::KernelMetadata& kernel,
                                          const GroupShape& group);
