// Comparing the types of a kernel's parameters with those of a C++ signature.
#pragma once

#include <optional>
#include <string_view>

#include "dispatch/code_object/demangle.hpp"

namespace fastdispatch::detail {

// False only if it is certain that the kernel would take the bytes for something else: a float for an integer, elements
// of 8 bytes for elements of 4. These fit:
// - integers of one width, whatever their names and signs
// - types with names of their own (structures, enumerations, vectors), to anything: the host's may be called otherwise
// - void, to anything
// - a kernel's char or unsigned char behind a pointer, to anything: C++ lets it read any object's bytes
// - 16-bit floating-point numbers to 16-bit integers, and addresses to 64-bit integers: the host may have no better
// type
[[nodiscard]] bool types_fit(const SourceType& kernels, const SourceType& signatures);

// The type that a name in OpenCL's metadata stands for, such as "uint*"; nothing for names of no built-in type.
[[nodiscard]] std::optional<SourceType> opencl_type(std::string_view type_name);

}  // namespace fastdispatch::detail
