#include "softgpu/kernel_interface/system_files.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::kernel_interface {
namespace {

using thunk::Topology;

constexpr std::string_view root = "/sys/devices/virtual/kfd/kfd/topology";
constexpr const char* properties_file = "/properties";

/// Lines of a name and a number.
class Lines {
public:
  Lines& add(const char* name, std::uint64_t value) {
    text_ << name << ' ' << value << '\n';
    return *this;
  }
  [[nodiscard]] std::string text() const { return text_.str(); }

private:
  std::ostringstream text_;
};

/// The first processor's number in its interrupt controller, by which ROCr finds its name in the same file.
std::uint64_t first_apic_id() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("apicid")) return std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
  return 0;
}

std::string host_properties(const HsaNodeProperties& node) {
  return Lines()
      .add("cpu_cores_count", node.NumCPUCores)
      .add("simd_count", 0)
      .add("mem_banks_count", 1)
      .add("caches_count", 0)  // ROCr reads the host's where the system has them
      .add("io_links_count", node.NumIOLinks)
      .add("p2p_links_count", 0)
      .add("cpu_core_id_base", first_apic_id())
      .text();
}

std::string gpu_properties(const Topology& topology, std::uint32_t index) {
  const HsaNodeProperties node = topology.node(index);
  const std::uint64_t version =
      node.EngineId.ui32.Major * 10000 + node.EngineId.ui32.Minor * 100 + node.EngineId.ui32.Stepping;
  return Lines()
      .add("cpu_cores_count", 0)
      .add("simd_count", node.NumFComputeCores)
      .add("mem_banks_count", 1)  // ROCr adds LDS and scratch
      .add("caches_count", node.NumCaches)
      .add("io_links_count", node.NumIOLinks)
      .add("p2p_links_count", 0)
      .add("simd_id_base", node.FComputeIdLo)
      .add("max_waves_per_simd", node.MaxWavesPerSIMD)
      .add("lds_size_in_kb", node.LDSSizeInKB)
      .add("gds_size_in_kb", 0)
      .add("num_gws", node.NumGws)
      .add("wave_front_size", node.WaveFrontSize)
      .add("array_count", node.NumShaderBanks * node.NumArrays)
      .add("simd_arrays_per_engine", node.NumArrays)
      .add("cu_per_simd_array", node.NumCUPerArray)
      .add("simd_per_cu", node.NumSIMDPerCU)
      .add("max_slots_scratch_cu", node.MaxSlotsScratchCU)
      .add("gfx_target_version", version)
      .add("vendor_id", node.VendorId)
      .add("device_id", node.DeviceId)
      .add("location_id", node.LocationId)
      .add("domain", 0)
      .add("drm_render_minor", Topology::render_minor(index))
      .add("hive_id", 0)
      .add("num_sdma_engines", node.NumSdmaEngines)
      .add("num_sdma_xgmi_engines", 0)
      .add("num_sdma_queues_per_engine", node.NumSdmaQueuesPerEngine)
      .add("num_cp_queues", node.NumCpQueues)
      .add("max_engine_clk_fcompute", node.MaxEngineClockMhzFCompute)
      .add("local_mem_size", 0)
      .add("fw_version", node.EngineId.ui32.uCode)
      .add("capability", node.Capability.Value)
      .add("debug_prop", 0)
      .add("sdma_fw_version", node.uCodeEngineVersions.uCodeSDMA)
      .add("unique_id", node.UniqueID)
      .add("num_xcc", 1)
      .add("family_id", topology.family_id(index))
      .text();
}

std::string bank_properties(const HsaMemoryProperties& bank) {
  return Lines()
      .add("heap_type", bank.HeapType)
      .add("size_in_bytes", bank.SizeInBytes)
      .add("flags", 0)
      .add("width", bank.Width)
      .add("mem_clk_max", bank.MemoryClockMax)
      .text();
}

std::string cache_properties(const HsaCacheProperties& cache) {
  return Lines()
      .add("processor_id_low", cache.ProcessorIdLow)
      .add("level", cache.CacheLevel)
      .add("size", cache.CacheSize)
      .add("cache_line_size", cache.CacheLineSize)
      .add("type", cache.CacheType.Value)
      .text();
}

std::string link_properties(const HsaIoLinkProperties& link) {
  return Lines()
      .add("type", link.IoLinkType)
      .add("version_major", 0)
      .add("version_minor", 0)
      .add("node_from", link.NodeFrom)
      .add("node_to", link.NodeTo)
      .add("weight", link.Weight)
      .add("min_latency", 0)
      .add("max_latency", 0)
      .add("min_bandwidth", 0)
      .add("max_bandwidth", link.MaximumBandwidth)
      .add("recommended_transfer_size", 0)
      .add("flags", link.Flags.LinkProperty)
      .text();
}

}  // namespace

SystemFiles::SystemFiles(const Topology& topology) {
  const std::string top(root);
  files_[top + "/generation_id"] = "1\n";
  files_[top + "/system_properties"] =
      Lines().add("platform_oem", 0).add("platform_id", 0).add("platform_rev", 0).text();
  for (std::uint32_t index = 0; index != topology.node_count(); ++index) {
    const std::string folder = top + "/nodes/" + std::to_string(index);
    const HsaNodeProperties node = topology.node(index);
    files_[folder + "/gpu_id"] = std::to_string(Topology::gpu_id(index)) + "\n";
    files_[folder + "/name"] = "\n";
    files_[folder + properties_file] = index == 0 ? host_properties(node) : gpu_properties(topology, index);

    HsaMemoryProperties bank{};
    topology.memory_banks(index, std::span(&bank, 1));
    files_[folder + "/mem_banks/0/properties"] = bank_properties(bank);

    std::vector<HsaCacheProperties> caches(index == 0 ? 0 : node.NumCaches);
    topology.caches(index, node.FComputeIdLo, caches);
    for (std::size_t i = 0; i != caches.size(); ++i)
      files_[folder + "/caches/" + std::to_string(i) + properties_file] = cache_properties(caches[i]);

    std::vector<HsaIoLinkProperties> links(node.NumIOLinks);
    topology.links(index, links);
    for (std::size_t i = 0; i != links.size(); ++i)
      files_[folder + "/io_links/" + std::to_string(i) + properties_file] = link_properties(links[i]);
  }
}

bool SystemFiles::are_at(std::string_view path) { return path.starts_with(root); }

std::optional<std::string> SystemFiles::content(std::string_view path) const {
  const auto found = files_.find(path);
  return found != files_.end() ? std::optional(found->second) : std::nullopt;
}

std::vector<std::string> SystemFiles::entries(std::string_view path) const {
  const std::string folder = std::string(path) + "/";
  std::vector<std::string> names;
  for (auto file = files_.lower_bound(folder); file != files_.end() && file->first.starts_with(folder); ++file) {
    const std::size_t begin = folder.size();
    std::string name = file->first.substr(begin, file->first.find('/', begin) - begin);
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace softgpu::kernel_interface
