#include "softgpu/thunk/topology.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

#include <unistd.h>

#include "softgpu/compute/execution/compute_units.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/run_time/clocks.hpp"
#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::uint32_t host_cache_levels = 3;
constexpr std::uint32_t gpu_cache_levels = 2;

void set_marketing_name(HsaNodeProperties& properties, std::string_view name) {
  const std::size_t length = std::min<std::size_t>(name.size(), HSA_PUBLIC_NAME_SIZE - 1);
  std::copy_n(name.begin(), length, properties.MarketingName);
}

std::string host_processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

/// The size that the C library reports, or a usual size if a virtual machine hides it: rocminfo needs a data cache.
std::uint32_t host_cache_kilobytes(unsigned level) {
  constexpr std::array<int, host_cache_levels> names = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                                        _SC_LEVEL3_CACHE_SIZE};
  constexpr std::array<std::uint32_t, host_cache_levels> usual = {32, 1024, 16384};
  const long bytes = sysconf(names[level - 1]);
  return bytes > 0 ? static_cast<std::uint32_t>(bytes / 1024) : usual[level - 1];
}

/// Scratch for every wave that the workers can run at once: each worker has the slots of one largest work-group.
std::uint32_t scratch_waves_per_compute_unit(const Environment& environment) {
  const std::uint32_t waves = environment.threads * compute::max_waves_per_group;
  return (waves + environment.compute_units - 1) / environment.compute_units;
}

}  // namespace

Topology::Topology(const Environment& environment) : environment_(environment), host_name_(host_processor_name()) {}

HsaNodeProperties Topology::node(std::uint32_t node) const { return node == 0 ? host() : gpu(node); }

HsaNodeProperties Topology::host() const {
  HsaNodeProperties properties{};
  properties.NumCPUCores = static_cast<HSAuint32>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  properties.NumMemoryBanks = 1;
  properties.NumCaches = host_cache_levels;
  // The driver reports a link from the host to a GPU only if the host sees all of the GPU's memory. ROCr concludes so
  // from the link.
  properties.NumIOLinks = environment_.large_bar != 0 ? environment_.gpus : 0;
  set_marketing_name(properties, host_name_);
  return properties;
}

HsaNodeProperties Topology::gpu(std::uint32_t node) const {
  HsaNodeProperties properties{};
  const compute::Architecture& architecture = environment_.architecture_of(node - 1);
  const std::uint32_t compute_units = environment_.compute_units;
  const std::uint32_t engines = compute::shader_engines(compute_units);

  properties.NumFComputeCores = compute_units * architecture.compute_unit->simds;
  properties.NumSIMDPerCU = architecture.compute_unit->simds;
  properties.NumShaderBanks = engines;
  properties.NumArrays = 1;
  properties.NumCUPerArray = (compute_units + engines - 1) / engines;
  properties.MaxWavesPerSIMD = architecture.compute_unit->most_waves_per_simd;
  properties.WaveFrontSize = architecture.wavefront_size;
  properties.MaxSlotsScratchCU = scratch_waves_per_compute_unit(environment_);
  properties.LDSSizeInKB = architecture.compute_unit->lds_bytes / 1024;
  properties.VGPRSizePerCU = 512 * 1024;
  properties.SGPRSizePerCU = 12800;
  properties.FComputeIdLo = 0x80001000 + (node - 1) * 0x1000;

  properties.NumMemoryBanks = 3;
  properties.NumCaches = gpu_cache_levels;
  properties.NumIOLinks = environment_.gpus;  // the host and every other GPU

  // Doorbells of 8 bytes that take packet indices, and no exception reporting through the debugger's interface.
  properties.Capability.ui32.DoorbellType = 2;
  properties.Capability.ui32.QueueSizePowerOfTwo = 1;
  properties.Capability.ui32.SRAM_EDCSupport = 1;
  properties.Capability.ui32.WatchPointsSupported = 1;
  properties.Capability.ui32.WatchPointsTotalBits = 2;  // four of them
  properties.Capability.ui32.ASICRevision = 1;
  properties.Capability.ui32.SVMAPISupported = 1;

  properties.EngineId.ui32.Major = architecture.major;
  properties.EngineId.ui32.Minor = architecture.minor;
  properties.EngineId.ui32.Stepping = architecture.stepping;
  // Older than the firmware that gives scratch memory back by itself, which ROCr 7.2 expects from 24 on (gfx950), from
  // 177 on (gfx942).
  properties.EngineId.ui32.uCode = 20;
  properties.uCodeEngineVersions.uCodeSDMA = 8;

  properties.VendorId = 0x1002;
  properties.DeviceId = architecture.device_id;
  properties.LocationId = 0x100 * (node + 0x28);
  properties.DrmRenderMinor = static_cast<HSAint32>(render_minor(node));
  properties.UniqueID = 0x50f790a0 + node;
  properties.MaxEngineClockMhzFCompute = compute::runtime::shader_megahertz;
  set_marketing_name(properties, marketing_name);
  std::ranges::copy(architecture.amd_name, properties.AMDName);

  properties.NumSdmaEngines = 2;
  properties.NumSdmaQueuesPerEngine = 8;
  properties.NumCpQueues = 24;
  properties.NumGws = global_sync_resources;

  const NodePropertiesOf6 since_6{.num_xcc = 1, .kfd_gpu_id = gpu_id(node), .family_id = architecture.family_id};
  std::memcpy(reinterpret_cast<std::byte*>(&properties) + node_properties_of_6_offset, &since_6, sizeof(since_6));
  return properties;
}

void Topology::memory_banks(std::uint32_t node, std::span<HsaMemoryProperties> banks) const {
  std::fill(banks.begin(), banks.end(), HsaMemoryProperties{});
  std::array<HsaMemoryProperties, 3> all{};
  if (node == 0) {
    all[0].HeapType = HSA_HEAPTYPE_SYSTEM;
    all[0].SizeInBytes =
        static_cast<HSAuint64>(sysconf(_SC_PHYS_PAGES)) * static_cast<HSAuint64>(sysconf(_SC_PAGESIZE));
    all[0].Width = 64;
    all[0].MemoryClockMax = 3200;
  } else {
    // Public: the host may read and write device memory, as on an MI200 with a resizable BAR.
    all[0].HeapType =
        environment_.large_bar != 0 ? HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC : HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE;
    all[0].SizeInBytes = environment_.memory_bytes;
    all[0].Width = 4096;
    all[0].MemoryClockMax = 1600;
    all[1].HeapType = HSA_HEAPTYPE_GPU_LDS;
    all[1].SizeInBytes = environment_.architecture_of(node - 1).compute_unit->lds_bytes;
    all[1].VirtualBaseAddress = shared_aperture;
    all[2].HeapType = HSA_HEAPTYPE_GPU_SCRATCH;
    all[2].SizeInBytes = std::uint64_t{1} << 32;
    all[2].VirtualBaseAddress = private_aperture;
  }
  std::copy_n(all.begin(), std::min(banks.size(), node == 0 ? std::size_t{1} : all.size()), banks.begin());
}

void Topology::caches(std::uint32_t node, std::uint32_t processor, std::span<HsaCacheProperties> caches) const {
  unsigned level = 0;
  for (HsaCacheProperties& cache : caches) {
    cache = {};
    ++level;
    cache.ProcessorIdLow = processor;
    cache.CacheLevel = level;
    cache.CacheType.ui32.Data = 1;
    if (node == 0) {
      cache.CacheSize = host_cache_kilobytes(std::min(level, host_cache_levels));
      cache.CacheLineSize = 64;
      cache.CacheType.ui32.CPU = 1;
    } else {
      cache.CacheSize = level == 1 ? 16 : 8192;
      cache.CacheLineSize = level == 1 ? 64 : 128;
      cache.CacheType.ui32.HSACU = 1;
    }
  }
}

void Topology::links(std::uint32_t node, std::span<HsaIoLinkProperties> links) const {
  const auto has_xgmi = [&](std::uint32_t end) {
    return end == 0 || environment_.architecture_of(end - 1).xgmi_to_host;
  };
  std::uint32_t other = 0;
  for (HsaIoLinkProperties& link : links) {
    link = {};
    if (other == node) ++other;
    const bool is_xgmi = has_xgmi(node) && has_xgmi(other) && environment_.strict == 0;
    link.IoLinkType = is_xgmi ? HSA_IOLINK_TYPE_XGMI : HSA_IOLINKTYPE_PCIEXPRESS;
    link.NodeFrom = node;
    link.NodeTo = other++;
    link.Weight = 20;
    link.MaximumBandwidth = 32000;
    link.Flags.ui32.Override = 1;
    // With atomics of 64 bits, ROCr completes copies by one.
    link.Flags.ui32.NoAtomics64bit = environment_.strict;
  }
}

}  // namespace softgpu::thunk
