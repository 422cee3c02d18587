// Checking a C++ signature against a kernel's metadata.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dispatch/code_object/kernel_metadata.hpp"
#include "fastdispatch/detail/kernel_info.hpp"

namespace fastdispatch::detail {

// Throws Error when they differ; the text names the argument and both types.
void check_signature(const KernelMetadata& kernel, std::span<const Parameter> parameters);

// The source's types of the explicit arguments; an empty text where the code object does not tell one.
[[nodiscard]] std::vector<std::string> types_of_arguments(const KernelMetadata& kernel);

}  // namespace fastdispatch::detail
