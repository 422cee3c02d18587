// Queues.
#include <cstddef>

#include <hsa/amd_hsa_queue.h>

#include "softgpu/thunk/entry_points.hpp"

using softgpu::command_processor::QueueHandle;
using softgpu::thunk::SoftGpu;
using softgpu::thunk::with_driver;

namespace {

/// The thunk's interface passes the two indices only, but they lie in AMD's queue structure.
amd_queue_t* queue_of(const HsaQueueResource& resource) {
  auto* read_index = reinterpret_cast<std::byte*>(resource.Queue_read_ptr_aql);
  return reinterpret_cast<amd_queue_t*>(read_index - offsetof(amd_queue_t, read_dispatch_id));
}

}  // namespace

SOFTGPU_ENTRY hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 /*percentage*/,
                                HSA_QUEUE_PRIORITY /*priority*/, void* ring, HSAuint64 ring_bytes, HsaEvent* /*event*/,
                                HsaQueueResource* resource) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_gpu(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    const std::uint32_t index = node - 1;
    auto* bytes = static_cast<std::byte*>(ring);
    QueueHandle handle;
    switch (type) {
    case HSA_QUEUE_COMPUTE_AQL:
      handle = gpu.command_processor.create(softgpu::command_processor::AqlQueueMemory{
          .gpu = index, .ring = bytes, .ring_bytes = ring_bytes, .queue = queue_of(*resource)});
      break;
    case HSA_QUEUE_SDMA:
    case HSA_QUEUE_SDMA_XGMI:
      handle = gpu.command_processor.create(
          softgpu::command_processor::SdmaQueueMemory{.gpu = index, .ring = bytes, .ring_bytes = ring_bytes});
      resource->Queue_read_ptr_aql = handle.read_index;
      resource->Queue_write_ptr_aql = handle.write_index;
      break;
    default:
      return HSAKMT_STATUS_NOT_SUPPORTED;  // PM4 and multimedia queues
    }
    resource->QueueId = handle.id;
    resource->Queue_DoorBell_aql = handle.doorbell;
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage, HSA_QUEUE_PRIORITY /*priority*/, void* /*ring*/,
                                HSAuint64 /*ring_bytes*/, HsaEvent* /*event*/) {
  return with_driver([&](SoftGpu& gpu) {
    return gpu.command_processor.set_active(id, percentage != 0) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
  });
}

SOFTGPU_ENTRY hsaKmtDestroyQueue(HSA_QUEUEID id) {
  return with_driver([&](SoftGpu& gpu) {
    return gpu.command_processor.destroy(id) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
  });
}

SOFTGPU_ENTRY hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 bits, HSAuint32* mask) {
  return with_driver([&](SoftGpu& gpu) {
    if (bits == 0 || bits % 32 != 0 || mask == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
    return gpu.command_processor.enable_compute_units(id, {mask, bits / 32}) ? HSAKMT_STATUS_SUCCESS
                                                                             : HSAKMT_STATUS_INVALID_HANDLE;
  });
}

SOFTGPU_ENTRY hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32 count, HSAuint32* first) {
  return with_driver([&](SoftGpu& gpu) {
    if (count > softgpu::thunk::global_sync_resources) return HSAKMT_STATUS_OUT_OF_RESOURCES;
    if (!gpu.command_processor.provide_global_sync(id)) return HSAKMT_STATUS_INVALID_HANDLE;
    if (first != nullptr) *first = 0;
    return HSAKMT_STATUS_SUCCESS;
  });
}
