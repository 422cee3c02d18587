#include "softgpu/command_processor/executions.hpp"

#include <unistd.h>

#include <csignal>

#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/compute/run_time/interrupt.hpp"

namespace softgpu::command_processor {

Executions::Executions(std::uint32_t workers, std::optional<std::chrono::seconds> time_limit)
    : executions_(workers), time_limit_(time_limit) {
  if (time_limit_) watcher_ = std::thread([this] { watch(); });
}

Executions::~Executions() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void Executions::enlist(std::uint32_t index) {
  // The thread of the program that opened the driver may have blocked any signal.
  sigset_t needed;
  sigemptyset(&needed);
  for (const int number : {SIGURG, SIGSEGV, SIGBUS}) sigaddset(&needed, number);
  pthread_sigmask(SIG_UNBLOCK, &needed, nullptr);
  executions_[index].thread.store(gettid(), std::memory_order_relaxed);
}

void Executions::begin(std::uint32_t index, const Dispatch& dispatch) noexcept {
  begin_again(index, dispatch, time_limit_ ? gpu_clock() : 0);
}

void Executions::begin_again(std::uint32_t index, const Dispatch& dispatch, std::uint64_t since) noexcept {
  Execution& mine = executions_[index];
  mine.queue.store(nullptr, std::memory_order_relaxed);
  if (time_limit_) mine.since.store(since, std::memory_order_relaxed);
  mine.token.store(dispatch.interrupt_token(), std::memory_order_release);
  mine.queue.store(dispatch.queue().get(), std::memory_order_release);
}

void Executions::end(std::uint32_t index) noexcept {
  executions_[index].queue.store(nullptr, std::memory_order_release);
}

bool Executions::is_overdue(std::uint64_t since) const noexcept {
  return time_limit_ &&
         gpu_clock() - since > static_cast<std::uint64_t>(std::chrono::nanoseconds(*time_limit_).count());
}

template <class Condition>
void Executions::interrupt_where(const Condition& condition) const noexcept {
  for (const Execution& execution : executions_) {
    const std::uint64_t token = execution.token.load(std::memory_order_acquire);
    const AqlQueue* queue = execution.queue.load(std::memory_order_acquire);
    const std::uint64_t since = execution.since.load(std::memory_order_relaxed);
    if (token != 0 && queue != nullptr && condition(queue, since))
      compute::interrupt(execution.thread.load(std::memory_order_relaxed), token);
  }
}

void Executions::interrupt(const AqlQueue& queue) const noexcept {
  interrupt_where([&](const AqlQueue* executed, std::uint64_t) { return executed == &queue; });
}

void Executions::interrupt_all() const noexcept {
  interrupt_where([](const AqlQueue*, std::uint64_t) { return true; });
}

void Executions::watch() {
  constexpr std::chrono::milliseconds interval{20};
  const auto limit = static_cast<std::uint64_t>(std::chrono::nanoseconds(*time_limit_).count());
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, interval, [&] { return ending_; })) {
    const std::uint64_t now = gpu_clock();
    interrupt_where([&](const AqlQueue*, std::uint64_t since) { return now > since && now - since > limit; });
  }
}

}  // namespace softgpu::command_processor
