// The functions that libhsakmt 7 adds to those of 6, for a ROCr 7 whose distribution keeps libhsakmt apart. What
// changes in structures is in layouts.hpp.
#pragma once

#include <cstdint>

#include <hsakmt.h>

// NOLINTBEGIN(clang-diagnostic-reserved-identifier): the names are the interface's.
extern "C" {

HSAKMT_STATUS HSAKMTAPI hsaKmtModelEnabled(bool* enabled);

HSAKMT_STATUS HSAKMTAPI hsaKmtCreateQueueExt(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
                                             HSA_QUEUE_PRIORITY priority, HSAuint32 sdma_engine, void* ring,
                                             HSAuint64 ring_bytes, HsaEvent* event, HsaQueueResource* resource);
/// Without the value that was stored to the doorbell's signal. Later releases pass it as a second argument.
HSAKMT_STATUS HSAKMTAPI hsaKmtQueueRingDoorbell(HSA_QUEUEID id);
/// `flags` is HSA_REGISTER_MEM_FLAGS, a union of one word.
HSAKMT_STATUS HSAKMTAPI hsaKmtRegisterGraphicsHandleToNodesExt(HSAuint64 file, HsaGraphicsResourceInfo* info,
                                                               HSAuint64 node_count, HSAuint32* nodes,
                                                               std::uint32_t flags);

}  // extern "C"
// NOLINTEND(clang-diagnostic-reserved-identifier)

namespace softgpu::thunk {

/// A queue type since libhsakmt 6.3: a copy queue on an SDMA engine that the caller chooses.
inline constexpr HSA_QUEUE_TYPE sdma_queue_by_engine = static_cast<HSA_QUEUE_TYPE>(6);

/// The bit requiresVAddr of HSA_REGISTER_MEM_FLAGS: imported memory gets an address.
inline constexpr std::uint32_t requires_address = 1;

}  // namespace softgpu::thunk
