// The functions of libhsakmt 7 that ROCr 7 calls.
#include "softgpu/thunk/hsakmt_7.hpp"

#include <cstddef>
#include <cstring>

#include "softgpu/thunk/entry_points.hpp"
#include "softgpu/thunk/hsakmt_6.hpp"

using softgpu::thunk::Memory;
using softgpu::thunk::SoftGpu;
using softgpu::thunk::with_driver;

/// A function of this name that takes any arguments and does nothing. Its name in C++ is another one: the headers of
/// some releases declare it with its arguments, those of others do not.
#define SOFTGPU_REFUSE(name)                                                                                           \
  extern "C" __attribute__((visibility("default"))) HSAKMT_STATUS HSAKMTAPI refuse_##name() __asm__(#name);            \
  HSAKMT_STATUS HSAKMTAPI refuse_##name() { return HSAKMT_STATUS_NOT_SUPPORTED; }

SOFTGPU_ENTRY hsaKmtModelEnabled(bool* enabled) {
  *enabled = false;  // AMD's own models keep device memory apart from the host's; here it is the same
  return HSAKMT_STATUS_SUCCESS;
}

SOFTGPU_ENTRY hsaKmtCreateQueueExt(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
                                   HSA_QUEUE_PRIORITY priority, HSAuint32 /*sdma_engine*/, void* ring,
                                   HSAuint64 ring_bytes, HsaEvent* event, HsaQueueResource* resource) {
  const HSA_QUEUE_TYPE any_engine = type == softgpu::thunk::sdma_queue_by_engine ? HSA_QUEUE_SDMA : type;
  return hsaKmtCreateQueue(node, any_engine, percentage, priority, ring, ring_bytes, event, resource);
}

SOFTGPU_ENTRY hsaKmtQueueRingDoorbell(HSA_QUEUEID id) {
  return with_driver([&](SoftGpu& gpu) {
    return gpu.command_processor.ring(id) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
  });
}

SOFTGPU_ENTRY hsaKmtResetEvent(HsaEvent* event) {
  if (event == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  return with_driver([&](SoftGpu& gpu) {
    gpu.events.clear(event);
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtRegisterMemory(void* address, HSAuint64 size) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.register_host(address, size, HsaMemFlags{}); });
}

SOFTGPU_ENTRY hsaKmtRegisterMemoryToNodes(void* address, HSAuint64 size, HSAuint64 /*node_count*/,
                                          HSAuint32* /*nodes*/) {
  return hsaKmtRegisterMemory(address, size);
}

SOFTGPU_ENTRY hsaKmtRegisterGraphicsHandleToNodesExt(HSAuint64 file, HsaGraphicsResourceInfo* info,
                                                     HSAuint64 node_count, HSAuint32* /*nodes*/, std::uint32_t flags) {
  // As AMD's: a handle for nobody in particular, unless an address is asked for.
  const bool is_handle = node_count == 0 && (flags & softgpu::thunk::requires_address) == 0;
  return with_driver([&](SoftGpu& gpu) {
    Memory::Imported imported;
    const HSAKMT_STATUS status = gpu.memory.import_file(
        static_cast<int>(file), is_handle ? Memory::Import::handle : Memory::Import::mapped, imported);
    *info = {};
    info->MemoryAddress = imported.address;
    info->SizeInBytes = imported.bytes;
    std::memcpy(reinterpret_cast<std::byte*>(info) + softgpu::thunk::resource_node_offset, &imported.node,
                sizeof(imported.node));
    return status;
  });
}

SOFTGPU_ENTRY hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 file, HsaGraphicsResourceInfo* info, HSAuint64 node_count,
                                                  HSAuint32* nodes) {
  return hsaKmtRegisterGraphicsHandleToNodesExt(file, info, node_count, nodes, 0);
}

// What the soft GPU does not offer. ROCr 7.2 calls these:
SOFTGPU_REFUSE(hsaKmtAisReadWriteFile)
SOFTGPU_REFUSE(hsaKmtCheckRuntimeDebugSupport)
SOFTGPU_REFUSE(hsaKmtDbgAddressWatch)
SOFTGPU_REFUSE(hsaKmtDbgRegister)
SOFTGPU_REFUSE(hsaKmtDbgUnregister)
SOFTGPU_REFUSE(hsaKmtDbgWavefrontControl)
SOFTGPU_REFUSE(hsaKmtDebugTrapIoctl)
SOFTGPU_REFUSE(hsaKmtGetQueueInfo)
SOFTGPU_REFUSE(hsaKmtMapGraphicHandle)
SOFTGPU_REFUSE(hsaKmtPmcAcquireTraceAccess)
SOFTGPU_REFUSE(hsaKmtPmcGetCounterProperties)
SOFTGPU_REFUSE(hsaKmtPmcQueryTrace)
SOFTGPU_REFUSE(hsaKmtPmcRegisterTrace)
SOFTGPU_REFUSE(hsaKmtPmcReleaseTraceAccess)
SOFTGPU_REFUSE(hsaKmtPmcStartTrace)
SOFTGPU_REFUSE(hsaKmtPmcStopTrace)
SOFTGPU_REFUSE(hsaKmtPmcUnregisterTrace)
SOFTGPU_REFUSE(hsaKmtProcessVMRead)
SOFTGPU_REFUSE(hsaKmtProcessVMWrite)
SOFTGPU_REFUSE(hsaKmtQueryEventState)
SOFTGPU_REFUSE(hsaKmtUnmapGraphicHandle)
// And later releases these:
SOFTGPU_REFUSE(hsaKmtCreateQueueV2)
SOFTGPU_REFUSE(hsaKmtGetCoreDeviceInfo)
SOFTGPU_REFUSE(hsaKmtGetCoreRuntimeInfo)
SOFTGPU_REFUSE(hsaKmtGetNodeWallclockFrequency)
SOFTGPU_REFUSE(hsaKmtHandleImport)
SOFTGPU_REFUSE(hsaKmtMemHandleFree)
SOFTGPU_REFUSE(hsaKmtMemoryCpuMap)
SOFTGPU_REFUSE(hsaKmtMemoryGetCpuAddr)
SOFTGPU_REFUSE(hsaKmtMemoryVaMap)
SOFTGPU_REFUSE(hsaKmtMemoryVaUnmap)

#undef SOFTGPU_REFUSE
