// libdrm's functions that ROCr 7 looks up with the thunk. It maps, exports and imports memory without an address by
// them, which the soft GPU does not have; amdgpu_query_gpu_info is in libhsakmt.so.1.
#include <cerrno>
#include <cstdint>

#include <libdrm/amdgpu.h>

#define SOFTGPU_DRM extern "C" __attribute__((visibility("default")))

SOFTGPU_DRM int amdgpu_device_initialize(int /*file*/, std::uint32_t* /*major*/, std::uint32_t* /*minor*/,
                                         amdgpu_device_handle* /*device*/) {
  return -ENOTSUP;
}
SOFTGPU_DRM int amdgpu_device_deinitialize(amdgpu_device_handle /*device*/) { return -ENOTSUP; }
SOFTGPU_DRM int amdgpu_device_get_fd(amdgpu_device_handle /*device*/) { return -ENOTSUP; }
SOFTGPU_DRM const char* amdgpu_get_marketing_name(amdgpu_device_handle /*device*/) { return nullptr; }
SOFTGPU_DRM int amdgpu_bo_cpu_map(amdgpu_bo_handle /*memory*/, void** /*address*/) { return -ENOTSUP; }
SOFTGPU_DRM int amdgpu_bo_free(amdgpu_bo_handle /*memory*/) { return -ENOTSUP; }
SOFTGPU_DRM int amdgpu_bo_export(amdgpu_bo_handle /*memory*/, amdgpu_bo_handle_type /*type*/,
                                 std::uint32_t* /*handle*/) {
  return -ENOTSUP;
}
SOFTGPU_DRM int amdgpu_bo_import(amdgpu_device_handle /*device*/, amdgpu_bo_handle_type /*type*/,
                                 std::uint32_t /*handle*/, amdgpu_bo_import_result* /*result*/) {
  return -ENOTSUP;
}
SOFTGPU_DRM int amdgpu_bo_va_op(amdgpu_bo_handle /*memory*/, std::uint64_t /*offset*/, std::uint64_t /*size*/,
                                std::uint64_t /*address*/, std::uint64_t /*flags*/, std::uint32_t /*operation*/) {
  return -ENOTSUP;
}
SOFTGPU_DRM int amdgpu_bo_query_info(amdgpu_bo_handle /*memory*/, amdgpu_bo_info* /*info*/) { return -ENOTSUP; }
SOFTGPU_DRM int amdgpu_bo_set_metadata(amdgpu_bo_handle /*memory*/, amdgpu_bo_metadata* /*metadata*/) {
  return -ENOTSUP;
}
SOFTGPU_DRM int drmCommandWriteRead(int /*file*/, unsigned long /*command*/, void* /*data*/, unsigned long /*size*/) {
  return -ENOTSUP;
}
