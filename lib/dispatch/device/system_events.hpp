// What HSA tells the whole process: faults of an agent.
#pragma once

#include <memory>
#include <span>

#include <hsa/hsa_ext_amd.h>

#include "dispatch/device/agent_state.hpp"

namespace fastdispatch::detail {

/// Whether hsa_shut_down tells of itself. Its thread must wait for no lock that a caller of HSA may hold.
[[nodiscard]] bool is_shutdown(const hsa_amd_event_t& event) noexcept;

/// Lets the queues of the agent that an event is about fail; those of all agents, for an event of an unknown kind.
/// Returns whether the event was taken: ROCr prints an event that nobody takes, and aborts the process.
[[nodiscard]] bool take_system_event(const hsa_amd_event_t& event, std::span<const std::unique_ptr<AgentState>> gpus);

}  // namespace fastdispatch::detail
