// The worker threads: they look at the queues and run the work-groups of launched kernels.
//
// Every worker does both. The one that finds a kernel runs it at once, without waking anybody: a small kernel costs no
// hand-over. Others join in when it takes longer than waking them does. Who ends a kernel launches what waited for it,
// and the others stay for that a moment: from one kernel to the next, nobody's part changes.
//
// The worker that leads (crew.hpp) gives that up for a long kernel or translation, so that what may overlap does. For a
// kernel that is known as short it does not; should that take longer this time, whoever looks up from its naps sees
// that the leader has not moved, and leads.
//
// No more workers execute than there are cores: another one would take a core from them. But where nobody has begun
// with a work-group for a while, those that are executed may wait for others, and one worker more helps.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "softgpu/command_processor/executions.hpp"
#include "softgpu/command_processor/queue.hpp"

namespace softgpu::command_processor {

/// The host's cores, of which so many workers can make use.
[[nodiscard]] std::uint32_t cores(std::uint32_t workers) noexcept;

class Scheduler {
public:
  /// Workers say in `executions`, where there is one, what they are at. Throws std::system_error if a thread cannot be
  /// started.
  explicit Scheduler(std::uint32_t workers, std::shared_ptr<Executions> executions = nullptr);
  /// Ends the workers; one that is in a kernel that does not end is left behind.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void add(std::shared_ptr<Queue> queue);
  /// A queue that was added. Allocates nothing.
  void remove(const Queue& queue);
  /// Ends the naps: there may be something new.
  void kick();
  /// Ends the workers and interrupts their present work-groups; waits for it, but not long.
  void stop();

private:
  struct State;
  class Worker;
  void start_worker(std::uint32_t index);

  std::shared_ptr<State> state_;  // shared with the workers, which are detached
};

}  // namespace softgpu::command_processor
