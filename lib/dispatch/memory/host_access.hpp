// Who may access pinned memory of the host.
#pragma once

#include <hsa/hsa.h>

#include "fastdispatch/agent.hpp"

namespace fastdispatch::detail {

/// Lets every GPU of the agent's runtime access the host's memory at `memory`, an allocation of HSA's.
[[nodiscard]] hsa_status_t allow_every_gpu(Agent agent, const void* memory);

}  // namespace fastdispatch::detail
