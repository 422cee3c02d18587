// A kernel's arguments, resources and occupancy.
#pragma once

#include "describe_file.hpp"
#include "document.hpp"
#include "occupancy_document.hpp"

#include "dispatch/code_object/kernel_metadata.hpp"

/// A kernel of `elf`.
[[nodiscard]] Document describe_kernel(const ElfView& elf, const fastdispatch::detail::KernelMetadata& kernel,
                                       const DumpOptions& options);
