// Checking a C++ signature against what a kernel was compiled with.
#pragma once

#include <span>

#include "dispatch/code_object/kernel_metadata.hpp"
#include "fastdispatch/detail/kernel_info.hpp"

namespace fastdispatch::detail {

// Throws Error, naming the argument, what the code object has and what the signature has, when they differ.
void check_signature(const KernelMetadata& kernel, std::span<const Parameter> parameters);

}  // namespace fastdispatch::detail
