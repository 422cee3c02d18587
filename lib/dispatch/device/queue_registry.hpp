// The queues of an agent. HSA reports a fault for the agent; the registry lets it reach the waiters of each queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/device/agent_queue.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

/// Thread safety: every member may be called from any thread; HSA's own threads call `fail_all`.
class QueueRegistry {
public:
  void add(AgentQueue& queue);
  void remove(AgentQueue& queue) noexcept;
  /// Marks all queues as failed, as the driver stops all queues of an agent. `describe` makes the reason of the names
  /// of the kernels that may have caused it.
  void fail_all(const std::function<Error(std::span<const std::string> suspects)>& describe) noexcept;
  /// Marks the queue `handle` as failed, unless it is gone; `why` is about a kernel that it runs.
  void fail(const hsa_queue_t* handle, const std::string& why) noexcept;
  /// Lets queues fail whose copies failed, see AgentQueue. Cheap, for waiters' loops.
  void look_at_copies() noexcept;
  /// Counts queues that failed, so that a waiter notices cheaply.
  void count_failure() noexcept { failures_.fetch_add(1, std::memory_order_release); }
  [[nodiscard]] std::uint32_t failures() const noexcept { return failures_.load(std::memory_order_acquire); }
  /// Memory faults so far.
  [[nodiscard]] std::uint32_t faults() const noexcept { return faults_.load(std::memory_order_acquire); }
  /// For failures when there is no memory left to describe them. Copying it allocates nothing.
  [[nodiscard]] const Error& wordless_error() const noexcept { return wordless_error_; }
  /// Throws if `signal` will not be completed: a failed queue has a packet that was to complete it, or there was a
  /// memory fault after the first `faults_seen`.
  void throw_if_lost(hsa_signal_t signal, std::uint32_t faults_seen) const;

private:
  mutable std::mutex mutex_;
  std::vector<AgentQueue*> queues_;
  std::optional<Error> last_fault_;
  const Error wordless_error_{ErrorKind::queue_failed, HSA_STATUS_ERROR, "queue",
                              "the queue stopped, and no memory was left to say why"};
  std::atomic<std::uint32_t> failures_{0};
  std::atomic<std::uint32_t> faults_{0};
};

}  // namespace fastdispatch::detail
