// One blocked wait for each queue. ROCr lets only the first waiter of a signal sleep where the driver has no event age
// (before version 1.14 of its interface): the others spin.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <vector>

#include "dispatch/device/wait.hpp"

namespace fastdispatch::detail {

struct AgentState;

/// Of the threads that wait for epochs of a queue, the first blocks in HSA. The others sleep until it returns. A thread
/// that comes with an earlier epoch wakes the first one; whichever blocks next does so for the earliest epoch of all.
///
/// Thread safety: every member may be called from any thread.
class BlockedWait {
public:
  /// For a thread that waits for this queue alone: returns when `goal` is reached, or after `timeout`, or earlier.
  void block(AgentState& agent, const Below& goal, std::chrono::nanoseconds timeout);

  class Waiter;  ///< a thread that waits, see blocked_wait.cpp

private:
  std::mutex mutex_;
  std::condition_variable changed_;  ///< no thread is the first any more
  std::vector<const Waiter*> waiters_;
  const Waiter* first_ = nullptr;  ///< of the waiters
};

/// What a thread waits for that waits for several queues.
struct QueueGoal {
  BlockedWait* queue;
  Below goal;
};

/// Blocks until one of `goals` is reached, or `wake` is below 1, or for `timeout`, or less. Other threads write `wake`
/// as well: set it to 1 before looking at what is waited for.
void block_for_first(const AgentState& agent, std::span<const QueueGoal> goals, hsa_signal_t wake,
                     std::chrono::nanoseconds timeout);
/// The same with one of the agent's signals.
void block_for_first(AgentState& agent, std::span<const QueueGoal> goals, std::chrono::nanoseconds timeout);

}  // namespace fastdispatch::detail
