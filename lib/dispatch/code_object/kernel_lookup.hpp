// Finding a kernel by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dispatch/code_object/kernel_metadata.hpp"

namespace fastdispatch::detail {

// The index of the kernel that `name` means: its mangled name or symbol, or its source name with or without parameters
// and template arguments. White space does not count. Throws Error, with the candidates, when there is no such kernel,
// or more than one. `file` is for error texts.
[[nodiscard]] std::size_t find_kernel(std::span<const KernelMetadata> kernels, std::string_view name,
                                      std::string_view file);

}  // namespace fastdispatch::detail
