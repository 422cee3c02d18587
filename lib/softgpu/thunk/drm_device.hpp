// libdrm's view of the soft GPUs: ROCr 6 asks libdrm_amdgpu, not libhsakmt, how fast a GPU's counter runs.
#pragma once

#include <cstdint>

namespace softgpu::thunk {

/// The `amdgpu_device_handle` of a GPU's node, 1 to 16. It lives as long as the process.
///
/// libdrm_amdgpu knows nothing of it: libhsakmt.so.1 exports the one function that ROCr calls with it, and comes before
/// libdrm_amdgpu in the search for ROCr's symbols. If another definition is found first all the same, it reads zeros,
/// and the frequency is unknown.
[[nodiscard]] void* drm_device(std::uint32_t node) noexcept;

}  // namespace softgpu::thunk
