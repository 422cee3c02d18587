// Asking HSA for its agents, their properties and their memory pools.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/hardware.hpp"
#include "dispatch/device/queries.hpp"
#include "dispatch/device/runtime_state.hpp"
#include "dispatch/hsa/device_choice.hpp"
#include "dispatch/hsa/log.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

bool may_access(const HsaApi& api, hsa_agent_t agent, hsa_amd_memory_pool_t pool) {
  auto access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  check(api, api.amd_agent_memory_pool_get_info(agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
        "hsa_amd_agent_memory_pool_get_info", "asking who may access a memory pool");
  return access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

// The agent's way to the pool; none where HSA knows of no way.
std::vector<hsa_amd_memory_pool_link_info_t> links_to(const HsaApi& api, hsa_agent_t agent,
                                                      hsa_amd_memory_pool_t pool) {
  const auto ask = [&](hsa_amd_agent_memory_pool_info_t which, void* value) {
    check(api, api.amd_agent_memory_pool_get_info(agent, pool, which, value), "hsa_amd_agent_memory_pool_get_info",
          "asking for the links to a memory pool");
  };
  std::uint32_t hops = 0;
  ask(HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops);
  std::vector<hsa_amd_memory_pool_link_info_t> links(hops);
  if (hops != 0) ask(HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, links.data());
  return links;
}

// Whether the agent's way to the pool is XGMI all along.
bool reaches_over_xgmi(const HsaApi& api, hsa_agent_t agent, hsa_amd_memory_pool_t pool) {
  const auto links = links_to(api, agent, pool);
  return !links.empty() && std::ranges::all_of(links, [](const hsa_amd_memory_pool_link_info_t& link) {
    return link.link_type == HSA_AMD_LINK_INFO_TYPE_XGMI;
  });
}

// The first ISA is the one that the agent runs natively.
std::string first_isa(const HsaApi& api, hsa_agent_t agent) {
  const std::vector<std::string> names = isas_of(api, agent);
  return names.empty() ? "" : names.front();
}

AgentProperties gpu_properties(const HsaApi& api, hsa_agent_t agent) {
  const auto grid = agent_info<hsa_dim3_t>(api, agent, HSA_AGENT_INFO_GRID_MAX_DIM);
  const std::string isa = first_isa(api, agent);
  return {
      .name = agent_text(api, agent, HSA_AGENT_INFO_NAME),
      .product_name = agent_text(api, agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME),
      .isa = isa,
      .wavefront_size = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_WAVEFRONT_SIZE),
      .compute_units = agent_info<std::uint32_t>(api, agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT),
      .queue_size_min = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE),
      .queue_size_max = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE),
      .queues_max = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_QUEUES_MAX),
      .work_group_size_max = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE),
      .work_group_extent_max = agent_info<std::array<std::uint16_t, 3>>(api, agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM),
      .grid_extent_max = {grid.x, grid.y, grid.z},
      .grid_size_max = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_GRID_MAX_SIZE),
      .barrier_value_packets = has_barrier_value_packets(isa),
  };
}

// A CPU agent of HSA's: a NUMA node of the host.
struct HostNode {
  hsa_agent_t agent{};
  AgentPools pools;
};

HostNode host_node(const HsaApi& api, hsa_agent_t agent) {
  HostNode node{.agent = agent, .pools = {}};
  AgentPools& pools = node.pools;
  for_each_pool(api, agent, [&](hsa_amd_memory_pool_t pool) {
    if (pool_info<hsa_amd_segment_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT) != HSA_AMD_SEGMENT_GLOBAL) return;
    const auto flags = pool_info<std::uint32_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS);
    const bool kernarg = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0;
    const bool fine = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0;
    if (kernarg && pools.kernarg.handle == 0) pools.kernarg = pool;
    if (fine && !kernarg && pools.fine_grained.handle == 0) pools.fine_grained = pool;
    const bool coarse = (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0;
    if (coarse && pools.host_coarse_grained.handle == 0) pools.host_coarse_grained = pool;
  });
  // Some runtimes have one pool for both.
  if (pools.fine_grained.handle == 0) pools.fine_grained = pools.kernarg;
  return node;
}

// How far the node's memory is from the agent; nothing where HSA tells no way, or the node has no memory for both.
std::optional<std::uint32_t> distance(const HsaApi& api, hsa_agent_t agent, const HostNode& node) {
  if (node.pools.fine_grained.handle == 0 || node.pools.kernarg.handle == 0) return std::nullopt;
  std::uint32_t sum = 0;
  const auto links = links_to(api, agent, node.pools.fine_grained);
  for (const hsa_amd_memory_pool_link_info_t& link : links) sum += link.numa_distance;
  return links.empty() ? std::nullopt : std::optional(sum);
}

// The first of the nearest ones; the first of all where HSA tells no way. ROCr itself compares these distances
// (HSA_AMD_AGENT_INFO_NEAREST_CPU), but that question is newer than they are.
const HostNode& nearest(const HsaApi& api, hsa_agent_t gpu, const std::vector<HostNode>& nodes) {
  const HostNode* best = &nodes.front();
  if (nodes.size() == 1) return *best;
  std::optional<std::uint32_t> shortest;
  for (const HostNode& node : nodes) {
    const auto way = distance(api, gpu, node);
    if (!way || (shortest && *shortest <= *way)) continue;
    shortest = way;
    best = &node;
  }
  return *best;
}

void find_gpu_pools(const HsaApi& api, AgentState& gpu, const HostNode& host) {
  gpu.pools = host.pools;
  for_each_pool(api, gpu.handle, [&](hsa_amd_memory_pool_t pool) {
    const auto segment = pool_info<hsa_amd_segment_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT);
    if (segment == HSA_AMD_SEGMENT_GROUP)
      gpu.properties.lds_bytes = pool_info<std::size_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_SIZE);
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return;
    const auto flags = pool_info<std::uint32_t>(api, pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS);
    if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0 && gpu.pools.coarse_grained.handle == 0) {
      gpu.pools.coarse_grained = pool;
      gpu.properties.host_visible_memory = may_access(api, host.agent, pool);
      gpu.properties.xgmi_to_host = gpu.properties.host_visible_memory && reaches_over_xgmi(api, host.agent, pool);
    }
  });
}

}  // namespace

void discover(RuntimeState& runtime) {
  const HsaApi& api = runtime.library.api;
  const auto major = system_info<std::uint16_t>(api, HSA_SYSTEM_INFO_VERSION_MAJOR);
  const auto minor = system_info<std::uint16_t>(api, HSA_SYSTEM_INFO_VERSION_MINOR);
  const auto frequency = system_info<std::uint64_t>(api, HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY);
  runtime.version = fmt::format("{}.{}", major, minor);

  std::vector<HostNode> nodes;
  const auto add = [&](hsa_agent_t agent) {
    auto state = std::make_unique<AgentState>();
    state->api = &api;
    state->handle = agent;
    state->timestamp_frequency = frequency;
    const auto type = agent_info<hsa_device_type_t>(api, agent, HSA_AGENT_INFO_DEVICE);
    if (type == HSA_DEVICE_TYPE_CPU) {
      nodes.push_back(host_node(api, agent));
      if (runtime.host != nullptr) return;
      state->properties.name = agent_text(api, agent, HSA_AGENT_INFO_NAME);
      state->properties.product_name = agent_text(api, agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
      state->pools = nodes.front().pools;
      runtime.host = std::move(state);
    } else if (type == HSA_DEVICE_TYPE_GPU) {
      const auto features = agent_info<std::uint32_t>(api, agent, HSA_AGENT_INFO_FEATURE);
      if ((features & HSA_AGENT_FEATURE_KERNEL_DISPATCH) == 0) return;
      state->properties = gpu_properties(api, agent);
      runtime.gpus.push_back(std::move(state));
    }
  };
  for_each_agent(api, add);

  if (runtime.host == nullptr) throw Error(ErrorKind::runtime, "the HSA runtime has no agent for the host");
  if (runtime.gpus.empty()) throw Error(ErrorKind::runtime, no_gpu_message(this_machine()));
  runtime.host->host = runtime.host.get();
  for (const auto& gpu : runtime.gpus) {
    gpu->host = runtime.host.get();
    runtime.host->gpus.push_back(gpu->handle);
    const HostNode& node = nearest(api, gpu->handle, nodes);
    find_gpu_pools(api, *gpu, node);
    if (nodes.size() > 1)
      log().info("{}: pinned memory and kernel arguments are those of the CPU agent {} of {}, the nearest one",
                 gpu->properties.name, &node - nodes.data() + 1, nodes.size());
    runtime.gpu_views.emplace_back(*gpu);
  }
}

}  // namespace fastdispatch::detail
