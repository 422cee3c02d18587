// What ROCr 7 finds in libhsakmt.so.1 where a distribution keeps the thunk apart.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hsakmt.h>
#include <libdrm/amdgpu.h>
#include <libdrm/amdgpu_drm.h>

#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

/// What ROCr 7.2.4 calls of the thunk and of libdrm.
constexpr const char* called =
    "amdgpu_bo_cpu_map amdgpu_bo_export amdgpu_bo_free amdgpu_bo_import "
    "amdgpu_bo_query_info amdgpu_bo_set_metadata amdgpu_bo_va_op amdgpu_device_deinitialize "
    "amdgpu_device_get_fd amdgpu_device_initialize amdgpu_get_marketing_name amdgpu_query_gpu_info "
    "drmCommandWriteRead hsaKmtAcquireSystemProperties hsaKmtAisReadWriteFile hsaKmtAllocMemory "
    "hsaKmtAllocMemoryAlign hsaKmtAllocQueueGWS hsaKmtAvailableMemory hsaKmtCheckRuntimeDebugSupport "
    "hsaKmtCloseKFD hsaKmtCreateEvent hsaKmtCreateQueue hsaKmtCreateQueueExt hsaKmtDbgAddressWatch "
    "hsaKmtDbgDisable hsaKmtDbgEnable hsaKmtDbgGetDeviceData hsaKmtDbgGetQueueData hsaKmtDbgRegister "
    "hsaKmtDbgUnregister hsaKmtDbgWavefrontControl hsaKmtDebugTrapIoctl hsaKmtDeregisterMemory "
    "hsaKmtDestroyEvent hsaKmtDestroyQueue hsaKmtExportDMABufHandle hsaKmtFreeMemory "
    "hsaKmtGetAMDGPUDeviceHandle hsaKmtGetClockCounters hsaKmtGetNodeCacheProperties "
    "hsaKmtGetNodeIoLinkProperties hsaKmtGetNodeMemoryProperties hsaKmtGetNodeProperties "
    "hsaKmtGetQueueInfo hsaKmtGetRuntimeCapabilities hsaKmtGetTileConfig hsaKmtGetVersion "
    "hsaKmtGetXNACKMode hsaKmtMapGraphicHandle hsaKmtMapMemoryToGPU hsaKmtMapMemoryToGPUNodes "
    "hsaKmtModelEnabled hsaKmtOpenKFD hsaKmtOpenSMI hsaKmtPcSamplingCreate hsaKmtPcSamplingDestroy "
    "hsaKmtPcSamplingQueryCapabilities hsaKmtPcSamplingStart hsaKmtPcSamplingStop "
    "hsaKmtPcSamplingSupport hsaKmtPmcAcquireTraceAccess hsaKmtPmcGetCounterProperties "
    "hsaKmtPmcQueryTrace hsaKmtPmcRegisterTrace hsaKmtPmcReleaseTraceAccess hsaKmtPmcStartTrace "
    "hsaKmtPmcStopTrace hsaKmtPmcUnregisterTrace hsaKmtProcessVMRead hsaKmtProcessVMWrite "
    "hsaKmtQueryEventState hsaKmtQueryPointerInfo hsaKmtQueueRingDoorbell "
    "hsaKmtRegisterGraphicsHandleToNodes hsaKmtRegisterGraphicsHandleToNodesExt hsaKmtRegisterMemory "
    "hsaKmtRegisterMemoryToNodes hsaKmtRegisterMemoryWithFlags hsaKmtRegisterSharedHandle "
    "hsaKmtRegisterSharedHandleToNodes hsaKmtReleaseSystemProperties hsaKmtReplaceAsanHeaderPage "
    "hsaKmtResetEvent hsaKmtReturnAsanHeaderPage hsaKmtRuntimeDisable hsaKmtRuntimeEnable "
    "hsaKmtSPMAcquire hsaKmtSPMRelease hsaKmtSPMSetDestBuffer hsaKmtSVMGetAttr hsaKmtSVMSetAttr "
    "hsaKmtSetEvent hsaKmtSetMemoryPolicy hsaKmtSetMemoryUserData hsaKmtSetQueueCUMask "
    "hsaKmtSetTrapHandler hsaKmtSetXNACKMode hsaKmtShareMemory hsaKmtUnmapGraphicHandle "
    "hsaKmtUnmapMemoryToGPU hsaKmtUpdateQueue hsaKmtWaitOnEvent hsaKmtWaitOnEvent_Ext "
    "hsaKmtWaitOnMultipleEvents hsaKmtWaitOnMultipleEvents_Ext ";

TEST(ThunkOf7, HasEveryFunctionThatRocrCalls) {
  void* library = dlopen(SOFTGPU_LIBHSAKMT, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::istringstream names(called);
  for (std::string name; names >> name;) EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name;
}

template <class Function>
Function* function_of(void* library, const char* name) {
  void* found = dlsym(library, name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}

// ROCr finds libdrm_amdgpu's amdgpu_device_get_fd before the soft GPU's. That one reads the device's own structure,
// whose layout is libdrm's secret: this looks whether it is still the one that the soft GPU writes.
TEST(ThunkOf7, MemoryWithoutAnAddressIsMappedByTheFileThatLibdrmTells) {
  void* library = dlopen(SOFTGPU_LIBHSAKMT, RTLD_NOW | RTLD_LOCAL);
  void* libdrm = dlopen("libdrm_amdgpu.so.1", RTLD_NOW | RTLD_LOCAL);
  if (libdrm == nullptr) GTEST_SKIP() << dlerror();
#define SOFTGPU_FUNCTION(name) const auto name##_of_softgpu = function_of<decltype(name)>(library, #name)
  SOFTGPU_FUNCTION(hsaKmtOpenKFD);
  SOFTGPU_FUNCTION(hsaKmtCloseKFD);
  SOFTGPU_FUNCTION(hsaKmtAllocMemory);
  SOFTGPU_FUNCTION(hsaKmtFreeMemory);
  SOFTGPU_FUNCTION(hsaKmtExportDMABufHandle);
  SOFTGPU_FUNCTION(hsaKmtGetAMDGPUDeviceHandle);
  SOFTGPU_FUNCTION(amdgpu_bo_import);
  SOFTGPU_FUNCTION(amdgpu_bo_export);
  SOFTGPU_FUNCTION(amdgpu_bo_free);
  SOFTGPU_FUNCTION(amdgpu_device_get_fd);
#undef SOFTGPU_FUNCTION
  using Command = int(int, unsigned long, void*, unsigned long);
  const auto command = function_of<Command>(library, "drmCommandWriteRead");
  const auto get_file = function_of<decltype(amdgpu_device_get_fd)>(libdrm, "amdgpu_device_get_fd");

  ASSERT_EQ(hsaKmtOpenKFD_of_softgpu(), HSAKMT_STATUS_SUCCESS);
  constexpr std::uint64_t size = 8192;
  HsaMemFlags flags{};
  flags.Value = memory_without_address;
  void* handle = nullptr;
  ASSERT_EQ(hsaKmtAllocMemory_of_softgpu(1, size, flags, &handle), HSAKMT_STATUS_SUCCESS);
  void* device = nullptr;
  ASSERT_EQ(hsaKmtGetAMDGPUDeviceHandle_of_softgpu(1, &device), HSAKMT_STATUS_SUCCESS);
  int exported = -1;
  HSAuint64 offset = 0;
  ASSERT_EQ(hsaKmtExportDMABufHandle_of_softgpu(handle, size, &exported, &offset), HSAKMT_STATUS_SUCCESS);
  amdgpu_bo_import_result imported{};
  ASSERT_EQ(amdgpu_bo_import_of_softgpu(static_cast<amdgpu_device_handle>(device), amdgpu_bo_handle_type_dma_buf_fd,
                                        static_cast<std::uint32_t>(exported), &imported),
            0);
  const int file = get_file(static_cast<amdgpu_device_handle>(device));
  EXPECT_EQ(file, amdgpu_device_get_fd_of_softgpu(static_cast<amdgpu_device_handle>(device)));
  std::uint32_t number = 0;
  ASSERT_EQ(amdgpu_bo_export_of_softgpu(imported.buf_handle, amdgpu_bo_handle_type_kms, &number), 0);
  drm_amdgpu_gem_mmap query{};
  query.in.handle = number;
  ASSERT_EQ(command(file, DRM_AMDGPU_GEM_MMAP, &query, sizeof query), 0);

  const auto map = [](int from, std::uint64_t at) {
    return static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, from, static_cast<off_t>(at)));
  };
  char* host = map(file, query.out.addr_ptr);
  char* other = map(exported, offset);
  host[100] = 6;
  EXPECT_EQ(other[100], 6);
  munmap(host, size);
  munmap(other, size);
  ::close(exported);
  EXPECT_EQ(amdgpu_bo_free_of_softgpu(imported.buf_handle), 0);
  EXPECT_EQ(hsaKmtFreeMemory_of_softgpu(handle, size), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtCloseKFD_of_softgpu(), HSAKMT_STATUS_SUCCESS);
}

}  // namespace
}  // namespace softgpu::thunk
