// The part of libdrm and libdrm_amdgpu that ROCr 6 and later call for a GPU. libhsakmt.so.1 comes before libdrm_amdgpu
// in the search for ROCr's symbols. A ROCr with the thunk built in gets them by ../kernel_interface.
//
// Others in the process may use libdrm for another GPU, such as a display's: their calls are passed on.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include <dlfcn.h>
#include <libdrm/amdgpu.h>
#include <libdrm/amdgpu_drm.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/compute/run_time/clocks.hpp"
#include "softgpu/thunk/drm_device.hpp"
#include "softgpu/thunk/soft_gpu.hpp"

#define SOFTGPU_DRM extern "C" __attribute__((visibility("default")))

extern "C" int drmCommandWriteRead(int file, unsigned long command, void* data, unsigned long size);

namespace softgpu::thunk {
namespace {

/// Null for another GPU's.
DrmDevice* soft_device(const void* handle) {
  const auto node = node_of_device(handle);
  return node ? drm_device(*node) : nullptr;
}

/// Null where the object is not one of the soft GPU's.
BufferObjects* objects_with(const void* object) {
  SoftGpu* gpu = soft_gpu();
  return gpu != nullptr && gpu->buffer_objects.has(object) ? &gpu->buffer_objects : nullptr;
}

/// Passes a call on to libdrm, if the process has it.
template <class Result, class... Parameters>
Result pass_to(const char* library, const char* name, Result without, Parameters... arguments) {
  void* loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == nullptr) return without;
  const auto function = reinterpret_cast<Result (*)(Parameters...)>(dlsym(loaded, name));
  const Result result = function != nullptr ? function(arguments...) : without;
  dlclose(loaded);
  return result;
}

template <class... Parameters>
int pass_on(const char* name, Parameters... arguments) {
  return pass_to("libdrm_amdgpu.so.1", name, -ENOTSUP, arguments...);
}

}  // namespace

}  // namespace softgpu::thunk

using softgpu::thunk::objects_with;
using softgpu::thunk::pass_on;
using softgpu::thunk::pass_to;
using softgpu::thunk::soft_device;

SOFTGPU_DRM int amdgpu_query_gpu_info(amdgpu_device_handle device, amdgpu_gpu_info* info) {
  if (soft_device(device) == nullptr) return pass_on("amdgpu_query_gpu_info", device, info);
  *info = {};
  if (const auto* gpu = softgpu::thunk::soft_gpu())
    info->family_id = gpu->topology.family_id(*softgpu::thunk::node_of_device(device));
  info->gpu_counter_freq = softgpu::compute::runtime::real_time_frequency / 1000;  // in kHz
  return 0;
}

// A soft GPU's file is there where ROCr calls the kernel's interface (../kernel_interface).
SOFTGPU_DRM int amdgpu_device_initialize(int file, std::uint32_t* major, std::uint32_t* minor,
                                         amdgpu_device_handle* device) {
  const auto node = softgpu::thunk::node_of_render_node(file);
  if (!node) return pass_on("amdgpu_device_initialize", file, major, minor, device);
  auto* soft = softgpu::thunk::drm_device(*node);
  if (softgpu::thunk::node_of_render_node(soft->descriptor()) != node)
    soft->set_descriptor(softgpu::thunk::open_render_node(*node));
  *major = 3;
  *minor = 0;
  *device = reinterpret_cast<amdgpu_device_handle>(soft);
  return soft->descriptor() < 0 ? -errno : 0;
}
SOFTGPU_DRM int amdgpu_device_deinitialize(amdgpu_device_handle device) {
  return soft_device(device) != nullptr ? 0 : pass_on("amdgpu_device_deinitialize", device);
}
SOFTGPU_DRM const char* amdgpu_get_marketing_name(amdgpu_device_handle device) {
  if (soft_device(device) != nullptr) return softgpu::thunk::marketing_name;
  return pass_to<const char*>("libdrm_amdgpu.so.1", "amdgpu_get_marketing_name", nullptr, device);
}

SOFTGPU_DRM int amdgpu_device_get_fd(amdgpu_device_handle device) {
  const auto* soft = soft_device(device);
  return soft != nullptr ? soft->descriptor() : pass_on("amdgpu_device_get_fd", device);
}

SOFTGPU_DRM int amdgpu_bo_import(amdgpu_device_handle device, amdgpu_bo_handle_type type, std::uint32_t handle,
                                 amdgpu_bo_import_result* result) {
  auto* soft = soft_device(device);
  if (soft == nullptr) return pass_on("amdgpu_bo_import", device, type, handle, result);
  auto* gpu = softgpu::thunk::soft_gpu();
  if (gpu == nullptr || type != amdgpu_bo_handle_type_dma_buf_fd) return -ENOTSUP;
  const auto imported = gpu->buffer_objects.import(static_cast<int>(handle));
  if (!imported) return -EINVAL;
  // ROCr asks for the device's file next, and maps the object by it: each object is a file of its own here.
  soft->set_descriptor(imported->descriptor);
  result->buf_handle = static_cast<amdgpu_bo_handle>(imported->object);
  result->alloc_size = imported->bytes;
  return 0;
}

SOFTGPU_DRM int amdgpu_bo_free(amdgpu_bo_handle object) {
  auto* objects = objects_with(object);
  return objects != nullptr ? objects->free(object) : pass_on("amdgpu_bo_free", object);
}

SOFTGPU_DRM int amdgpu_bo_export(amdgpu_bo_handle object, amdgpu_bo_handle_type type, std::uint32_t* handle) {
  auto* objects = objects_with(object);
  if (objects == nullptr) return pass_on("amdgpu_bo_export", object, type, handle);
  const auto number = objects->number_of(object);
  if (type != amdgpu_bo_handle_type_kms || !number) return -ENOTSUP;
  *handle = *number;
  return 0;
}

SOFTGPU_DRM int amdgpu_bo_cpu_map(amdgpu_bo_handle object, void** address) {
  auto* objects = objects_with(object);
  return objects != nullptr ? objects->map_for_host(object, *address) : pass_on("amdgpu_bo_cpu_map", object, address);
}

SOFTGPU_DRM int amdgpu_bo_va_op(amdgpu_bo_handle object, std::uint64_t offset, std::uint64_t size,
                                std::uint64_t address, std::uint64_t flags, std::uint32_t operation) {
  auto* objects = objects_with(object);
  if (objects == nullptr) return pass_on("amdgpu_bo_va_op", object, offset, size, address, flags, operation);
  void* place = softgpu::command_processor::at_address<void>(address);
  if (operation == AMDGPU_VA_OP_MAP) return objects->map(object, offset, size, place);
  return operation == AMDGPU_VA_OP_UNMAP ? objects->unmap(object, place) : -ENOTSUP;
}

// ROCr tells memory that another process shares with it by a number in its metadata.
SOFTGPU_DRM int amdgpu_bo_set_metadata(amdgpu_bo_handle object, amdgpu_bo_metadata* metadata) {
  auto* objects = objects_with(object);
  if (objects == nullptr) return pass_on("amdgpu_bo_set_metadata", object, metadata);
  return objects->attach(object, std::as_bytes(std::span(metadata, 1)));
}
SOFTGPU_DRM int amdgpu_bo_query_info(amdgpu_bo_handle object, amdgpu_bo_info* info) {
  auto* objects = objects_with(object);
  if (objects == nullptr) return pass_on("amdgpu_bo_query_info", object, info);
  softgpu::thunk::BufferObjects::Description description;
  amdgpu_bo_metadata metadata{};
  const int result = objects->describe(object, description, std::as_writable_bytes(std::span(&metadata, 1)));
  constexpr std::uint64_t page = 4096;
  *info = {};
  info->alloc_size = description.bytes;
  info->phys_alignment = page;
  info->preferred_heap = description.is_host_memory ? AMDGPU_GEM_DOMAIN_GTT : AMDGPU_GEM_DOMAIN_VRAM;
  info->metadata = metadata;
  return result;
}

SOFTGPU_DRM int drmCommandWriteRead(int file, unsigned long command, void* data, unsigned long size) {
  auto* gpu = softgpu::thunk::soft_gpu();
  if (gpu != nullptr && command == DRM_AMDGPU_GEM_MMAP && size == sizeof(drm_amdgpu_gem_mmap)) {
    auto& query = *static_cast<drm_amdgpu_gem_mmap*>(data);
    if (gpu->buffer_objects.is_file_of(query.in.handle, file)) {
      query.out.addr_ptr = 0;  // where in its file the object begins
      return 0;
    }
  }
  return pass_to("libdrm.so.2", "drmCommandWriteRead", -ENOTSUP, file, command, data, size);
}
