// Has a loaded library call other functions than those that the dynamic linker found for it.
#pragma once

#include <span>

namespace softgpu::kernel_interface {

struct Redirection {
  const char* name;  ///< of the function that the library imports
  void* function;    ///< that it calls from now on
};

/// Writes the functions to the relocations of the library that `code` lies in, and to no other's. Those that it does
/// not import are passed over. False if the library is not found or its pages cannot be written.
///
/// Thread safety: the library may be in use. A call that has begun ends in the function where it began.
[[nodiscard]] bool redirect(const void* code, std::span<const Redirection> redirections);

}  // namespace softgpu::kernel_interface
