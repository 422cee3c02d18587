// The part of libdrm_amdgpu that ROCr 6 calls for a GPU.
#include <array>
#include <cerrno>
#include <cstddef>

#include <dlfcn.h>
#include <libdrm/amdgpu.h>

#include "softgpu/compute/run_time/memory_runtime.hpp"
#include "softgpu/thunk/drm_device.hpp"

namespace softgpu::thunk {
namespace {

/// Larger than libdrm_amdgpu's device, whose layout is private.
struct alignas(64) Device {
  std::array<std::byte, 4096> zeros;
};
constexpr std::size_t most_gpus = 16;
std::array<Device, most_gpus> devices;

bool is_soft_gpu(amdgpu_device_handle handle) {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  const auto first = reinterpret_cast<std::uintptr_t>(devices.data());
  return address >= first && address - first < sizeof(devices);
}

/// A program may use libdrm_amdgpu for a display's GPU beside ROCr.
int query_other_gpu(amdgpu_device_handle handle, amdgpu_gpu_info* info) {
  static void* const library = dlopen("libdrm_amdgpu.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return -EINVAL;
  static const auto query = reinterpret_cast<decltype(&amdgpu_query_gpu_info)>(dlsym(library, "amdgpu_query_gpu_info"));
  return query != nullptr ? query(handle, info) : -EINVAL;
}

}  // namespace

void* drm_device(std::uint32_t node) noexcept { return &devices.at(node - 1); }

}  // namespace softgpu::thunk

extern "C" __attribute__((visibility("default"))) int amdgpu_query_gpu_info(amdgpu_device_handle handle,
                                                                            amdgpu_gpu_info* info) {
  if (!softgpu::thunk::is_soft_gpu(handle)) return softgpu::thunk::query_other_gpu(handle, info);
  *info = {};
  info->gpu_counter_freq = softgpu::compute::runtime::real_time_frequency / 1000;  // in kHz
  return 0;
}
