#include "softgpu/command_processor/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/prctl.h>

#include "softgpu/command_processor/aql_queue.hpp"
#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/command_processor/fault_watch.hpp"
#include "softgpu/command_processor/scheduler_state.hpp"
#include "softgpu/command_processor/stall_watch.hpp"

namespace softgpu::command_processor {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr nanoseconds share_after = 30us;  // of uninterrupted work, before others are woken for a queue's last kernel
constexpr nanoseconds share_again = 50us;  // they need about as long until they are there
// The operating system may queue a worker that was called for a core on which another thread keeps running, and leave
// it there for milliseconds. After so many calls without an answer, the next call goes to another worker, which may get
// the core that is idle now.
constexpr unsigned calls_in_vain = 6;
// Without work-groups left, a worker spins for the next kernel: the worker that ends this kernel launches it. If the
// queue has no packets yet, the program may need the core to write some.
constexpr nanoseconds next_packet_spin = 20us;
constexpr nanoseconds no_packet_spin = 3us;
constexpr nanoseconds finds_stall = 250us;  // the worker that looks at the queues is in a kernel then
constexpr nanoseconds claims_stall = 2ms;   // work-groups that take so long may wait for something
constexpr nanoseconds stop_limit = 2s;
// After so many kernels of one queue, or so long, a worker looks at another queue first.
constexpr unsigned turns_per_queue = 16;
constexpr nanoseconds longest_stay = 250us;
// Between two turns of work-groups whose turn was over, a worker does other work for so long, if there is any.
constexpr nanoseconds between_turns = 5ms;
constexpr unsigned finds_per_note = 64;  // short kernels before the time of the last activity is noted again

}  // namespace

std::uint32_t cores(std::uint32_t workers) noexcept {
  return std::clamp(std::thread::hardware_concurrency(), 1U, workers);
}

/// One worker thread's loop.
class Scheduler::Worker final : Lookout {
public:
  Worker(State& state, std::uint32_t index)
      : state_(state), index_(index), self_(state.crew, index), place_(state.places, index) {}

  void work() {
    while (!state_.crew.stops()) {
      self_.begin_round();
      refresh_queues();
      visit_waiting();
      const bool helped = help();
      const bool looked = (!helped || state_.waiting.size() + state_.paused.size() != 0) && look();
      const bool resumed = resume_paused(helped || looked);
      self_.come_back();
      if (helped || looked || resumed)
        found();
      else
        rest();
    }
  }

private:
  void refresh_queues() {
    const std::uint64_t version = state_.queues_version.load(std::memory_order_acquire);
    if (version == seen_version_ && queues_) return;
    const std::lock_guard lock(state_.queues_mutex);
    queues_ = state_.queues;
    seen_version_ = version;
    last_busy_ = 0;
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

  void visit(SetAsideGroup entry) {
    go_on_with(entry);
    state_.waiting.visited(entry.group == nullptr || entry.group->got_on());
    if (entry.group != nullptr) set_aside(std::move(entry));
  }

  /// Leaves it in `entry` if it is to be set aside again.
  void go_on_with(SetAsideGroup& entry) {
    Dispatch& dispatch = *entry.dispatch;
    bool last = false;
    if (state_.executions->is_overdue(entry.since)) {
      last = dispatch.end(entry.group);
    } else {
      state_.executions->begin_again(index_, dispatch, entry.since);
      last = dispatch.resume(entry.group, index_);
      state_.executions->end(index_);
    }
    if (last) complete(dispatch);
  }

  void set_aside(SetAsideGroup entry) {
    if (entry.group->can_go_on())
      state_.paused.add(std::move(entry));
    else
      state_.waiting.add(std::move(entry));
  }

  /// Gives a work-group whose turn was over another turn.
  bool resume_paused(bool there_is_other_work) {
    if (state_.paused.size() == 0 || !state_.crew.has_a_core()) return false;
    if (there_is_other_work && gpu_time() - last_turn_ < between_turns) return false;
    auto entry = state_.paused.take();
    if (!entry) return false;
    self_.begin_executing();
    place_.settle();
    go_on_with(*entry);
    if (entry->group != nullptr) set_aside(std::move(*entry));
    place_.leave();
    self_.end_executing();
    last_turn_ = gpu_time();
    return true;
  }

  /// Runs work-groups of a kernel that another worker launched.
  bool help() {
    if (state_.running.is_empty()) return false;
    if (!state_.crew.has_a_core() && !kernels_are_stuck()) return false;
    auto dispatch = join_one();
    if (!dispatch) return false;
    execute(std::move(dispatch));
    return true;
  }

  [[nodiscard]] std::shared_ptr<Dispatch> join_one() {
    return state_.running.join([&](const Dispatch& dispatch) {
      if (dispatch.may_wait() && !dispatch.waits_for_itself() && state_.waiting.are_many()) return false;
      if (dispatch.has_enough_in_turns(state_.crew.parallel()) || !dispatch.has_places()) return false;
      return dispatch.admits(index_);
    });
  }

  /// No worker began another work-group for a while: all may wait for a work-group that has not begun.
  [[nodiscard]] bool kernels_are_stuck() {
    std::uint64_t claims = 0;
    for (const auto& count : state_.claims) claims += count.value.load(std::memory_order_relaxed);
    return claims_watch_.shows(claims, claims_stall);
  }

  /// Whether there are work-groups that this worker may run and others may not: nobody calls this one again.
  [[nodiscard]] bool has_work_of_few() {
    const auto last_worker = static_cast<std::uint32_t>(state_.claims.size() - 1);
    return state_.running.any(
        [&](const Dispatch& dispatch) { return dispatch.admits(index_) && !dispatch.admits(last_worker); });
  }

  /// Looks at every queue once; first at the queue that was busy last, unless it had many turns.
  bool look() {
    if (!is_up_to_us()) return false;
    const std::size_t count = queues_->size();
    for (std::size_t i = 0; i != count; ++i) {
      std::size_t at = last_busy_ + i;
      if (at >= count) at -= count;
      Queue::Progress progress = (*queues_)[at]->advance(*this);
      if (!progress.moved) continue;
      note_find();
      if (std::exchange(rested_, false)) fault_watch_.look();
      self_.lead();
      if (std::exchange(last_busy_, at) != at) turns_ = 0;
      launched_ = 1;
      if (progress.dispatch) start(std::move(progress.dispatch));
      turns_ += launched_;
      if (turns_ >= turns_per_queue) {
        turns_ = 0;
        if (++last_busy_ == count) last_busy_ = 0;
      }
      return true;
    }
    return false;
  }

  /// Whether to look at the queues: the leader does, and every worker does when nothing was found for a while.
  [[nodiscard]] bool is_up_to_us() {
    if (self_.leads() || (self_.nobody_leads() && state_.crew.has_a_core())) return true;
    return finds_watch_.shows(state_.finds.load(std::memory_order_relaxed), finds_stall);
  }

  void note_find() { state_.finds.store(state_.finds.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  void start(std::shared_ptr<Dispatch> dispatch) {
    if (auto mine = hand_out(std::move(dispatch))) execute(std::move(mine));
  }

  /// Runs a short kernel at once. Otherwise returns the dispatch if this worker is to run work-groups of it, or calls
  /// the others.
  [[nodiscard]] std::shared_ptr<Dispatch> hand_out(std::shared_ptr<Dispatch> dispatch) {
    if (dispatch->group_count() == 0) {
      dispatch->complete();
      return nullptr;
    }
    const bool is_for_me = dispatch->admits(index_);
    if (dispatch->properties().is_short && is_for_me) {
      execute_alone(std::move(dispatch));
      return nullptr;
    }
    if (is_for_me) dispatch->join();
    if (dispatch->group_count() > 1 || !is_for_me) state_.running.add(dispatch);
    if (is_for_me) return dispatch;
    state_.crew.raise_alarm();
    state_.crew.wake_all();
    return nullptr;
  }

  /// Runs a kernel that is over soon; this worker goes on to lead.
  void execute_alone(std::shared_ptr<Dispatch> alone) {
    Dispatch& dispatch = *alone;
    const bool looks = !self_.has_left();
    if (looks) self_.look_away();
    state_.executions->begin(index_, dispatch);
    const std::uint64_t finished = dispatch.run_alone(index_, set_aside_);
    const bool ended = set_aside_.empty() && finished == dispatch.group_count();
    if (!ended) set_aside_groups_of(alone);
    if (ended || dispatch.finished(finished)) complete(dispatch);
    state_.executions->end(index_);
    if (looks) self_.look_back();
    was_short_ = true;
    if (ended) spare = std::move(alone);
  }

  /// Runs work-groups of a dispatch that this worker has joined, then of the dispatches that follow at once.
  void execute(std::shared_ptr<Dispatch> dispatch) {
    self_.begin_executing();
    place_.settle();
    state_.waiting.leave(index_);
    const nanoseconds begin = gpu_time();
    if (busy_since_ == nanoseconds::zero()) busy_since_ = begin;
    for (unsigned kernels = 1;; ++kernels) {
      const bool ended = run_share(dispatch);
      if (ended)
        complete(*dispatch);
      else
        dispatch->part();
      if (kernels == turns_per_queue || gpu_time() - begin > longest_stay) break;
      if (state_.waiting.size() != 0 || state_.crew.stops()) break;
      auto next = ended ? launch_next(std::move(dispatch)) : wait_for_next();
      if (!next) break;
      dispatch = std::move(next);
      self_.begin_executing();  // it may have left for a translation
    }
    state_.executions->end(index_);
    place_.leave();
    self_.end_executing();
  }

  /// Runs work-groups until none are left to take. True if they were the last to end.
  [[nodiscard]] bool run_share(const std::shared_ptr<Dispatch>& launched) {
    Dispatch& dispatch = *launched;
    state_.executions->begin(index_, dispatch);
    const std::uint32_t core = place_.note();
    std::uint64_t finished = 0;  // told at the end: all workers look at that
    while (const auto range = dispatch.claim(core)) {
      state_.claims[index_].value.store(++claims_, std::memory_order_relaxed);
      finished += dispatch.run(*range, index_, set_aside_);
      share(dispatch);
      if (set_aside_.empty() && dispatch.has_places()) continue;
      set_aside_groups_of(launched);
      if (!dispatch.waits_for_itself()) break;  // work-groups that wait already come first
    }
    // Before the queue may be gone: once all have told what they finished.
    backlog_ = finished != 0 ? dispatch.queue()->backlog() : AqlQueue::Backlog::none;
    return dispatch.finished(finished);
  }

  void set_aside_groups_of(const std::shared_ptr<Dispatch>& dispatch) {
    bool call = false;
    for (auto& group : set_aside_) {
      call = call || group->can_go_on();
      set_aside({.dispatch = dispatch, .group = std::move(group), .since = gpu_clock()});
    }
    set_aside_.clear();
    if (dispatch->has_unclaimed()) state_.running.add_again(dispatch);
    if (call) state_.crew.call_helpers();
  }

  /// Calls other workers if there is a core for them: at once if the queue has more packets, else after a while.
  void share(const Dispatch& dispatch) {
    if (!state_.crew.has_an_idle_core()) {
      calls_ = 0;
      return;
    }
    if (!dispatch.has_unclaimed()) return;
    const nanoseconds time = gpu_time();
    if (time - busy_since_ < share_after && dispatch.queue()->backlog() == AqlQueue::Backlog::none) return;
    if (time - shared_ < share_again) return;
    shared_ = time;
    if (++calls_ % calls_in_vain == 0)
      state_.crew.call_another_helper();
    else
      state_.crew.call_helpers();
  }

  void complete(Dispatch& dispatch) {
    if (!(dispatch.failed() && state_.crew.stops())) dispatch.complete();
  }

  /// Looks at the queue of the dispatch that ended: a packet may have waited for its end.
  [[nodiscard]] std::shared_ptr<Dispatch> launch_next(std::shared_ptr<Dispatch> ended) {
    state_.running.remove(*ended);
    const std::shared_ptr<AqlQueue> queue = ended->queue();
    if (ended->is_left_by_others()) spare = std::move(ended);
    Queue::Progress progress = queue->advance(*this);
    if (!progress.moved) return nullptr;
    ++launched_;
    note_find();
    found();
    return progress.dispatch ? hand_out(std::move(progress.dispatch)) : nullptr;
  }

  [[nodiscard]] std::shared_ptr<Dispatch> wait_for_next() {
    if (state_.crew.is_crowded() || backlog_ == AqlQueue::Backlog::launchable) return nullptr;
    const nanoseconds end = gpu_time() + (backlog_ == AqlQueue::Backlog::blocked ? next_packet_spin : no_packet_spin);
    do {
      if (auto next = join_one()) return next;
      __builtin_ia32_pause();
    } while (gpu_time() < end && !state_.crew.stops());
    return nullptr;
  }

  /// From here on this worker looks at no queue: another worker must.
  void leave() override {
    self_.leave();
    self_.end_executing();
  }

  void found() {
    self_.found();
    if (std::exchange(was_short_, false) && ++short_finds_ % finds_per_note != 0) return;
    state_.crew.note_activity();
    fault_watch_.look();
  }

  void rest() {
    rested_ = true;
    busy_since_ = nanoseconds::zero();
    if (state_.waiting.is_visitor(index_)) {
      if (state_.waiting.are_stuck()) return self_.nap_shortly();
      return std::this_thread::yield();
    }
    if (self_.spin()) return;
    if (has_work_of_few()) return self_.nap_shortly();
    spare.reset();  // with what it keeps
    self_.doze(!queues_->empty());
  }

  State& state_;
  const std::uint32_t index_;
  Crew::Member self_;
  Places::Own place_;
  std::shared_ptr<const Queues> queues_;
  std::uint64_t seen_version_ = 0;
  std::size_t last_busy_ = 0;
  nanoseconds busy_since_{};
  nanoseconds shared_{};
  unsigned calls_ = 0;  // in a row, with an idle core all the while
  unsigned turns_ = 0;
  unsigned launched_ = 0;  // in the present turn
  unsigned short_finds_ = 0;
  StallWatch finds_watch_;
  StallWatch claims_watch_;
  std::uint64_t claims_ = 0;
  bool was_short_ = false;
  bool rested_ = true;  // since it last found something
  FaultWatch fault_watch_;
  AqlQueue::Backlog backlog_ = AqlQueue::Backlog::none;  // of the queue whose kernel was executed last
  nanoseconds last_turn_{};  // when the last turn of a work-group ended whose turn had been over before
  Dispatch::SetAside set_aside_;
};

Scheduler::Scheduler(std::uint32_t workers, std::shared_ptr<Executions> executions)
    : state_(std::make_shared<State>(workers, std::move(executions))) {
  std::uint32_t started = 0;
  try {
    for (; started != workers; ++started) start_worker(started);
  } catch (...) {  // the system gives no more threads
    for (; started != workers; ++started) state_->crew.sign_off();
    stop();
    throw;
  }
}

void Scheduler::start_worker(std::uint32_t index) {
  std::thread([state = state_, index] {
    pthread_setname_np(pthread_self(), ("softgpu-" + std::to_string(index)).c_str());
    prctl(PR_SET_TIMERSLACK, 1UL);  // naps of microseconds are to be that short
    std::fesetenv(FE_DFL_ENV);      // the program may round otherwise or flush denormals
    state->executions->enlist(index);
    try {
      Worker(*state, index).work();
    } catch (const std::bad_alloc&) {  // outside of any kernel: there is no queue to tell it to
      std::fputs("softgpu: the host has no memory left\n", stderr);
      std::abort();
    }
    state->crew.sign_off();
  }).detach();
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::add(std::shared_ptr<Queue> queue) {
  {
    const std::lock_guard lock(state_->queues_mutex);
    auto queues = std::make_shared<Queues>(*state_->queues);
    queues->push_back(std::move(queue));
    state_->spare_lists.push_back(std::make_shared<Queues>());
    state_->spare_lists.back()->reserve(queues->size());
    state_->queues = std::move(queues);
    state_->queues_version.fetch_add(1, std::memory_order_release);
  }
  state_->crew.note_activity();
  kick();
}

void Scheduler::remove(const Queue& queue) {
  const std::lock_guard lock(state_->queues_mutex);
  auto queues = std::move(state_->spare_lists.back());
  state_->spare_lists.pop_back();
  std::ranges::copy_if(*state_->queues, std::back_inserter(*queues),
                       [&](const auto& candidate) { return candidate.get() != &queue; });
  state_->queues = std::move(queues);
  state_->queues_version.fetch_add(1, std::memory_order_release);
}

void Scheduler::kick() { state_->crew.raise_alarm(); }

void Scheduler::stop() {
  state_->crew.stop();
  const auto deadline = std::chrono::steady_clock::now() + stop_limit;
  do {
    state_->executions->interrupt_all();
  } while (!state_->crew.all_signed_off_within(2ms) && std::chrono::steady_clock::now() < deadline);
}

}  // namespace softgpu::command_processor
