// The kernel's driver of AMD GPUs, as a process sees it: what an ioctl of /dev/kfd does, told to the soft GPU.
//
// The commands and their structures are the kernel's own, include/uapi/linux/kfd_ioctl.h. Later releases append fields
// to a structure, which an ioctl's number tells by the structure's size.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "softgpu/kernel_interface/abi.hpp"
#include "softgpu/kernel_interface/device_file.hpp"
#include "softgpu/kernel_interface/memory_objects.hpp"
#include "softgpu/thunk/soft_gpu.hpp"

namespace softgpu::kernel_interface {

/// Thread safety: every member may be called from any thread.
class Driver {
public:
  /// `gpu` outlives it. Throws std::system_error where the system has no file for it.
  explicit Driver(thunk::SoftGpu& gpu);

  [[nodiscard]] thunk::SoftGpu& gpu() noexcept { return gpu_; }
  /// /dev/kfd.
  [[nodiscard]] const DeviceFile& file() const noexcept { return file_; }
  /// An ioctl of it: 0, or an errno.
  int control(unsigned long request, void* data);

private:
  [[nodiscard]] std::optional<std::uint32_t> node_of(std::uint32_t gpu_id) const;

  int tell_apertures(abi::ProcessApertures& args) const;
  int tell_clocks(abi::ClockCounters& args) const;
  int allocate(abi::AllocateMemory& args);
  int map(std::uint64_t handle, std::uint32_t devices, std::uint32_t& mapped);
  int tell_dmabuf(abi::DmabufInfo& args) const;

  int create_queue(abi::CreateQueue& args);
  int destroy_queue(std::uint32_t id);
  int set_compute_units(const abi::CuMask& args);

  int create_event(abi::CreateEvent& args);
  int with_event(std::uint32_t id, void (thunk::Events::*what)(HsaEvent*));
  int wait(abi::WaitEvents& args);

  int shared_virtual_memory(abi::Svm& args);
  [[nodiscard]] bool to_node(std::uint32_t& location) const;
  void to_gpu_id(std::uint32_t& location) const;

  thunk::SoftGpu& gpu_;
  DeviceFile file_;
  MemoryObjects memory_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::uint64_t*> doorbells_;  ///< of the queues, by their ids
};

}  // namespace softgpu::kernel_interface
