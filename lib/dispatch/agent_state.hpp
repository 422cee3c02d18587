// What the library knows of an agent, shared by all of its views.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "dispatch/completions.hpp"
#include "dispatch/copier.hpp"
#include "dispatch/locked_ranges.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/hsa_api.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

class QueueState;

/// Kernels' names by kernel object, so that errors can name what ran.
///
/// Thread safety: every member may be called from any thread.
class KernelNames {
public:
  void add(std::uint64_t kernel_object, std::string name);
  void remove(std::uint64_t kernel_object) noexcept;
  /// Empty where the kernel object is not known.
  [[nodiscard]] std::string find(std::uint64_t kernel_object) const;

private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::string> names_;
};

/// The queues of an agent, so that a fault, which HSA reports for the agent, reaches the waiters of each of them.
///
/// Thread safety: every member may be called from any thread; HSA's own threads call `fail_all`.
class QueueRegistry {
public:
  void add(QueueState& queue);
  void remove(QueueState& queue) noexcept;
  /// Marks all queues as failed by a memory fault on the agent `agent_name`: the driver stops all of them.
  void fail_all(const hsa_amd_gpu_memory_fault_info_t& fault, const std::string& agent_name) noexcept;
  /// Counts queues that failed, so that a waiter notices cheaply.
  void count_failure() noexcept { failures_.fetch_add(1, std::memory_order_release); }
  [[nodiscard]] std::uint32_t failures() const noexcept { return failures_.load(std::memory_order_acquire); }
  /// Memory faults so far.
  [[nodiscard]] std::uint32_t faults() const noexcept { return faults_.load(std::memory_order_acquire); }
  /// For failures when there is no memory left to describe them; a copy needs none.
  [[nodiscard]] const Error& wordless_error() const noexcept { return wordless_error_; }
  /// Throws why `signal` will not be completed: a failed queue has a packet that was to do it, or there was a memory
  /// fault after the first `faults_seen`.
  void throw_if_lost(hsa_signal_t signal, std::uint32_t faults_seen) const;

private:
  mutable std::mutex mutex_;
  std::vector<QueueState*> queues_;
  std::optional<Error> last_fault_;
  const Error wordless_error_{HSA_STATUS_ERROR, "queue", "the queue stopped, and no memory was left to say why"};
  std::atomic<std::uint32_t> failures_{0};
  std::atomic<std::uint32_t> faults_{0};
};

struct AgentState {
  AgentState();
  ~AgentState();
  AgentState(const AgentState&) = delete;
  AgentState& operator=(const AgentState&) = delete;

  const HsaApi* api = nullptr;
  hsa_agent_t handle{};
  AgentState* host = nullptr;  ///< itself for the host
  AgentProperties properties;
  AgentPools pools;
  std::uint64_t timestamp_frequency = 1'000'000'000;  ///< ticks a second, the unit of HSA's time limits
  KernelNames kernels;
  QueueRegistry queues;
  LockedRanges locked_for_copies;  ///< the host's: of all agents

  /// What copies between host and this agent need; made at the first one.
  [[nodiscard]] Copier& copier();
  std::mutex copier_mutex;
  std::unique_ptr<Copier> made_copier;

  Completions completions;
};

}  // namespace fastdispatch::detail
