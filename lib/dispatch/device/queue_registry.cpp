#include "dispatch/device/queue_registry.hpp"

#include <new>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/failure_messages.hpp"

namespace fastdispatch::detail {

void QueueRegistry::add(AgentQueue& queue) {
  const std::scoped_lock lock(mutex_);
  queues_.push_back(&queue);
}

void QueueRegistry::remove(AgentQueue& queue) noexcept {
  const std::scoped_lock lock(mutex_);
  std::erase(queues_, &queue);
}

void QueueRegistry::fail_all(const std::function<Error(std::span<const std::string>)>& describe) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    std::vector<std::string> suspects;
    for (const AgentQueue* queue : queues_) queue->add_running_kernels(suspects);
    last_fault_.emplace(describe(suspects));
  } catch (const std::bad_alloc&) {
    last_fault_.emplace(wordless_error_);
  }
  faults_.fetch_add(1, std::memory_order_release);
  count_failure();
  for (AgentQueue* queue : queues_) queue->fail(*last_fault_);
}

void QueueRegistry::fail(const hsa_queue_t* handle, const std::string& why) noexcept {
  const std::scoped_lock lock(mutex_);
  for (AgentQueue* queue : queues_) {
    if (queue->handle() != handle) continue;
    try {
      std::vector<std::string> suspects;
      queue->add_running_kernels(suspects);
      queue->fail(Error(ErrorKind::queue_failed, fmt::format("{}; {}", why, blame(suspects))));
    } catch (const std::bad_alloc&) {
      queue->fail(wordless_error_);
    }
  }
}

void QueueRegistry::look_at_copies() noexcept {
  // A thread that has the lock looks, or is about to tell of a failure itself.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (AgentQueue* queue : queues_) queue->look_at_copies();
}

void QueueRegistry::throw_if_lost(hsa_signal_t signal, std::uint32_t faults_seen) const {
  const std::scoped_lock lock(mutex_);
  if (faults() != faults_seen) throw Error(*last_fault_);
  for (const AgentQueue* queue : queues_)
    if (const Error* failure = queue->failure(); failure != nullptr && queue->was_to_complete(signal))
      throw Error(*failure);
}

}  // namespace fastdispatch::detail
