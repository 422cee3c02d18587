// Memory as the kernel's interface has it: an object with a handle, at addresses that the process chose before.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "softgpu/kernel_interface/abi.hpp"
#include "softgpu/kernel_interface/device_file.hpp"
#include "softgpu/thunk/memory.hpp"

namespace softgpu::kernel_interface {

/// The calls return 0, or the errno of an ioctl.
///
/// Thread safety: every member may be called from any thread.
class MemoryObjects {
public:
  /// Both outlive it.
  MemoryObjects(thunk::Memory& memory, const DeviceFile& file) : memory_(memory), file_(file) {}

  /// AMDKFD_IOC_ALLOC_MEMORY_OF_GPU. `node` is that of the GPU.
  int allocate(abi::AllocateMemory& args, std::uint32_t node);
  /// AMDKFD_IOC_FREE_MEMORY_OF_GPU.
  int free(std::uint64_t handle);
  /// AMDKFD_IOC_MAP_MEMORY_TO_GPU and its opposite: what is allocated can be accessed by every GPU here.
  int check(std::uint64_t handle);
  /// AMDKFD_IOC_EXPORT_DMABUF: a new descriptor.
  int export_file(std::uint64_t handle, std::uint32_t& descriptor);
  /// AMDKFD_IOC_IMPORT_DMABUF.
  int import_file(abi::ImportDmabuf& args);

  /// AMDKFD_IOC_IPC_EXPORT_HANDLE.
  int share(std::uint64_t handle, thunk::SharedHandle& shared);
  /// AMDKFD_IOC_IPC_IMPORT_HANDLE.
  int import_shared(abi::ImportShared& args);

  /// Where an object's memory is; null if there is no such object.
  [[nodiscard]] void* address_of(std::uint64_t handle);

private:
  struct Object {
    void* address = nullptr;
    std::uint64_t size = 0;
    bool is_memory = true;  ///< no pages of the device's file
  };

  [[nodiscard]] std::optional<Object> find(std::uint64_t handle);
  [[nodiscard]] std::uint64_t add(const Object& object);

  thunk::Memory& memory_;
  const DeviceFile& file_;
  std::mutex mutex_;
  std::map<std::uint64_t, Object> objects_;  ///< by handle
  std::uint64_t next_handle_ = 1;            ///< 0 is no object: addresses alone
};

/// HsaMemFlags of memory that was allocated with these KFD_IOC_ALLOC_MEM_FLAGS.
[[nodiscard]] HsaMemFlags thunk_flags(std::uint32_t kernel_flags) noexcept;
/// And back.
[[nodiscard]] std::uint32_t kernel_flags(std::uint32_t node, HsaMemFlags flags) noexcept;
/// The errno of an ioctl that would end so in the thunk.
[[nodiscard]] int error_number(HSAKMT_STATUS status) noexcept;

}  // namespace softgpu::kernel_interface
