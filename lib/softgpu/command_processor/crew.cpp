#include "softgpu/command_processor/crew.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "softgpu/command_processor/command_processor.hpp"

namespace softgpu::command_processor {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// How long a worker spins after it last found something. A worker that only helped leaves its core soon: a host that
// waits for each kernel needs the core, and the next kernel of a batch comes at once.
constexpr nanoseconds lead_spin = 100us;
constexpr nanoseconds help_spin = 4us;
// From then on a spinning worker sleeps for a moment now and then: the program's threads may wait for the core. It gets
// the core back at once; after a yield it would wait for the time slices of all others.
constexpr nanoseconds spin_alone = 5us;
constexpr unsigned spins_per_moment = 16;
constexpr nanoseconds moment = 2us;
// While other workers execute, the next kernel waits for them, and they look for it themselves. If they take longer,
// they may have lost their core to another thread; they get the core of this worker once it is free.
constexpr nanoseconds wait_spin = 20us;
constexpr nanoseconds active_time = 10ms;   // after which the GPU counts as idle
constexpr nanoseconds alert_nap = 50us;     // the watcher's, while the GPU is active
constexpr nanoseconds relaxed_nap = 250us;  // the watcher's, while others are awake
constexpr nanoseconds idle_nap = 1ms;       // the watcher's, when nothing happened for long
constexpr nanoseconds reserve_nap = 500us;

}  // namespace

void Crew::wake_sleepers(std::uint32_t count) {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  if (wake_tokens_.load(std::memory_order_relaxed) >= count) return;  // they are being woken
  const std::lock_guard lock(mutex_);
  const std::uint32_t left = sleepers_.load(std::memory_order_relaxed) - wake_tokens_;
  wake_tokens_ += std::min(count, left);
  for (std::uint32_t i = 0; i != wake_tokens_; ++i) wake_.notify_one();
}

void Crew::wake_all() {
  const std::lock_guard lock(mutex_);
  calls_for_all_.fetch_add(1, std::memory_order_seq_cst);
  wake_.notify_all();
  alarm_.notify_all();
}

void Crew::raise_alarm() {
  alarms_.fetch_add(1, std::memory_order_seq_cst);
  // A leader looks anyway; it asks for alarms before it naps, and when it leaves.
  if (leader_.load(std::memory_order_seq_cst) == nobody) end_naps();
}

void Crew::end_naps() {
  if (nappers_.load(std::memory_order_seq_cst) == 0 && looking_.load(std::memory_order_seq_cst) != 0) return;
  const std::lock_guard lock(mutex_);
  alarm_.notify_all();
  if (looking_.load(std::memory_order_relaxed) != 0 || sleepers_.load(std::memory_order_relaxed) == 0) return;
  wake_tokens_ = std::max(wake_tokens_.load(std::memory_order_relaxed), 1U);
  wake_.notify_one();
}

void Crew::call_helpers() {
  const std::uint32_t busy = occupied();
  if (busy >= parallel_) return;
  const std::uint32_t wanted = parallel_ - busy;
  if (nappers_.load(std::memory_order_seq_cst) < wanted) wake_sleepers(wanted);
  alarms_.fetch_add(1, std::memory_order_seq_cst);
  end_naps();
}

void Crew::call_another_helper() {
  const std::lock_guard lock(mutex_);
  if (wake_tokens_ >= sleepers_.load(std::memory_order_relaxed)) return;
  ++wake_tokens_;
  wake_.notify_one();
}

void Crew::note_activity() noexcept { last_activity_.store(gpu_time().count(), std::memory_order_relaxed); }

void Crew::stop() {
  const std::lock_guard lock(mutex_);
  stopping_.store(true);
  wake_.notify_all();
  alarm_.notify_all();
}

void Crew::sign_off() {
  const std::lock_guard lock(mutex_);
  if (--alive_ == 0) ended_.notify_all();
}

bool Crew::all_signed_off_within(nanoseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [&] { return alive_ == 0; });
}

Crew::Member::Member(Crew& crew, std::uint32_t index) : crew_(crew), index_(index) { crew_.looking_.fetch_add(1); }

Crew::Member::~Member() {
  crew_.looking_.fetch_sub(1);
  give_up_roles();
}

void Crew::Member::lead() {
  led_ = true;
  if (left_ || leads()) return;  // a worker that left leads once it is back
  crew_.leader_.store(index_, std::memory_order_seq_cst);
  give_up(crew_.watcher_);
  give_up(crew_.reserve_);
}

void Crew::Member::leave() {
  if (std::exchange(left_, true)) return;
  led_ = leads();
  give_up_roles();
  look_away();
  if (led_ && alarmed()) crew_.end_naps();
}

void Crew::Member::come_back() {
  if (!std::exchange(left_, false)) return;
  look_back();
  if (led_) static_cast<void>(holds(crew_.leader_));
}

// This worker does not look at the queues for a while: another worker has to be able to.
void Crew::Member::look_away() {
  if (crew_.looking_.fetch_sub(1, std::memory_order_seq_cst) == 1) crew_.wake_sleepers(1);
}

void Crew::Member::begin_executing() {
  leave();
  if (!std::exchange(executes_, true)) crew_.executing_.fetch_add(1, std::memory_order_relaxed);
}

void Crew::Member::end_executing() {
  if (std::exchange(executes_, false)) crew_.executing_.fetch_sub(1, std::memory_order_relaxed);
}

void Crew::Member::found() noexcept { idle_since_ = nanoseconds::zero(); }

bool Crew::Member::spin() {
  const nanoseconds time = gpu_time();
  if (idle_since_ == nanoseconds::zero()) {
    idle_since_ = time;
    spins_done_ = 0;
  }
  const nanoseconds idle = time - idle_since_;
  if (idle >= spin_time() || !may_spin()) return false;
  if (idle > spin_alone && ++spins_done_ % spins_per_moment == 0) std::this_thread::sleep_for(moment);
  for (int i = 0; i != 8; ++i) __builtin_ia32_pause();
  return true;
}

void Crew::Member::doze(bool there_are_queues) {
  give_up(crew_.leader_);
  stop_spinning();
  const nanoseconds duration = there_are_queues ? nap_duration() : nanoseconds::zero();
  if (duration != nanoseconds::zero()) return nap(duration);
  give_up_roles();
  sleep(there_are_queues);
}

void Crew::Member::nap_shortly() {
  give_up(crew_.leader_);
  nap(alert_nap);
}

nanoseconds Crew::Member::spin_time() const noexcept {
  if (crew_.executing_.load(std::memory_order_relaxed) != 0) return wait_spin;
  return leads() ? lead_spin : help_spin;
}

bool Crew::Member::may_spin() {
  if (spins_) return true;
  const std::uint32_t executing = crew_.executing_.load(std::memory_order_relaxed);
  if (crew_.spinning_.fetch_add(1, std::memory_order_relaxed) + executing >= crew_.parallel_) {
    crew_.spinning_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  spins_ = true;
  return true;
}

void Crew::Member::stop_spinning() {
  if (std::exchange(spins_, false)) crew_.spinning_.fetch_sub(1, std::memory_order_relaxed);
}

/// How long this worker may doze before it looks again; zero when other workers look.
nanoseconds Crew::Member::nap_duration() {
  const nanoseconds quiet = gpu_time() - nanoseconds(crew_.last_activity_.load(std::memory_order_relaxed));
  if (holds(crew_.watcher_)) {
    if (quiet > active_time) return idle_nap;
    const bool others_are_awake = crew_.leader_.load(std::memory_order_relaxed) != nobody || crew_.occupied() != 0;
    return others_are_awake ? relaxed_nap : alert_nap;
  }
  return quiet < active_time && holds(crew_.reserve_) ? reserve_nap : nanoseconds::zero();
}

void Crew::Member::nap(nanoseconds duration) {
  std::unique_lock lock(crew_.mutex_);
  crew_.nappers_.fetch_add(1, std::memory_order_seq_cst);
  crew_.alarm_.wait_for(lock, duration, [&] { return crew_.stopping_.load() || alarmed(); });
  crew_.nappers_.fetch_sub(1, std::memory_order_relaxed);
}

// Sleeps until it is woken, unless no other worker would look at the queues.
void Crew::Member::sleep(bool there_are_queues) {
  std::unique_lock lock(crew_.mutex_);
  if (alarmed()) return;
  crew_.sleepers_.fetch_add(1, std::memory_order_seq_cst);
  if (crew_.looking_.fetch_sub(1, std::memory_order_seq_cst) != 1 || !there_are_queues) {
    crew_.wake_.wait(lock, [&] {
      return crew_.wake_tokens_ != 0 || crew_.calls_for_all_.load() != seen_calls_ || crew_.stopping_.load() ||
             (!there_are_queues && alarmed());
    });
    if (crew_.wake_tokens_ != 0) --crew_.wake_tokens_;
  }
  crew_.looking_.fetch_add(1, std::memory_order_seq_cst);
  crew_.sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

/// Takes a role that no worker has, or keeps it.
bool Crew::Member::holds(std::atomic<std::uint32_t>& role) const {
  std::uint32_t holder = role.load();
  if (holder == nobody) return role.compare_exchange_strong(holder, index_);
  return holder == index_;
}

void Crew::Member::give_up(std::atomic<std::uint32_t>& role) const {
  std::uint32_t self = index_;
  if (role.load(std::memory_order_relaxed) == index_) role.compare_exchange_strong(self, nobody);
}

void Crew::Member::give_up_roles() {
  give_up(crew_.leader_);
  give_up(crew_.watcher_);
  give_up(crew_.reserve_);
  stop_spinning();
}

}  // namespace softgpu::command_processor
