#include "dispatch/device/completions.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include <pthread.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/blocked_wait.hpp"
#include "dispatch/device/wait.hpp"
#include "dispatch/trace/host_span.hpp"

namespace fastdispatch::detail {

namespace {
constexpr std::chrono::milliseconds between_looks_at_copies{100};  // which may fail without waking anybody
}  // namespace

void Completions::add(AgentQueue& queue, std::uint64_t epoch, CompletionCallback callback) {
  const std::scoped_lock lock(mutex_);
  if (!wake_) wake_.emplace(OwnAgent{Agent(agent_)}, 0);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wanted_.store(wake_->handle(), std::memory_order_release);
  queues_[&queue].pending.emplace(epoch, std::move(callback));
  look();
}

void Completions::remove(AgentQueue& queue) {
  std::unique_lock lock(mutex_);
  const auto found = queues_.find(&queue);
  if (found == queues_.end()) return;
  Watched& watched = found->second;
  watched.leaving = true;
  if (std::this_thread::get_id() == thread_.get_id()) {  // a callback destroys the queue
    while (call_first(queue, watched, lock)) {
    }
  } else {
    look();
    changed_.wait(lock, [&] { return watched.pending.empty() && calling_ != &queue && !watched.waited_for; });
  }
  queues_.erase(&queue);
}

bool Completions::wait(const AgentQueue& queue, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  if (std::this_thread::get_id() == thread_.get_id())
    throw Error("a callback cannot wait for callbacks: it would wait for itself");
  const auto found = std::ranges::find(queues_, &queue, [](const auto& entry) { return entry.first; });
  if (found == queues_.end()) return true;
  // The callback that runs now has left the pending ones, and later ones may come while this thread waits.
  const Watched& watched = found->second;
  const std::uint64_t last = watched.pending.empty() ? calling_epoch_ : watched.pending.rbegin()->first;
  const auto all_called = [&] {
    return (watched.pending.empty() || watched.pending.begin()->first > last) &&
           (calling_ != &queue || calling_epoch_ > last);
  };
  while (!all_called()) {
    if (deadline.passed()) return false;
    changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(deadline.left(), longest_sleep));
  }
  return true;
}

void Completions::look() noexcept {
  const hsa_signal_t signal = wanted_.load(std::memory_order_acquire);
  if (signal.handle != 0) agent_.api->signal_store_screlease(signal, 0);
}

void Completions::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    look();
  }
  thread_.join();
  wanted_.store({}, std::memory_order_release);
  wake_.reset();
}

void Completions::run() {
  pthread_setname_np(pthread_self(), "fd-completions");
  sigset_t all;  // the process's signals are for its own threads
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);

  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_->store(1);  // before looking, so that an event during the look ends the next sleep
    bool called = false;
    for (auto next = queues_.begin(); next != queues_.end();) {
      AgentQueue* queue = next->first;
      called |= call_first(*queue, next->second, lock);
      next = queues_.upper_bound(queue);
    }
    if (!called) sleep(lock);
  }
}

bool Completions::call_first(AgentQueue& queue, Watched& watched, std::unique_lock<std::mutex>& lock) {
  if (watched.pending.empty()) return false;
  const auto first = watched.pending.begin();
  std::optional<Error> failure;
  if (!queue.completed(first->first)) {
    queue.look_at_copies();
    if (const Error* reason = queue.failure(); reason != nullptr)
      failure.emplace(*reason);
    else if (watched.leaving)
      failure.emplace(ErrorKind::queue_failed,
                      "the queue was destroyed before the submission completed: wait before destroying it");
    else
      return false;
  }
  CompletionCallback callback = std::move(first->second);
  const AgentQueue* outer = std::exchange(calling_, &queue);
  const std::uint64_t epoch = first->first;
  const std::uint64_t outer_epoch = std::exchange(calling_epoch_, epoch);
  watched.pending.erase(first);
  lock.unlock();
  {
    const HostSpan span("callback", "callback on completion", {"epoch", epoch});
    callback(failure ? &*failure : nullptr);
    callback = nullptr;
  }
  lock.lock();
  calling_ = outer;
  calling_epoch_ = outer_epoch;
  changed_.notify_all();
  return true;
}

void Completions::sleep(std::unique_lock<std::mutex>& lock) {
  std::vector<QueueGoal> goals;
  std::chrono::nanoseconds timeout = forever;
  for (auto& [queue, watched] : queues_) {
    if (watched.pending.empty()) continue;
    const std::uint64_t epoch = watched.pending.begin()->first;
    goals.push_back({.queue = &queue->blocked_wait(), .goal = queue->completion_of(epoch)});
    watched.waited_for = true;
    if (queue->completed(epoch)) timeout = {};  // since it was looked at
    if (queue->look_at_copies()) timeout = std::min<std::chrono::nanoseconds>(timeout, between_looks_at_copies);
  }
  lock.unlock();
  block_for_first(agent_, goals, wake_->handle(), timeout);
  lock.lock();
  for (auto& [queue, watched] : queues_) watched.waited_for = false;
  changed_.notify_all();
}

}  // namespace fastdispatch::detail
