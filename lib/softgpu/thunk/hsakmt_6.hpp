// The interface that libhsakmt 6 adds to 5.2, the oldest supported release; every difference between the two is here.
// One library serves the ROCr of both: fields were only added in bytes that 5.2 reserves. Compiles with the headers of
// both.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hsakmt.h>

namespace softgpu::thunk {

/// The end of HsaNodeProperties since libhsakmt 6, reserved bytes before. ROCr 6 divides by the first.
struct NodePropertiesOf6 {
  std::uint32_t num_xcc;     ///< NumXcc: accelerator complex dies
  std::uint32_t kfd_gpu_id;  ///< KFDGpuID
  std::uint32_t family_id;   ///< FamilyID, from the kernel's list of GPU families
};
inline constexpr std::size_t node_properties_of_6_offset = offsetof(HsaNodeProperties, SGPRSizePerCU) + 4;
static_assert(node_properties_of_6_offset + sizeof(NodePropertiesOf6) <= sizeof(HsaNodeProperties));

/// HsaGraphicsResourceInfo::NodeId, reserved before: the GPU that exported the memory.
inline constexpr std::size_t resource_node_offset = offsetof(HsaGraphicsResourceInfo, MetadataSizeInBytes) + 4;
static_assert(resource_node_offset + sizeof(std::uint32_t) <= sizeof(HsaGraphicsResourceInfo));

/// HsaHwException, which ROCr 6 writes into an event's data, fits where 5.2 has the memory fault alone.
static_assert(sizeof(HsaMemoryAccessFault) >= 4 * sizeof(std::uint32_t));

/// Bits of HsaMemFlags since libhsakmt 6: memory without an address, and addresses without memory.
inline constexpr std::uint32_t memory_without_address = 1U << 18;
inline constexpr std::uint32_t address_without_memory = 1U << 19;

/// HSA_POINTER_RESERVED_ADDR: what a pointer to addresses without memory is.
inline constexpr HSA_POINTER_TYPE pointer_to_reserved_addresses = static_cast<HSA_POINTER_TYPE>(5);

}  // namespace softgpu::thunk

// NOLINTBEGIN(clang-diagnostic-reserved-identifier): the names are the interface's.
extern "C" {

struct _HsaPcSamplingInfo;

HSAKMT_STATUS HSAKMTAPI hsaKmtWaitOnEvent_Ext(HsaEvent* event, HSAuint32 milliseconds, uint64_t* event_age);
HSAKMT_STATUS HSAKMTAPI hsaKmtWaitOnMultipleEvents_Ext(HsaEvent* events[], HSAuint32 count, bool all,
                                                       HSAuint32 milliseconds, uint64_t* event_age);

HSAKMT_STATUS HSAKMTAPI hsaKmtAllocMemoryAlign(HSAuint32 node, HSAuint64 size, HSAuint64 alignment, HsaMemFlags flags,
                                               void** address);
HSAKMT_STATUS HSAKMTAPI hsaKmtAvailableMemory(HSAuint32 node, HSAuint64* bytes);
HSAKMT_STATUS HSAKMTAPI hsaKmtExportDMABufHandle(void* address, HSAuint64 size, int* file, HSAuint64* offset);
HSAKMT_STATUS HSAKMTAPI hsaKmtReplaceAsanHeaderPage(void* address);
HSAKMT_STATUS HSAKMTAPI hsaKmtReturnAsanHeaderPage(void* address);

HSAKMT_STATUS HSAKMTAPI hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void** handle);
HSAKMT_STATUS HSAKMTAPI hsaKmtOpenSMI(HSAuint32 node, int* file);

HSAKMT_STATUS HSAKMTAPI hsaKmtGetRuntimeCapabilities(HSAuint32* mask);
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgEnable(void** runtime_info, HSAuint32* size);
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgDisable(void);
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgGetDeviceData(void** data, HSAuint32* count, HSAuint32* entry_size);
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgGetQueueData(void** data, HSAuint32* count, HSAuint32* entry_size, bool suspend);

HSAKMT_STATUS HSAKMTAPI hsaKmtPcSamplingSupport(void);
HSAKMT_STATUS HSAKMTAPI hsaKmtPcSamplingQueryCapabilities(HSAuint32 node, void* info, HSAuint32 count,
                                                          HSAuint32* needed);
HSAKMT_STATUS HSAKMTAPI hsaKmtPcSamplingCreate(HSAuint32 node, struct _HsaPcSamplingInfo* info, HSAuint32* trace);
HSAKMT_STATUS HSAKMTAPI hsaKmtPcSamplingDestroy(HSAuint32 node, HSAuint32 trace);
HSAKMT_STATUS HSAKMTAPI hsaKmtPcSamplingStart(HSAuint32 node, HSAuint32 trace);
HSAKMT_STATUS HSAKMTAPI hsaKmtPcSamplingStop(HSAuint32 node, HSAuint32 trace);

}  // extern "C"
// NOLINTEND(clang-diagnostic-reserved-identifier)
