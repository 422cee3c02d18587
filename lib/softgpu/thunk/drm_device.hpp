// libdrm's view of the soft GPUs: ROCr 6 and later ask libdrm_amdgpu how fast a GPU's counter runs, and map virtual
// memory by it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace softgpu::thunk {

/// What an `amdgpu_device_handle` of a soft GPU points to: larger than libdrm_amdgpu's device, whose layout is private.
///
/// libdrm_amdgpu knows nothing of it: the soft GPU's libraries have the functions that ROCr calls with it. If another
/// definition is found first all the same, it reads zeros, and the frequency is unknown.
struct alignas(64) DrmDevice {
  /// ROCr looks amdgpu_device_get_fd up in the whole process. libdrm_amdgpu's, which it may find first, returns the
  /// word here: amdgpu_device::fd, behind a count and a pointer. A test looks at it.
  static constexpr std::size_t descriptor_offset = 16;

  std::array<std::byte, 4096> bytes{};

  void set_descriptor(int descriptor) noexcept {
    std::memcpy(&bytes[descriptor_offset], &descriptor, sizeof descriptor);
  }
  [[nodiscard]] int descriptor() const noexcept {
    int descriptor = 0;
    std::memcpy(&descriptor, &bytes[descriptor_offset], sizeof descriptor);
    return descriptor;
  }
};

/// That of a GPU's node, 1 to 16. It lives as long as the process.
[[nodiscard]] DrmDevice* drm_device(std::uint32_t node) noexcept;
/// The node of a soft GPU's device; nothing for another GPU's.
[[nodiscard]] std::optional<std::uint32_t> node_of_device(const void* handle) noexcept;

/// A new descriptor of the file that stands for a GPU's render node, which is the caller's; -1 with errno if the system
/// refuses. Thread safety: any thread.
[[nodiscard]] int open_render_node(std::uint32_t node);
/// The node whose render node `descriptor` is of; nothing for other files. Thread safety: any thread.
[[nodiscard]] std::optional<std::uint32_t> node_of_render_node(int descriptor);

}  // namespace softgpu::thunk
