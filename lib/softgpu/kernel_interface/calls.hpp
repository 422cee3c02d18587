// The calls of the C library and of libdrm by which ROCr reaches the driver, as they end here: /dev/kfd, the GPUs'
// render nodes, the files in /sys that tell of them, and the mappings that go with them. What is none of the soft GPU's
// goes to the C library.
#pragma once

#include <vector>

#include "softgpu/kernel_interface/redirect.hpp"

namespace softgpu::kernel_interface {

/// For the library that is to use the soft GPU in the place of the kernel's driver.
[[nodiscard]] std::vector<Redirection> calls();

/// Opens /dev/kfd, and so the soft GPU. -1 with errno if it does not open; the reason is on standard error then.
[[nodiscard]] int open_device();

}  // namespace softgpu::kernel_interface
