#include "dispatch/queue/queue_failure.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/queue/shared_fate.hpp"

namespace fastdispatch::detail {

namespace {

// One lock for who fails with whom: a failure goes from queue to queue, which may wait for one another. It is taken
// when a queue comes, goes, fails, or waits for another queue for the first time.
std::mutex& failures() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

PeerWait::PeerWait(QueueFailure& leader, EpochSignal epochs, QueueFailure& follower)
    : leader_(&leader), linked_(leader.fate_ == nullptr || leader.fate_ != follower.fate_), follower_(follower),
      epochs_(std::move(epochs)) {
  if (!linked_) return;
  const std::scoped_lock lock(failures());
  leader.followers_.reserve(leader.followers_.size() + 1);
  follower.leaders_.push_back(this);
  leader.followers_.push_back(this);  // there is room
  follower.follows_.store(true);
}

PeerWait::~PeerWait() {
  if (!linked_) return;
  const std::scoped_lock lock(failures());
  if (leader() == nullptr) return;
  std::erase(leader()->followers_, this);
  std::erase(follower_.leaders_, this);
}

void PeerWait::extend_to(std::uint64_t epoch) noexcept {
  epoch_.store(epoch);
  // A leader that fails looks at its followers after failed_ is set, so one of the two threads sees the other's store.
  if (const Error* reason = leader()->reason(); reason != nullptr && is_open()) follower_.fail(*reason);
}

void QueueFailure::join() noexcept {
  const std::scoped_lock lock(failures());
  if (fate_ != nullptr) fate_->queues_.push_back(this);  // there is room
}

void QueueFailure::leave() noexcept {
  const std::scoped_lock lock(failures());
  if (fate_ != nullptr) std::erase(fate_->queues_, this);
}

void QueueFailure::abandon_followers() noexcept {
  const std::scoped_lock lock(failures());
  for (PeerWait* wait : std::exchange(followers_, {})) {
    wait->leader_.store(nullptr);
    std::erase(wait->follower_.leaders_, wait);
    if (!wait->is_open()) continue;
    try {
      wait->follower_.fail_locked(Error(ErrorKind::queue_failed,
                                        "a queue was destroyed before a submission completed that this queue starts "
                                        "after (Queue::start_after): wait before destroying it"));
    } catch (const std::bad_alloc&) {
      wait->follower_.fail_locked(state_of(agent_).queues.wordless_error());
    }
  }
}

void QueueFailure::fail(const Error& error) noexcept {
  const std::scoped_lock lock(failures());
  fail_locked(error);
}

void QueueFailure::fail_locked(const Error& error) noexcept {
  if (error_) return;
  try {
    error_.emplace(error);
  } catch (const std::bad_alloc&) {
    error_.emplace(state_of(agent_).queues.wordless_error());
  }
  failed_.store(true);
  state_of(agent_).queues.count_failure();
  state_of(agent_).completions.look();
  copies_.release(agent_.api());
  if (fate_ != nullptr)
    for (QueueFailure* queue : fate_->queues_) queue->fail_locked(error);
  for (PeerWait* wait : followers_)
    if (wait->is_open()) wait->follower_.fail_locked(error);
}

void QueueFailure::throw_reason() const {
  std::vector<const QueueFailure*> queues{this};
  if (fate_ != nullptr) {
    const std::scoped_lock lock(failures());
    queues.assign(fate_->queues_.begin(), fate_->queues_.end());
  }
  const Deadline deadline(copies_may_take);
  for (const QueueFailure* queue : queues) queue->copies_.drain(agent_.api(), deadline);
  throw Error(*error_);
}

bool QueueFailure::look_at_copies() noexcept {
  if (fate_ == nullptr && !follows_.load() && !copies_.look().any) return false;
  // Another thread that looks or fails saves this one the look.
  const std::unique_lock lock(failures(), std::try_to_lock);
  return !lock.owns_lock() || look_locked();
}

bool QueueFailure::look_locked() noexcept {
  if (std::exchange(looking_, true)) return false;
  auto [any, failure] = copies_.look();
  if (failure) {
    try {
      fail_locked(
          Error(ErrorKind::queue_failed,
                fmt::format("a copy of a batch failed while it ran: HSA set its completion signal to {}", *failure)));
    } catch (const std::bad_alloc&) {
      fail_locked(state_of(agent_).queues.wordless_error());
    }
  }
  if (fate_ != nullptr)
    for (QueueFailure* queue : fate_->queues_) any = queue->look_locked() || any;
  for (const PeerWait* wait : leaders_)
    if (wait->is_open()) any = wait->leader()->look_locked() || any;
  looking_ = false;
  return any;
}

void SharedFate::fail(const Error& error) noexcept {
  const std::scoped_lock lock(failures());
  for (QueueFailure* queue : queues_) queue->fail_locked(error);
}

}  // namespace fastdispatch::detail
