// What the library knows of an agent, shared by all of its views.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/device/attachment.hpp"
#include "dispatch/device/buffers.hpp"
#include "dispatch/device/completions.hpp"
#include "dispatch/device/kernel_names.hpp"
#include "dispatch/device/locked_ranges.hpp"
#include "dispatch/device/queue_registry.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/hsa_api.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/signal.hpp"
#include "trace_format/lanes.hpp"

namespace fastdispatch::detail {

struct AgentState {
  AgentState()
      : device_signals(std::in_place, OwnAgent{Agent(*this)}, Interrupts::no),
        wake_signals(std::in_place, OwnAgent{Agent(*this)}, Interrupts::yes), completions(*this) {}
  AgentState(const AgentState&) = delete;
  AgentState& operator=(const AgentState&) = delete;

  /// Ends everything that the agent itself has of HSA's. The state stays, so that views of the agent find it closed.
  void close() noexcept {
    completions.stop();
    hostcall.reset();
    copier.reset();
    device_signals.reset();
    wake_signals.reset();
    closed.store(true, std::memory_order_release);
  }

  std::atomic<bool> closed{false};
  std::weak_ptr<const void> runtime;  ///< for RuntimeShare
  const HsaApi* api = nullptr;
  hsa_agent_t handle{};
  AgentState* host = nullptr;     ///< itself for the host
  std::vector<hsa_agent_t> gpus;  ///< the host's: every GPU of the runtime
  AgentProperties properties;
  AgentPools pools;
  std::uint64_t timestamp_frequency = 1'000'000'000;  ///< ticks a second, the unit of HSA's time limits
  KernelNames kernels;
  QueueRegistry queues;
  LockedRanges locked_for_copies;  ///< the host's: of all agents
  Buffers buffers;                 ///< likewise
  Attachment copier;               ///< for copies between host and this agent, see memory/copier.hpp
  Attachment hostcall;             ///< for calls by kernels of this agent, see hostcall/hostcall.hpp
  /// For packets and copies that wait for one another. A queue that goes may leave signals that are still to be
  /// completed.
  std::optional<SignalPool> device_signals;
  std::optional<SignalPool> wake_signals;  ///< for threads that block in HSA, see blocked_wait.hpp
  Completions completions;
  std::atomic<bool> copies_are_timed{false};  ///< for traces, see memory/copy_trace.hpp
  std::mutex copy_lanes_mutex;
  trace_format::Lanes copy_lanes;  ///< of copies that the host waited for
  std::uint64_t copy_lanes_trace = 0;
};

}  // namespace fastdispatch::detail
