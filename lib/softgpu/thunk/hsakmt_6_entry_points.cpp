// The functions that libhsakmt 6 adds to those of 5.2.
//
// The driver says that it has no debugger's interface. Its functions are here because the dynamic linker needs them
// before ROCr starts.
#include "softgpu/thunk/drm_device.hpp"
#include "softgpu/thunk/entry_points.hpp"
#include "softgpu/thunk/hsakmt_6.hpp"

using softgpu::thunk::SoftGpu;
using softgpu::thunk::with_driver;

// The ages stay as they are. ROCr tells the driver by them which events a thread has seen; here each thread is released
// once for each time that an event is set (events.hpp).
SOFTGPU_ENTRY hsaKmtWaitOnEvent_Ext(HsaEvent* event, HSAuint32 milliseconds, uint64_t* /*event_age*/) {
  return hsaKmtWaitOnEvent(event, milliseconds);
}

SOFTGPU_ENTRY hsaKmtWaitOnMultipleEvents_Ext(HsaEvent** events, HSAuint32 count, bool all, HSAuint32 milliseconds,
                                             uint64_t* /*event_age*/) {
  return hsaKmtWaitOnMultipleEvents(events, count, all, milliseconds);
}

SOFTGPU_ENTRY hsaKmtAllocMemoryAlign(HSAuint32 node, HSAuint64 size, HSAuint64 alignment, HsaMemFlags flags,
                                     void** address) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.allocate(node, size, flags, *address, alignment); });
}

SOFTGPU_ENTRY hsaKmtAvailableMemory(HSAuint32 node, HSAuint64* bytes) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_gpu(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    *bytes = gpu.memory.available(node);
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void** handle) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_gpu(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    *handle = softgpu::thunk::drm_device(node);
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtGetRuntimeCapabilities(HSAuint32* mask) {
  *mask = 0;  // no core dumps of the GPU
  return HSAKMT_STATUS_SUCCESS;
}

SOFTGPU_ENTRY hsaKmtExportDMABufHandle(void* address, HSAuint64 size, int* file, HSAuint64* offset) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.export_file(address, size, *file, *offset); });
}

// AMD's own library has these in builds for its address sanitizer only.
SOFTGPU_ENTRY hsaKmtReplaceAsanHeaderPage(void* /*address*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtReturnAsanHeaderPage(void* /*address*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }

SOFTGPU_ENTRY hsaKmtOpenSMI(HSAuint32 /*node*/, int* /*file*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }

SOFTGPU_ENTRY hsaKmtDbgEnable(void** /*runtime_info*/, HSAuint32* /*size*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtDbgDisable() { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtDbgGetDeviceData(void** /*data*/, HSAuint32* /*count*/, HSAuint32* /*entry_size*/) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
SOFTGPU_ENTRY hsaKmtDbgGetQueueData(void** /*data*/, HSAuint32* /*count*/, HSAuint32* /*entry_size*/,
                                    bool /*suspend*/) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

// Performance counters in a stream, and samples of the program counter.
SOFTGPU_ENTRY hsaKmtSPMAcquire(HSAuint32 /*node*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtSPMRelease(HSAuint32 /*node*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtSPMSetDestBuffer(HSAuint32 /*node*/, HSAuint32 /*size*/, HSAuint32* /*timeout*/,
                                     HSAuint32* /*copied*/, void* /*destination*/, bool* /*is_lost*/) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
SOFTGPU_ENTRY hsaKmtPcSamplingSupport() { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtPcSamplingQueryCapabilities(HSAuint32 /*node*/, void* /*info*/, HSAuint32 /*count*/,
                                                HSAuint32* /*needed*/) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
SOFTGPU_ENTRY hsaKmtPcSamplingCreate(HSAuint32 /*node*/, struct _HsaPcSamplingInfo* /*info*/, HSAuint32* /*trace*/) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
SOFTGPU_ENTRY hsaKmtPcSamplingDestroy(HSAuint32 /*node*/, HSAuint32 /*trace*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtPcSamplingStart(HSAuint32 /*node*/, HSAuint32 /*trace*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }
SOFTGPU_ENTRY hsaKmtPcSamplingStop(HSAuint32 /*node*/, HSAuint32 /*trace*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }
