// Opening and closing, versions, topology, clocks.
#include <mutex>
#include <span>
#include <vector>

#include "softgpu/thunk/caller.hpp"
#include "softgpu/thunk/entry_points.hpp"
#include "softgpu/thunk/rocr_releases.hpp"

using softgpu::thunk::SoftGpu;
using softgpu::thunk::with_driver;

namespace {

/// Learns which ROCr this is. Says so once, if it is one that was not tested.
void look_at_caller(SoftGpu& gpu, const void* return_address) {
  const auto caller = softgpu::thunk::library_of(return_address);
  if (!caller) return;
  gpu.layouts = softgpu::thunk::layouts_of(*caller);
  static std::once_flag once;
  if (const auto warning = softgpu::thunk::unknown_rocr_warning(*caller))
    std::call_once(once, [&] { gpu.host.report_error(*warning); });
}

}  // namespace

/// Tells the soft GPU's libhsakmt.so.1 from AMD's: libfastdispatch looks for it (lib/dispatch/hsa/hsa_library.cpp).
extern "C" __attribute__((visibility("default"))) const int softgpu_mark;
extern "C" const int softgpu_mark = 1;

SOFTGPU_ENTRY hsaKmtOpenKFD() {
  if (!softgpu::thunk::open()) return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  look_at_caller(*softgpu::thunk::soft_gpu(), __builtin_return_address(0));
  return HSAKMT_STATUS_SUCCESS;
}

SOFTGPU_ENTRY hsaKmtCloseKFD() {
  return softgpu::thunk::close() ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
}

SOFTGPU_ENTRY hsaKmtGetVersion(HsaVersionInfo* version) {
  // 1.15: memory without an address, mapped by libdrm; 1.16: contiguous memory, as all of it is for GPUs here. At 1.0
  // ROCr would do without interrupts; from 1.17 on it chooses SDMA engines.
  *version = {.KernelInterfaceMajorVersion = 1, .KernelInterfaceMinorVersion = 16};
  return HSAKMT_STATUS_SUCCESS;
}

SOFTGPU_ENTRY hsaKmtAcquireSystemProperties(HsaSystemProperties* properties) {
  return with_driver([&](SoftGpu& gpu) {
    *properties = {};
    properties->NumNodes = gpu.topology.node_count();
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtReleaseSystemProperties() { return HSAKMT_STATUS_SUCCESS; }

SOFTGPU_ENTRY hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties* properties) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_node(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    softgpu::thunk::write_node_properties(gpu.topology.node(node), gpu.layouts, properties);
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count, HsaMemoryProperties* banks) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_node(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    gpu.topology.memory_banks(node, std::span(banks, count));
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor, HSAuint32 count,
                                           HsaCacheProperties* caches) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_node(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    gpu.topology.caches(node, processor, std::span(caches, count));
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count, HsaIoLinkProperties* links) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_node(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    std::vector<HsaIoLinkProperties> own(count);
    gpu.topology.links(node, own);
    softgpu::thunk::write_links(own, gpu.layouts, links);
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig* config) {
  return with_driver([&](SoftGpu& gpu) {
    if (!gpu.topology.is_gpu(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    config->NumTileConfigs = 0;  // of GPUs before gfx9
    config->NumMacroTileConfigs = 0;
    config->GbAddrConfig = gpu.topology.gb_addr_config(node);
    config->NumBanks = 0;
    config->NumRanks = 0;
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtGetClockCounters(HSAuint32 /*node*/, HsaClockCounters* counters) {
  // One clock for all, so that ROCr's conversion of profiling times is exact.
  const std::uint64_t now = softgpu::command_processor::gpu_clock();
  *counters = {.GPUClockCounter = now,
               .CPUClockCounter = now,
               .SystemClockCounter = now,
               .SystemClockFrequencyHz = 1'000'000'000};
  return HSAKMT_STATUS_SUCCESS;
}
