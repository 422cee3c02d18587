// libdrm's view of the soft GPUs: ROCr 6 and later ask libdrm_amdgpu how fast a GPU's counter runs, and map virtual
// memory by it.
#pragma once

#include <cstdint>

namespace softgpu::thunk {

/// The `amdgpu_device_handle` of a GPU's node, 1 to 16. It lives as long as the process.
///
/// libdrm_amdgpu knows nothing of it: the soft GPU's libraries have the functions that ROCr calls with it. If another
/// definition is found first all the same, it reads zeros, and the frequency is unknown.
[[nodiscard]] void* drm_device(std::uint32_t node) noexcept;

}  // namespace softgpu::thunk
