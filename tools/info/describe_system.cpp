#include "describe_system.hpp"

#include <fastdispatch/version.hpp>

#include <array>
#include <cstdint>
#include <string>

#include "dispatch/device/queries.hpp"

namespace {

using fastdispatch::detail::agent_info;
using fastdispatch::detail::agent_text;
using fastdispatch::detail::HsaApi;
using fastdispatch::detail::pool_info;

/// Of a pool of global memory.
std::string kind_of(std::uint32_t flags) {
  std::string kind;
  const auto add = [&](std::uint32_t flag, const char* word) {
    if ((flags & flag) != 0) kind += (kind.empty() ? "" : ", ") + std::string(word);
  };
  add(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT, "kernel arguments");
  add(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, "fine-grained");
  add(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, "coarse-grained");
  return kind;
}

const char* name_of(hsa_amd_segment_t segment) {
  switch (segment) {
  case HSA_AMD_SEGMENT_GLOBAL:
    return "global";
  case HSA_AMD_SEGMENT_READONLY:
    return "read-only";
  case HSA_AMD_SEGMENT_PRIVATE:
    return "private";
  case HSA_AMD_SEGMENT_GROUP:
    return "group (LDS)";
  }
  return "unknown";
}

Document describe_pool(const HsaApi& api, hsa_amd_memory_pool_t pool) {
  const auto segment = pool_info<hsa_amd_segment_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT);
  const bool is_global = segment == HSA_AMD_SEGMENT_GLOBAL;
  const bool allocates = pool_info<bool>(api, pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED);
  const auto if_it_allocates = [&](hsa_amd_memory_pool_info_t attribute) {
    return allocates ? Document(pool_info<std::size_t>(api, pool, attribute)) : Document();
  };
  Document document;
  document["segment"] = name_of(segment);
  document["kind"] =
      is_global ? kind_of(pool_info<std::uint32_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS)) : "";
  document["bytes"] = pool_info<std::size_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_SIZE);
  document["granule_bytes"] = if_it_allocates(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE);
  document["alignment_bytes"] = if_it_allocates(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT);
  document["all_agents_may_access"] = pool_info<bool>(api, pool, HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL);
  return document;
}

void describe_kernels_limits(Document& document, const HsaApi& api, hsa_agent_t agent) {
  const auto grid = agent_info<hsa_dim3_t>(api, agent, HSA_AGENT_INFO_GRID_MAX_DIM);
  document["wavefront_size"] = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_WAVEFRONT_SIZE);
  document["simds_per_compute_unit"] = agent_info<std::uint32_t>(api, agent, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
  document["wavefronts_per_compute_unit"] = agent_info<std::uint32_t>(api, agent, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU);
  document["work_items_per_group"] = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE);
  document["work_group_extents"] =
      agent_info<std::array<std::uint16_t, 3>>(api, agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM);
  document["work_items_per_grid"] = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_GRID_MAX_SIZE);
  document["grid_extents"] = {grid.x, grid.y, grid.z};
  document["queues"] = {
      {"most", agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_QUEUES_MAX)},
      {"fewest_packets", agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE)},
      {"most_packets", agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE)},
  };
}

Document describe_agent(const HsaApi& api, hsa_agent_t agent) {
  const auto type = agent_info<hsa_device_type_t>(api, agent, HSA_AGENT_INFO_DEVICE);
  const auto features = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_FEATURE);
  Document document;
  document["name"] = agent_text(api, agent, HSA_AGENT_INFO_NAME);
  document["type"] = type == HSA_DEVICE_TYPE_GPU ? "GPU" : type == HSA_DEVICE_TYPE_CPU ? "CPU" : "other";
  document["product"] = agent_text(api, agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
  document["vendor"] = agent_text(api, agent, HSA_AGENT_INFO_VENDOR_NAME);
  document["node"] = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_NODE);
  document["isas"] = fastdispatch::detail::isas_of(api, agent);
  document["compute_units"] = agent_info<std::uint32_t>(api, agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
  document["clock_mhz"] = agent_info<std::uint32_t>(api, agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
  document["cache_line_bytes"] = agent_info<std::uint32_t>(api, agent, HSA_AMD_AGENT_INFO_CACHELINE_SIZE);
  if ((features & HSA_AGENT_FEATURE_KERNEL_DISPATCH) != 0) describe_kernels_limits(document, api, agent);
  Document& pools = document["memory_pools"] = Document::array();
  fastdispatch::detail::for_each_pool(api, agent,
                                      [&](hsa_amd_memory_pool_t pool) { pools.push_back(describe_pool(api, pool)); });
  return document;
}

}  // namespace

Document describe_system(const fastdispatch::Runtime& runtime) {
  const HsaApi& api = runtime.host().api();
  const auto text = [](std::string_view view) { return std::string(view); };
  Document document;
  document["fastdispatch"] = fastdispatch::version;
  document["hsa_runtime"] = {
      {"library", text(runtime.library_path())},
      {"hsa_version", text(runtime.version())},
      {"clock_hz", fastdispatch::detail::system_info<std::uint64_t>(api, HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)},
  };
  document["device"] = {
      {"kind", runtime.on_softgpu() ? "soft GPU" : "AMD GPU"},
      {"why", text(runtime.device_reason())},
      {"thunk", runtime.thunk_path().empty() ? "built into the HSA runtime" : text(runtime.thunk_path())},
  };
  Document& agents = document["agents"] = Document::array();
  fastdispatch::detail::for_each_agent(api, [&](hsa_agent_t agent) { agents.push_back(describe_agent(api, agent)); });
  return document;
}
