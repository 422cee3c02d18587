// The door of ROCr 7, libdtif.so.
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace softgpu::thunk {
namespace {

/// What the library of ROCr 7.2.4 names of the thunk and of libdrm. It looks them up, and one that is missing ends it.
constexpr const char* looked_up =
    "DtifCreate DtifDestroy amdgpu_bo_cpu_map amdgpu_bo_export amdgpu_bo_free amdgpu_bo_import "
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

TEST(Dtif, HasEveryFunctionThatRocrLooksUp) {
  void* library = dlopen(SOFTGPU_LIBDTIF, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::istringstream names(looked_up);
  for (std::string name; names >> name;) EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name;
  EXPECT_NE(dlsym(library, "softgpu_mark"), nullptr) << "the thunk beside it is the soft GPU's";
}

TEST(Dtif, IsThere) {
  void* library = dlopen(SOFTGPU_LIBDTIF, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<void* (*)(const char*)>(dlsym(library, "DtifCreate"));
  ASSERT_NE(create, nullptr);
  EXPECT_NE(create("HSA"), nullptr);
}

}  // namespace
}  // namespace softgpu::thunk
