// Callbacks on completion.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <hsa/hsa.h>

#include "dispatch/device/agent_queue.hpp"
#include "dispatch/device/wait.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"

namespace fastdispatch::detail {

struct AgentState;

/// Owns the thread that calls the callbacks of an agent's queues. The first callback starts the thread.
///
/// The thread is the library's own. HSA's thread, which serves hsa_amd_signal_async_handler, also reports queue errors
/// and gives kernels their scratch memory: a callback that waits there would wait for itself.
///
/// Thread safety: every member may be called from any thread.
class Completions {
public:
  explicit Completions(AgentState& agent) : agent_(agent) {}
  ~Completions() { stop(); }
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// Calls `callback` when the queue's `epoch`, which was given out, completed or the queue failed.
  void add(AgentQueue& queue, std::uint64_t epoch, CompletionCallback callback);
  /// Returns when the callbacks that the queue has now were called; false if `deadline` passed first. Throws Error in a
  /// callback, which would wait for itself.
  [[nodiscard]] bool wait(const AgentQueue& queue, const Deadline& deadline);
  /// Returns when every callback of the queue has been called. Callbacks whose epochs did not complete get an error.
  void remove(AgentQueue& queue);
  /// To be called when a queue failed: lets the thread look at the queues.
  void look() noexcept;
  /// Ends the thread, when all queues are gone.
  void stop() noexcept;

private:
  struct Watched {
    std::multimap<std::uint64_t, CompletionCallback> pending;  ///< by epoch
    bool leaving = false;                                      ///< the queue is being destroyed
    bool waited_for = false;                                   ///< the thread waits for its epoch signal
  };

  void run();
  /// Calls the queue's first callback if it is due, and returns whether it was due. The queue may be gone afterwards.
  bool call_first(AgentQueue& queue, Watched& watched, std::unique_lock<std::mutex>& lock);
  /// Blocks until a callback is due or somebody wants a look.
  void sleep(std::unique_lock<std::mutex>& lock);

  AgentState& agent_;
  std::mutex mutex_;
  std::condition_variable changed_;  ///< a callback returned, or the thread looks at no signal
  std::map<AgentQueue*, Watched> queues_;
  const AgentQueue* calling_ = nullptr;  ///< the queue whose callback runs
  std::uint64_t calling_epoch_ = 0;      ///< the epoch of that callback
  bool stopping_ = false;
  std::optional<Signal> wake_;          ///< 0 ends the thread's wait
  std::atomic<hsa_signal_t> wanted_{};  ///< the handle of wake_, once there is one
  std::thread thread_;
};

}  // namespace fastdispatch::detail
