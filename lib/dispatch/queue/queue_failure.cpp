#include "dispatch/queue/queue_failure.hpp"

#include <new>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/queue/shared_fate.hpp"

namespace fastdispatch::detail {

void QueueFailure::join() noexcept {
  if (fate_ != nullptr) fate_->add(*this);
}

void QueueFailure::leave() noexcept {
  if (fate_ != nullptr) fate_->remove(*this);
}

void QueueFailure::fail(const Error& error) noexcept {
  fail_alone(error);
  if (fate_ != nullptr) fate_->fail(error);
}

void QueueFailure::fail_alone(const Error& error) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (error_) return;
    try {
      error_.emplace(error);
    } catch (const std::bad_alloc&) {
      error_.emplace(state_of(agent_).queues.wordless_error());
    }
    failed_.store(true, std::memory_order_release);
  }
  state_of(agent_).queues.count_failure();
  state_of(agent_).completions.look();
}

bool QueueFailure::look_at_copies() noexcept {
  const auto [any, failure] = fate_ != nullptr ? fate_->look_at_copies() : copies_.look();
  if (!failure || reason() != nullptr) return any;
  try {
    fail(Error(ErrorKind::queue_failed,
               fmt::format("a copy of a batch failed while it ran: HSA set its completion signal to {}", *failure)));
  } catch (const std::bad_alloc&) {
    fail(state_of(agent_).queues.wordless_error());
  }
  return any;
}

}  // namespace fastdispatch::detail
