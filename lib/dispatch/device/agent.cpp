#include "fastdispatch/agent.hpp"

#include <utility>

#include "dispatch/device/agent_state.hpp"

namespace fastdispatch {

const AgentProperties& Agent::properties() const noexcept { return state_->properties; }
const AgentPools& Agent::pools() const noexcept { return state_->pools; }
Agent Agent::host() const noexcept { return Agent(*state_->host); }
hsa_agent_t Agent::handle() const noexcept { return state_->handle; }
const detail::HsaApi& Agent::api() const noexcept { return *state_->api; }

void Agent::register_kernel(std::uint64_t kernel_object, std::string name) const {
  state_->kernels.add(kernel_object, std::move(name));
}

void Agent::unregister_kernel(std::uint64_t kernel_object) const noexcept { state_->kernels.remove(kernel_object); }

}  // namespace fastdispatch
