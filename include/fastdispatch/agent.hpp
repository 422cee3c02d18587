// A processor known to HSA: a GPU, or the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch {

class Agent;

namespace detail {
struct AgentState;
/// For the library itself. Throws Error when the agent's runtime was closed.
[[nodiscard]] AgentState& state_of(Agent agent);
}  // namespace detail

/// An agent's properties and limits, read once when the runtime is opened.
struct AgentProperties {
  std::string name;          ///< "gfx90a"
  std::string product_name;  ///< the marketing name
  std::string isa;           ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"; empty for the host
  std::uint32_t wavefront_size = 0;
  std::uint32_t compute_units = 0;
  std::uint32_t queue_size_min = 0;  ///< packets
  std::uint32_t queue_size_max = 0;
  std::uint32_t queues_max = 0;
  std::uint32_t work_group_size_max = 0;                 ///< work-items
  std::array<std::uint16_t, 3> work_group_extent_max{};  ///< work-items along x, y, z
  std::array<std::uint32_t, 3> grid_extent_max{};        ///< work-items along x, y, z
  std::uint64_t grid_size_max = 0;                       ///< work-items
  std::size_t lds_bytes = 0;                             ///< of one work-group
  bool host_visible_memory = false;                      ///< the host may read and write the GPU's memory: a large BAR
  bool xgmi_to_host = false;                             ///< the host reaches the GPU over XGMI, not PCI Express
  bool barrier_value_packets = false;                    ///< the GPU's firmware knows BarrierValue
};

/// The memory pools that buffers come from. The handle is 0 if the agent has no pool of the kind.
struct AgentPools {
  hsa_amd_memory_pool_t fine_grained{};    ///< of the host: memory that host and GPUs see coherently
  hsa_amd_memory_pool_t coarse_grained{};  ///< of a GPU: its own memory
  hsa_amd_memory_pool_t kernarg{};         ///< of the host: kernel arguments
  /// Of the host: memory that host and GPUs see in turns (Coherence::coarse_grained).
  hsa_amd_memory_pool_t host_coarse_grained{};
};

/// Views an agent: cheap to copy. The agent can be used as long as its runtime is open (see Runtime); after that every
/// use but comparing throws Error.
///
/// Thread safety: every member may be called from any thread.
class FASTDISPATCH_EXPORT Agent {
public:
  explicit Agent(detail::AgentState& state) noexcept : state_(&state) {}
  explicit Agent(std::nullptr_t) = delete;

  [[nodiscard]] const AgentProperties& properties() const;
  [[nodiscard]] const std::string& name() const { return properties().name; }
  [[nodiscard]] const std::string& isa() const { return properties().isa; }
  [[nodiscard]] std::uint32_t wavefront_size() const { return properties().wavefront_size; }
  [[nodiscard]] std::uint32_t compute_units() const { return properties().compute_units; }

  /// A GPU's pools of the host are those of the host's NUMA node that is nearest to it; the host has no coarse_grained
  /// pool.
  [[nodiscard]] const AgentPools& pools() const;
  /// The host's agent of the same runtime; of several NUMA nodes, each an agent of HSA's, the first.
  [[nodiscard]] Agent host() const;

  [[nodiscard]] hsa_agent_t handle() const;
  [[nodiscard]] const detail::HsaApi& api() const;

  friend bool operator==(Agent, Agent) = default;

private:
  friend detail::AgentState& detail::state_of(Agent agent);

  detail::AgentState* state_;
};

}  // namespace fastdispatch
