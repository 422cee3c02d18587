// A queue as its agent sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/device/blocked_wait.hpp"
#include "dispatch/device/wait.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

/// The agent's view of each of its queues: to report a memory fault, to tell waiters that their wait is in vain, and to
/// call back on completion.
///
/// Thread safety: every member may be called from any thread, HSA's own threads among them.
class AgentQueue {
public:
  AgentQueue() = default;
  AgentQueue(const AgentQueue&) = delete;
  AgentQueue& operator=(const AgentQueue&) = delete;

  [[nodiscard]] virtual hsa_queue_t* handle() const noexcept = 0;

  /// Marks the queue as failed, unless it has failed before.
  virtual void fail(const Error& error) noexcept = 0;
  /// Why the queue failed; null if it did not fail.
  [[nodiscard]] virtual const Error* failure() const noexcept = 0;
  /// Lets the queue fail if a copy of one of its batches failed. Returns whether the queue has copies: a waiter has to
  /// look at copies, because their failure is not signalled.
  virtual bool look_at_copies() noexcept = 0;

  [[nodiscard]] virtual bool completed(std::uint64_t epoch) const noexcept = 0;
  /// The signal condition that a waiter for `epoch` waits for.
  [[nodiscard]] virtual Below completion_of(std::uint64_t epoch) const noexcept = 0;
  /// Of threads that wait for epochs.
  [[nodiscard]] BlockedWait& blocked_wait() noexcept { return blocked_wait_; }

  /// Adds the names of the kernels that were started and are not known to have completed, the latest first.
  virtual void add_running_kernels(std::vector<std::string>& names) const = 0;
  /// Whether a packet that is not known to have completed has `signal` as its completion signal.
  [[nodiscard]] virtual bool was_to_complete(hsa_signal_t signal) const noexcept = 0;

protected:
  ~AgentQueue() = default;

private:
  BlockedWait blocked_wait_;
};

}  // namespace fastdispatch::detail
