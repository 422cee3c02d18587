// The process's HSA runtime as the library sees it, shared by all Runtimes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/hsa_library.hpp"
#include "fastdispatch/agent.hpp"

namespace fastdispatch::detail {

/// Owns one hsa_init.
struct RuntimeState {
  /// Initializes the runtime and asks for its agents. Throws Error when there is no GPU.
  explicit RuntimeState(HsaLibrary& library);
  ~RuntimeState();
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;

  const HsaLibrary& library;
  std::string version;
  std::unique_ptr<AgentState> host;
  std::vector<std::unique_ptr<AgentState>> gpus;
  std::vector<Agent> gpu_views;
};

/// The process's state, made if there is none.
[[nodiscard]] std::shared_ptr<RuntimeState> open_runtime(Device device);

/// Fills host, gpus and version by asking HSA.
void discover(RuntimeState& runtime);

}  // namespace fastdispatch::detail
