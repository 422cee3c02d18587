#include "softgpu/command_processor/inactive_signal.hpp"

#include <chrono>
#include <thread>

#include "softgpu/command_processor/signals.hpp"

namespace softgpu::command_processor {
namespace {

/// For a runtime that has no handler any more.
constexpr auto handler_limit = std::chrono::seconds(2);

}  // namespace

void InactiveSignal::ask(std::int64_t bits) {
  is_asked_ = true;
  store_signal(queue_.queue_inactive_signal, bits, host_);
}

bool InactiveSignal::waits_for_answer() {
  if (is_asked_ && load_signal(queue_.queue_inactive_signal) == 0) is_asked_ = false;
  return is_asked_;
}

void InactiveSignal::stop(std::int64_t error_bits) {
  error_.store(error_bits, std::memory_order_release);
  if (check_signal(queue_.queue_inactive_signal, SignalAccess::update)) return;  // ROCr was shut down meanwhile
  store_signal(queue_.queue_inactive_signal, error_bits, host_);
}

// ROCr's handler says that it is done before it stores to the signal for the last time
// (AqlQueue::DynamicScratchHandler), and ~AqlQueue, which looks for that, destroys the signal when the queue is gone:
// the store would abort the program.
void InactiveSignal::wait_for_handler() const {
  const std::int64_t error = error_.load(std::memory_order_acquire);
  if (error == 0) return;
  const auto deadline = std::chrono::steady_clock::now() + handler_limit;
  while (load_signal(queue_.queue_inactive_signal) == error && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
}

}  // namespace softgpu::command_processor
