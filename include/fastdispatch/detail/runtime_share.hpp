// What keeps a runtime open.
#pragma once

#include <memory>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"

namespace fastdispatch::detail {

/// Owns a share of an open runtime. Every object that holds something of HSA's has one, as its first member: it goes
/// last. The objects that the runtime itself owns have none.
using RuntimeShare = std::shared_ptr<const void>;

/// Throws Error when the agent's runtime was closed.
[[nodiscard]] FASTDISPATCH_EXPORT RuntimeShare share_runtime_of(Agent agent);

/// An agent for an object that its runtime owns.
struct OwnAgent {
  Agent agent;
};

}  // namespace fastdispatch::detail
