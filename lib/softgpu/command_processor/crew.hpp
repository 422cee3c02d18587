// Which of the workers lead, execute, spin, doze and sleep.
//
// One worker at a time leads: it looks at the queues, and the others leave them alone. Memory that several cores read
// and write is slow.
//
// Idle workers step back in stages: spin shortly; then one watches the queues between naps that grow longer; a second
// naps in reserve while there is activity, in case the first gets busy; the rest sleep until they are woken.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace softgpu::command_processor {

/// What the workers know of each other.
///
/// Thread safety: every member may be called from any thread.
class Crew {
public:
  class Member;

  /// A crew of `workers`, for `parallel` of which there is a core.
  Crew(std::uint32_t workers, std::uint32_t parallel) : parallel_(parallel), alive_(workers) {}

  /// There may be something new.
  void raise_alarm();
  void wake_sleepers(std::uint32_t count);
  /// Wakes every worker: what there is to do is for some of them only, and of a few that are woken these might be none.
  void wake_all();
  /// Calls other workers, as many as there are cores for, to look for work-groups to run.
  void call_helpers();
  /// Calls one more worker in place of those that were called and have not come.
  void call_another_helper();
  void note_activity() noexcept;

  /// Workers for which there is a core.
  [[nodiscard]] std::uint32_t parallel() const noexcept { return parallel_; }
  /// As many workers execute as there are cores: one more would take a core from them.
  [[nodiscard]] bool has_a_core() const noexcept { return executing_.load(std::memory_order_relaxed) < parallel_; }
  /// More workers execute than there are cores.
  [[nodiscard]] bool is_crowded() const noexcept { return executing_.load(std::memory_order_relaxed) > parallel_; }
  /// Cores on which nobody executes or spins.
  [[nodiscard]] bool has_an_idle_core() const noexcept { return occupied() < parallel_; }

  /// Ends every nap and sleep: the workers are to end.
  void stop();
  [[nodiscard]] bool stops() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  /// A worker has ended.
  void sign_off();
  /// Whether all workers have ended by the end of that time.
  [[nodiscard]] bool all_signed_off_within(std::chrono::nanoseconds time);

private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  void end_naps();
  [[nodiscard]] std::uint32_t occupied() const noexcept {
    return executing_.load(std::memory_order_relaxed) + spinning_.load(std::memory_order_relaxed);
  }

  const std::uint32_t parallel_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;
  std::condition_variable wake_;   // sleepers
  std::condition_variable alarm_;  // nappers
  std::condition_variable ended_;
  std::uint32_t alive_;
  std::atomic<std::uint32_t> wake_tokens_{0};    // changed under the mutex
  std::atomic<std::uint32_t> calls_for_all_{0};  // likewise
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint32_t> nappers_{0};

  // What changes with every kernel: each on a cache line of its own.
  alignas(64) std::atomic<std::int64_t> last_activity_{0};  // when anything was found
  alignas(64) std::atomic<std::uint64_t> alarms_{0};        // bumped when there may be something new
  // Awake and not executing. While there are queues, this is 0 only when every worker executes.
  alignas(64) std::atomic<std::uint32_t> looking_{0};
  alignas(64) std::atomic<std::uint32_t> executing_{0};
  alignas(64) std::atomic<std::uint32_t> spinning_{0};
  alignas(64) std::atomic<std::uint32_t> leader_{nobody};
  std::atomic<std::uint32_t> watcher_{nobody};
  std::atomic<std::uint32_t> reserve_{nobody};
};

/// One worker's place in the crew. It looks at the queues until it says otherwise.
///
/// Thread safety: none needed, it is for the worker's own thread.
class Crew::Member {
public:
  Member(Crew& crew, std::uint32_t index);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Anything new from here on ends the next nap or sleep.
  void begin_round() noexcept {
    seen_alarms_ = crew_.alarms_.load(std::memory_order_seq_cst);
    seen_calls_ = crew_.calls_for_all_.load(std::memory_order_seq_cst);
  }

  [[nodiscard]] bool leads() const noexcept { return crew_.leader_.load(std::memory_order_relaxed) == index_; }
  [[nodiscard]] bool nobody_leads() const noexcept { return crew_.leader_.load(std::memory_order_relaxed) == nobody; }
  /// Having found something, this worker takes the lead.
  void lead();

  /// From here on this worker looks at no queue: another worker must.
  void leave();
  [[nodiscard]] bool has_left() const noexcept { return left_; }
  void come_back();
  /// Leaves for something short, after which it goes on to lead.
  void look_away();
  void look_back() { crew_.looking_.fetch_add(1, std::memory_order_seq_cst); }

  /// Leaves for work-groups, on a core of its own.
  void begin_executing();
  void end_executing();

  /// There was something to do.
  void found() noexcept;
  /// There was nothing to do. True if this worker only paused and is to look again at once; otherwise doze() is next.
  [[nodiscard]] bool spin();
  /// Naps or sleeps, whichever is its turn. Where there are no queues only an alarm ends it.
  void doze(bool there_are_queues);
  /// A short nap of a worker that does not lead.
  void nap_shortly();

private:
  using nanoseconds = std::chrono::nanoseconds;

  [[nodiscard]] nanoseconds spin_time() const noexcept;
  [[nodiscard]] bool may_spin();
  void stop_spinning();
  [[nodiscard]] nanoseconds nap_duration();
  void nap(nanoseconds duration);
  void sleep(bool there_are_queues);
  [[nodiscard]] bool holds(std::atomic<std::uint32_t>& role) const;
  void give_up(std::atomic<std::uint32_t>& role) const;
  void give_up_roles();
  /// Something may be new since the round began.
  [[nodiscard]] bool alarmed() const { return crew_.alarms_.load(std::memory_order_seq_cst) != seen_alarms_; }

  Crew& crew_;
  const std::uint32_t index_;
  std::uint64_t seen_alarms_ = 0;
  std::uint32_t seen_calls_ = 0;
  nanoseconds idle_since_{};
  unsigned spins_done_ = 0;
  bool spins_ = false;
  bool left_ = false;
  bool led_ = false;  // before it left
  bool executes_ = false;
};

}  // namespace softgpu::command_processor
