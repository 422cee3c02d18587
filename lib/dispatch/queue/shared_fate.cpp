#include "dispatch/queue/shared_fate.hpp"

#include "dispatch/queue/queue_failure.hpp"

namespace fastdispatch::detail {

void SharedFate::add(QueueFailure& queue) noexcept {
  const std::scoped_lock lock(mutex_);
  queues_.push_back(&queue);  // there is room
}

void SharedFate::remove(QueueFailure& queue) noexcept {
  const std::scoped_lock lock(mutex_);
  std::erase(queues_, &queue);
}

void SharedFate::fail(const Error& error) noexcept {
  const std::scoped_lock lock(mutex_);
  for (QueueFailure* queue : queues_) queue->fail_alone(error);
}

CopyWatch::Seen SharedFate::look_at_copies() const {
  const std::scoped_lock lock(mutex_);
  CopyWatch::Seen seen;
  for (QueueFailure* queue : queues_) {
    const auto [any, failure] = queue->copies().look();
    seen.any = seen.any || any;
    if (failure) seen.failure = failure;
  }
  return seen;
}

}  // namespace fastdispatch::detail
