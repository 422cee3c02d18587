// What the file /dev/kfd is: an anonymous file with the pages that a process maps of it, the GPUs' doorbells and the
// registers that flush their caches.
#pragma once

#include <cstdint>
#include <vector>

namespace softgpu::kernel_interface {

/// The file's length, and so what of it lies where.
///
/// Thread safety: none; const members may be called from any thread.
class DeviceFile {
public:
  /// Throws std::system_error where the system has no such file to give.
  explicit DeviceFile(std::uint32_t gpus);
  ~DeviceFile();
  DeviceFile(const DeviceFile&) = delete;
  DeviceFile& operator=(const DeviceFile&) = delete;

  /// Another descriptor, which is the caller's; -1 with errno if there are too many.
  [[nodiscard]] int duplicate() const noexcept;
  /// Whether a descriptor is one of this file.
  [[nodiscard]] bool has(int descriptor) const noexcept;

  /// A doorbell of the GPU's that no queue has; null if all are taken.
  [[nodiscard]] std::uint64_t* take_doorbell(std::uint32_t gpu);
  void give_back(std::uint64_t* doorbell) noexcept;
  /// Where a doorbell is in the file.
  [[nodiscard]] std::uint64_t offset_of(const std::uint64_t* doorbell) const noexcept;
  /// Where the GPU's registers are in the file.
  [[nodiscard]] std::uint64_t registers_offset(std::uint32_t gpu) const noexcept;

private:
  std::uint32_t gpus_;
  int descriptor_;
  std::uint64_t identity_ = 0;
  std::uint64_t* doorbells_ = nullptr;
  std::vector<std::vector<std::uint64_t*>> free_;  ///< of each GPU
};

}  // namespace softgpu::kernel_interface
