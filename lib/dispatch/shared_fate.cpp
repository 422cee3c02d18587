#include "dispatch/shared_fate.hpp"

#include "dispatch/queue_state.hpp"

namespace fastdispatch::detail {

void SharedFate::add(QueueState& queue) noexcept {
  const std::scoped_lock lock(mutex_);
  queues_.push_back(&queue);  // there is room
}

void SharedFate::remove(QueueState& queue) noexcept {
  const std::scoped_lock lock(mutex_);
  std::erase(queues_, &queue);
}

void SharedFate::fail(const Error& error) noexcept {
  const std::scoped_lock lock(mutex_);
  for (QueueState* queue : queues_) queue->fail_alone(error);
}

}  // namespace fastdispatch::detail
