// A kernel's name, found from its descriptor in memory, for messages.
#pragma once

#include <cstdint>
#include <string>

namespace softgpu::compute {

/// The name of the kernel whose descriptor is at `kernel_object`; empty if nothing in memory tells it.
///
/// The loader copies a code object's dynamic symbols, of which a kernel's descriptor is one. Takes up to some
/// milliseconds.
[[nodiscard]] std::string kernel_name(std::uint64_t kernel_object);

}  // namespace softgpu::compute
