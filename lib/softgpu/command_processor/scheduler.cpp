#include "softgpu/command_processor/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/command_processor/waiting_groups.hpp"

namespace softgpu::command_processor {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// How long a worker spins after the last thing that it found before it steps back. One that only helped leaves its
// core soon: a host that waits for each kernel needs it, while the next kernel of a batch comes at once.
constexpr nanoseconds lead_spin = 100us;
constexpr nanoseconds help_spin = 4us;
// From then on a spinning worker sleeps for a moment now and then: the program's threads may wait for the core. It gets
// the core back at once; after a yield it would wait for the time slices of all others.
constexpr nanoseconds spin_alone = 5us;
constexpr unsigned spins_per_moment = 16;
constexpr nanoseconds moment = 2us;
// While others execute, what is next waits for them, and they look for it themselves. If it takes them longer, they may
// have lost their core to another thread, and get this one's once it is free.
constexpr nanoseconds wait_spin = 20us;
constexpr nanoseconds share_after = 30us;   // of uninterrupted work, before others are woken for it
constexpr nanoseconds share_again = 50us;   // they need about as long until they are there
constexpr nanoseconds active_time = 10ms;   // after which the GPU counts as idle
constexpr nanoseconds alert_nap = 50us;     // the watcher's, while the GPU is active
constexpr nanoseconds relaxed_nap = 250us;  // the watcher's, while others are awake
constexpr nanoseconds idle_nap = 1ms;       // the watcher's, when nothing happened for long
constexpr nanoseconds reserve_nap = 500us;
constexpr nanoseconds finds_stall = 250us;  // who looks at the queues is in a kernel then
constexpr nanoseconds claims_stall = 2ms;   // work-groups that take so long may wait for something
constexpr nanoseconds stop_limit = 2s;
constexpr std::uint32_t nobody = ~std::uint32_t{0};
constexpr unsigned looks_per_queue = 16;  // that bring something, before the next queue is looked at first
constexpr unsigned finds_per_note = 64;   // of short kernels, before the time of the last activity is noted again

nanoseconds now() noexcept { return nanoseconds(gpu_clock()); }

using Queues = std::vector<std::shared_ptr<Queue>>;

/// Ranges of work-groups that a worker began with.
struct alignas(64) Claims {
  std::atomic<std::uint64_t> value{0};
};

/// Tells when a counter has not moved for a while.
class StallWatch {
public:
  [[nodiscard]] bool shows(std::uint64_t count, nanoseconds stall) {
    const nanoseconds present = now();
    if (std::exchange(count_, count) != count) since_ = present;
    return present - since_ >= stall;
  }

private:
  std::uint64_t count_ = 0;
  nanoseconds since_{};
};

}  // namespace

std::uint32_t cores(std::uint32_t workers) noexcept {
  return std::clamp(std::thread::hardware_concurrency(), 1U, workers);
}

struct Scheduler::State {
  State(std::uint32_t worker_count, std::shared_ptr<Executions> what_workers_execute)
      : workers(worker_count), parallel(cores(worker_count)),
        executions(what_workers_execute ? std::move(what_workers_execute)
                                        : std::make_shared<Executions>(worker_count, std::nullopt)),
        claims(worker_count) {}

  const std::uint32_t workers;
  const std::uint32_t parallel;
  const std::shared_ptr<Executions> executions;

  std::atomic<bool> stopping{false};
  std::atomic<std::int64_t> last_activity{0};  // when anything was found

  // The queues: replaced as a whole, so that workers look at a list of their own without a lock.
  std::mutex queues_mutex;
  std::shared_ptr<const Queues> queues = std::make_shared<Queues>();
  std::atomic<std::uint64_t> queues_version{0};

  // Launched kernels whose work-groups are not all taken.
  std::mutex running_mutex;
  std::vector<std::shared_ptr<Dispatch>> running;
  std::atomic<std::size_t> running_count{0};

  WaitingGroups waiting;

  // Who is doing what. While there are queues, `looking` is 0 only when every worker executes.
  std::atomic<std::uint64_t> alarms{0};   // bumped when there may be something new
  std::atomic<std::uint32_t> looking{0};  // awake and not executing
  std::atomic<std::uint32_t> spinning{0};
  std::atomic<std::uint32_t> executing{0};
  std::atomic<std::uint32_t> leader{nobody};
  std::atomic<std::uint32_t> watcher{nobody};
  std::atomic<std::uint32_t> reserve{nobody};

  std::mutex sleep_mutex;
  std::condition_variable wake;   // sleepers
  std::condition_variable alarm;  // nappers
  std::condition_variable ended;
  std::atomic<std::uint32_t> wake_tokens{0};  // changed under the mutex
  std::uint32_t alive = 0;
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::uint32_t> nappers{0};

  alignas(64) std::atomic<std::uint64_t> finds{0};  // the leader's, or what about as many others overwrote
  std::vector<Claims> claims;                       // each worker's

  void wake_sleepers(std::uint32_t count) {
    if (sleepers.load(std::memory_order_seq_cst) == 0) return;
    if (wake_tokens.load(std::memory_order_relaxed) >= count) return;  // they are being woken
    const std::lock_guard lock(sleep_mutex);
    wake_tokens = std::min(wake_tokens + count, sleepers.load(std::memory_order_relaxed));
    for (std::uint32_t i = 0; i != wake_tokens; ++i) wake.notify_one();
  }

  void raise_alarm() {
    alarms.fetch_add(1, std::memory_order_seq_cst);
    // A leader looks anyway; it asks for alarms before it naps, and when it leaves.
    if (leader.load(std::memory_order_seq_cst) == nobody) end_naps();
  }

  void end_naps() {
    if (nappers.load(std::memory_order_seq_cst) == 0 && looking.load(std::memory_order_seq_cst) != 0) return;
    const std::lock_guard lock(sleep_mutex);
    alarm.notify_all();
    if (looking.load(std::memory_order_relaxed) != 0 || sleepers.load(std::memory_order_relaxed) == 0) return;
    wake_tokens = std::max(wake_tokens.load(std::memory_order_relaxed), 1U);
    wake.notify_one();
  }
};

/// One worker thread's loop.
class Scheduler::Worker final : Lookout {
public:
  Worker(State& state, std::uint32_t index) : state_(state), index_(index) {}

  void work() {
    state_.looking.fetch_add(1);
    while (!state_.stopping.load(std::memory_order_relaxed)) {
      seen_alarms_ = state_.alarms.load(std::memory_order_seq_cst);
      refresh_queues();
      visit_waiting();
      const bool helped = help();
      const bool looked = (!helped || state_.waiting.size() != 0) && look();
      come_back();
      if (helped || looked)
        found();
      else
        rest();
    }
    state_.looking.fetch_sub(1);
    give_up_roles();
  }

private:
  /// Runs work-groups of a kernel that another worker launched.
  bool help() {
    if (state_.running_count.load(std::memory_order_acquire) == 0) return false;
    if (!there_is_a_core() && !kernels_are_stuck()) return false;
    std::shared_ptr<Dispatch> dispatch;
    {
      const std::lock_guard lock(state_.running_mutex);
      std::erase_if(state_.running, [](const auto& candidate) { return !candidate->has_unclaimed(); });
      state_.running_count.store(state_.running.size(), std::memory_order_release);
      const auto candidate = std::find_if(state_.running.begin(), state_.running.end(),
                                          [&](const auto& running) { return admits(*running); });
      if (candidate == state_.running.end()) return false;
      dispatch = *candidate;
    }
    execute(dispatch);
    return true;
  }

  [[nodiscard]] bool admits(const Dispatch& dispatch) const {
    if (dispatch.may_wait() && !dispatch.waits_for_itself() && state_.waiting.are_many()) return false;
    return dispatch.admits(index_);
  }

  /// Goes on with each work-group that waits, up to where it waits again.
  void visit_waiting() {
    if (!state_.waiting.wants_visit_by(index_)) return;
    leave();
    for (std::size_t left = state_.waiting.size(); left != 0; --left) {
      auto entry = state_.waiting.take();
      if (!entry) break;
      visit(std::move(*entry));
    }
    if (state_.waiting.size() == 0) state_.waiting.leave(index_);
  }

  void visit(WaitingGroups::Entry entry) {
    Dispatch& dispatch = *entry.dispatch;
    bool last = false;
    if (state_.executions->is_overdue(entry.since)) {
      last = dispatch.end(entry.group);
    } else {
      state_.executions->begin_again(index_, dispatch, entry.since);
      last = dispatch.resume(entry.group, index_);
      state_.executions->end(index_);
    }
    state_.waiting.visited(entry.group == nullptr || entry.group->got_on());
    if (last) complete(dispatch);
    if (entry.group != nullptr) state_.waiting.add(std::move(entry));
  }

  void complete(Dispatch& dispatch) {
    if (!(dispatch.failed() && state_.stopping.load(std::memory_order_relaxed))) dispatch.complete();
  }

  /// Looks at every queue once, the one that was busy last first, unless that had many turns.
  bool look() {
    if (!is_up_to_us()) return false;
    const std::size_t count = queues_->size();
    for (std::size_t i = 0; i != count; ++i) {
      std::size_t at = last_busy_ + i;
      if (at >= count) at -= count;
      Queue::Progress progress = (*queues_)[at]->advance(*this);
      if (!progress.moved) continue;
      lead();
      if (progress.dispatch) start(std::move(progress.dispatch));
      if (at != last_busy_) turns_ = 0;
      last_busy_ = at;
      if (++turns_ == looks_per_queue) {
        turns_ = 0;
        if (++last_busy_ == count) last_busy_ = 0;
      }
      return true;
    }
    return false;
  }

  /// Whether to look at the queues: the leader does, or anybody where nothing was found for a while.
  [[nodiscard]] bool is_up_to_us() {
    const std::uint32_t leader = state_.leader.load(std::memory_order_relaxed);
    if (leader == index_ || (leader == nobody && there_is_a_core())) return true;
    return finds_watch_.shows(state_.finds.load(std::memory_order_relaxed), finds_stall);
  }

  /// Where as many workers execute as there are cores, one more would take a core from them.
  [[nodiscard]] bool there_is_a_core() const {
    return state_.executing.load(std::memory_order_relaxed) < state_.parallel;
  }

  /// Nobody began with another work-group for a while: they may all wait for one that nobody has begun with.
  [[nodiscard]] bool kernels_are_stuck() {
    std::uint64_t claims = 0;
    for (const auto& count : state_.claims) claims += count.value.load(std::memory_order_relaxed);
    return claims_watch_.shows(claims, claims_stall);
  }

  /// Having found something, this worker takes the lead.
  void lead() {
    state_.finds.store(state_.finds.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    led_ = true;
    if (left_ || leads()) return;  // who left leads once it is back
    state_.leader.store(index_, std::memory_order_seq_cst);
    give_up(state_.watcher);
    give_up(state_.reserve);
  }

  [[nodiscard]] bool leads() const { return state_.leader.load(std::memory_order_relaxed) == index_; }

  void refresh_queues() {
    const std::uint64_t version = state_.queues_version.load(std::memory_order_acquire);
    if (version == seen_version_ && queues_) return;
    const std::lock_guard lock(state_.queues_mutex);
    queues_ = state_.queues;
    seen_version_ = version;
    last_busy_ = 0;
  }

  void start(std::shared_ptr<Dispatch> dispatch) {
    if (dispatch->group_count() == 0) {
      dispatch->complete();
      return;
    }
    if (dispatch->properties().is_short && dispatch->admits(index_)) return execute_alone(std::move(dispatch));
    if (dispatch->group_count() > 1 || !dispatch->admits(index_)) {
      const std::lock_guard lock(state_.running_mutex);
      state_.running.push_back(dispatch);
      state_.running_count.store(state_.running.size(), std::memory_order_release);
    }
    if (dispatch->admits(index_))
      execute(dispatch);
    else
      state_.wake_sleepers(state_.workers);
  }

  /// What is over soon: this worker goes on to lead.
  void execute_alone(std::shared_ptr<Dispatch> alone) {
    Dispatch& dispatch = *alone;
    if (!left_) look_away();
    state_.executions->begin(index_, dispatch);
    dispatch.run_alone(index_);
    complete(dispatch);
    state_.executions->end(index_);
    if (!left_) state_.looking.fetch_add(1, std::memory_order_seq_cst);
    was_short_ = true;
    spare = std::move(alone);
  }

  void execute(const std::shared_ptr<Dispatch>& launched) {
    Dispatch& dispatch = *launched;
    leave();
    state_.waiting.leave(index_);
    if (busy_since_ == nanoseconds::zero()) busy_since_ = now();
    state_.executing.fetch_add(1, std::memory_order_relaxed);
    state_.executions->begin(index_, dispatch);
    const auto core = static_cast<std::uint32_t>(std::max(sched_getcpu(), 0));
    std::uint64_t finished = 0;  // told at the end: all workers look at that
    while (const auto range = dispatch.claim(core)) {
      state_.claims[index_].value.store(++claims_, std::memory_order_relaxed);
      finished += dispatch.run(*range, index_, set_aside_);
      share(dispatch);
      if (set_aside_.empty()) continue;
      for (auto& group : set_aside_)
        state_.waiting.add({.dispatch = launched, .group = std::move(group), .since = gpu_clock()});
      set_aside_.clear();
      if (!dispatch.waits_for_itself()) break;  // those that wait already come first
    }
    if (dispatch.finished(finished)) complete(dispatch);
    state_.executions->end(index_);
    state_.executing.fetch_sub(1, std::memory_order_relaxed);
  }

  /// From here on this worker looks at no queue: somebody else must.
  void leave() override {
    if (std::exchange(left_, true)) return;
    led_ = leads();
    give_up_roles();
    look_away();
    if (led_ && alarmed()) state_.end_naps();
  }

  /// For the time being this worker does not look at the queues, but there has to be one who can.
  void look_away() {
    if (state_.looking.fetch_sub(1, std::memory_order_seq_cst) == 1) state_.wake_sleepers(1);
  }

  void come_back() {
    if (!std::exchange(left_, false)) return;
    state_.looking.fetch_add(1, std::memory_order_seq_cst);
    if (led_) static_cast<void>(holds(state_.leader));
  }

  /// Gets others to help once there has been work for a while, and a core for them.
  void share(const Dispatch& dispatch) {
    const std::uint32_t occupied =
        state_.executing.load(std::memory_order_relaxed) + state_.spinning.load(std::memory_order_relaxed);
    if (occupied >= state_.parallel || !dispatch.has_unclaimed()) return;
    const nanoseconds time = now();
    if (time - busy_since_ < share_after || time - shared_ < share_again) return;
    shared_ = time;
    const std::uint32_t wanted = state_.parallel - occupied;
    if (state_.nappers.load(std::memory_order_seq_cst) < wanted) state_.wake_sleepers(wanted);
    state_.alarms.fetch_add(1, std::memory_order_seq_cst);
    state_.end_naps();
  }

  void found() {
    idle_since_ = nanoseconds::zero();
    if (std::exchange(was_short_, false) && ++short_finds_ % finds_per_note != 0) return;
    state_.last_activity.store(now().count(), std::memory_order_relaxed);
  }

  void rest() {
    const nanoseconds time = now();
    if (idle_since_ == nanoseconds::zero()) {
      idle_since_ = time;
      spins_done_ = 0;
    }
    busy_since_ = nanoseconds::zero();
    if (state_.waiting.is_visitor(index_)) {
      if (!state_.waiting.are_stuck()) return std::this_thread::yield();
      give_up(state_.leader);
      return nap(alert_nap);
    }
    const nanoseconds idle = time - idle_since_;
    if (idle < spin_time() && may_spin()) {
      if (idle > spin_alone && ++spins_done_ % spins_per_moment == 0) std::this_thread::sleep_for(moment);
      for (int i = 0; i != 8; ++i) __builtin_ia32_pause();
      return;
    }
    give_up(state_.leader);
    stop_spinning();
    spare.reset();  // with what it keeps

    if (const nanoseconds duration = nap_duration(time); duration != nanoseconds::zero()) {
      nap(duration);
    } else {
      give_up_roles();
      sleep();
    }
  }

  [[nodiscard]] nanoseconds spin_time() const {
    if (state_.executing.load(std::memory_order_relaxed) != 0) return wait_spin;
    return leads() ? lead_spin : help_spin;
  }

  /// How long this worker may doze before it looks again; zero when others look.
  [[nodiscard]] nanoseconds nap_duration(nanoseconds time) {
    if (queues_->empty()) return nanoseconds::zero();
    const nanoseconds quiet = time - nanoseconds(state_.last_activity.load(std::memory_order_relaxed));
    if (holds(state_.watcher)) {
      if (quiet > active_time) return idle_nap;
      const bool others_are_awake = state_.leader.load(std::memory_order_relaxed) != nobody ||
                                    state_.executing.load(std::memory_order_relaxed) != 0 ||
                                    state_.spinning.load(std::memory_order_relaxed) != 0;
      return others_are_awake ? relaxed_nap : alert_nap;
    }
    return quiet < active_time && holds(state_.reserve) ? reserve_nap : nanoseconds::zero();
  }

  [[nodiscard]] bool may_spin() {
    if (spins_) return true;
    const std::uint32_t executing = state_.executing.load(std::memory_order_relaxed);
    if (state_.spinning.fetch_add(1, std::memory_order_relaxed) + executing >= state_.parallel) {
      state_.spinning.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    spins_ = true;
    return true;
  }

  void stop_spinning() {
    if (std::exchange(spins_, false)) state_.spinning.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Takes a role that nobody has, or keeps it.
  [[nodiscard]] bool holds(std::atomic<std::uint32_t>& role) const {
    std::uint32_t holder = role.load();
    if (holder == nobody) return role.compare_exchange_strong(holder, index_);
    return holder == index_;
  }

  void give_up(std::atomic<std::uint32_t>& role) const {
    std::uint32_t self = index_;
    if (role.load(std::memory_order_relaxed) == index_) role.compare_exchange_strong(self, nobody);
  }

  void give_up_roles() {
    give_up(state_.leader);
    give_up(state_.watcher);
    give_up(state_.reserve);
    stop_spinning();
  }

  void nap(nanoseconds duration) {
    std::unique_lock lock(state_.sleep_mutex);
    state_.nappers.fetch_add(1, std::memory_order_seq_cst);
    state_.alarm.wait_for(lock, duration, [&] { return state_.stopping.load() || alarmed(); });
    state_.nappers.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Sleeps until it is woken, unless nobody else would look at the queues.
  void sleep() {
    std::unique_lock lock(state_.sleep_mutex);
    if (alarmed()) return;
    state_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (state_.looking.fetch_sub(1, std::memory_order_seq_cst) != 1 || queues_->empty()) {
      state_.wake.wait(
          lock, [&] { return state_.wake_tokens != 0 || state_.stopping.load() || (queues_->empty() && alarmed()); });
      if (state_.wake_tokens != 0) --state_.wake_tokens;
    }
    state_.looking.fetch_add(1, std::memory_order_seq_cst);
    state_.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Something may be new since this worker last began to look.
  [[nodiscard]] bool alarmed() const { return state_.alarms.load(std::memory_order_seq_cst) != seen_alarms_; }

  State& state_;
  const std::uint32_t index_;
  std::shared_ptr<const Queues> queues_;
  std::uint64_t seen_version_ = 0;
  std::uint64_t seen_alarms_ = 0;
  std::size_t last_busy_ = 0;
  nanoseconds idle_since_{};
  nanoseconds busy_since_{};
  nanoseconds shared_{};
  unsigned turns_ = 0;
  unsigned short_finds_ = 0;
  unsigned spins_done_ = 0;
  StallWatch finds_watch_;
  StallWatch claims_watch_;
  std::uint64_t claims_ = 0;
  bool spins_ = false;
  bool left_ = false;
  bool led_ = false;  // before it left
  bool was_short_ = false;
  Dispatch::Waiting set_aside_;
};

Scheduler::Scheduler(std::uint32_t workers, std::shared_ptr<Executions> executions)
    : state_(std::make_shared<State>(workers, std::move(executions))) {
  state_->alive = workers;
  for (std::uint32_t index = 0; index != workers; ++index) {
    std::thread([state = state_, index] {
      pthread_setname_np(pthread_self(), ("softgpu-" + std::to_string(index)).c_str());
      prctl(PR_SET_TIMERSLACK, 1UL);  // naps of microseconds are to be that short
      state->executions->enlist(index);
      try {
        Worker(*state, index).work();
      } catch (const std::bad_alloc&) {  // outside of any kernel: there is no queue to tell it to
        std::fputs("softgpu: the host has no memory left\n", stderr);
        std::abort();
      }
      const std::lock_guard lock(state->sleep_mutex);
      if (--state->alive == 0) state->ended.notify_all();
    }).detach();
  }
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::add(std::shared_ptr<Queue> queue) {
  {
    const std::lock_guard lock(state_->queues_mutex);
    auto queues = std::make_shared<Queues>(*state_->queues);
    queues->push_back(std::move(queue));
    state_->queues = std::move(queues);
    state_->queues_version.fetch_add(1, std::memory_order_release);
  }
  state_->last_activity.store(now().count(), std::memory_order_relaxed);
  kick();
}

void Scheduler::remove(const Queue& queue) {
  const std::lock_guard lock(state_->queues_mutex);
  auto queues = std::make_shared<Queues>(*state_->queues);
  std::erase_if(*queues, [&](const auto& candidate) { return candidate.get() == &queue; });
  state_->queues = std::move(queues);
  state_->queues_version.fetch_add(1, std::memory_order_release);
}

void Scheduler::kick() { state_->raise_alarm(); }

void Scheduler::stop() {
  std::unique_lock lock(state_->sleep_mutex);
  state_->stopping.store(true);
  state_->wake.notify_all();
  state_->alarm.notify_all();
  const auto deadline = std::chrono::steady_clock::now() + stop_limit;
  do {
    state_->executions->interrupt_all();
  } while (!state_->ended.wait_for(lock, 2ms, [&] { return state_->alive == 0; }) &&
           std::chrono::steady_clock::now() < deadline);
}

}  // namespace softgpu::command_processor
