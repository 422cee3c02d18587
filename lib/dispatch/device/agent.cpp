#include "fastdispatch/agent.hpp"

#include "dispatch/device/agent_state.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

detail::AgentState& detail::state_of(Agent agent) {
  if (agent.state_->closed.load(std::memory_order_acquire)) [[unlikely]]
    throw Error(
        ErrorKind::runtime,
        "the agent's runtime was closed: the last Runtime and everything made with it are gone. Keep the Runtime "
        "for as long as its agents are used");
  return *agent.state_;
}

const AgentProperties& Agent::properties() const { return detail::state_of(*this).properties; }
const AgentPools& Agent::pools() const { return detail::state_of(*this).pools; }
Agent Agent::host() const { return Agent(*detail::state_of(*this).host); }
hsa_agent_t Agent::handle() const { return detail::state_of(*this).handle; }
const detail::HsaApi& Agent::api() const { return *detail::state_of(*this).api; }

detail::RuntimeShare detail::share_runtime_of(Agent agent) { return state_of(agent).runtime.lock(); }

}  // namespace fastdispatch
