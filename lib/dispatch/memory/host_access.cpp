#include "dispatch/memory/host_access.hpp"

#include <cstdint>
#include <vector>

#include "dispatch/device/agent_state.hpp"

namespace fastdispatch::detail {

hsa_status_t allow_every_gpu(Agent agent, const void* memory) {
  const std::vector<hsa_agent_t>& gpus = state_of(agent.host()).gpus;
  return agent.api().amd_agents_allow_access(static_cast<std::uint32_t>(gpus.size()), gpus.data(), nullptr, memory);
}

}  // namespace fastdispatch::detail
