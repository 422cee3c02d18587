// What each worker executes, so that it can be ended: by a queue that goes away, the time limit, the process's exit.
//
// Thread safety: `begin` and `end` are called by the worker itself; the rest may be called from any thread.
// Memory ordering: a worker takes back the queue of the execution before, then releases the token after the time and
// before the queue. A thread that acquires the token first then sees the queue of that execution or of a later one. An
// interrupt that comes late finds another token. Nothing is dereferenced.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "softgpu/command_processor/dispatch.hpp"

namespace softgpu::command_processor {

class Executions {
public:
  /// With a time limit, a thread ends every execution that takes longer.
  Executions(std::uint32_t workers, std::optional<std::chrono::seconds> time_limit);
  ~Executions();
  Executions(const Executions&) = delete;
  Executions& operator=(const Executions&) = delete;

  /// The calling thread is the worker `index` from here on.
  void enlist(std::uint32_t index);

  void begin(std::uint32_t index, const Dispatch& dispatch) noexcept;
  /// The same for an execution that began at that time (gpu_clock) and was left since.
  void begin_again(std::uint32_t index, const Dispatch& dispatch, std::uint64_t since) noexcept;
  void end(std::uint32_t index) noexcept;

  /// Whether an execution that began at that time has used up its time limit.
  [[nodiscard]] bool is_overdue(std::uint64_t since) const noexcept;

  /// Interrupt the work-groups that are executed now; they end soon after.
  void interrupt(const AqlQueue& queue) const noexcept;
  void interrupt_all() const noexcept;

private:
  struct alignas(64) Execution {
    std::atomic<const AqlQueue*> queue{nullptr};
    std::atomic<std::uint64_t> token{0};
    std::atomic<std::uint64_t> since{0};
    std::atomic<pid_t> thread{0};
  };

  /// Of a queue, and executed since a time.
  template <class Condition>
  void interrupt_where(const Condition& condition) const noexcept;
  void watch();

  std::vector<Execution> executions_;
  std::optional<std::chrono::seconds> time_limit_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread watcher_;
};

}  // namespace softgpu::command_processor
