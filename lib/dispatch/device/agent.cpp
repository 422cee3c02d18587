#include "fastdispatch/agent.hpp"

#include "dispatch/device/agent_state.hpp"

namespace fastdispatch {

const AgentProperties& Agent::properties() const noexcept { return state_->properties; }
const AgentPools& Agent::pools() const noexcept { return state_->pools; }
Agent Agent::host() const noexcept { return Agent(*state_->host); }
hsa_agent_t Agent::handle() const noexcept { return state_->handle; }
const detail::HsaApi& Agent::api() const noexcept { return *state_->api; }

}  // namespace fastdispatch
