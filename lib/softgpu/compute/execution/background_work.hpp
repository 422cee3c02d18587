// A thread for work that nobody waits for.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace softgpu::compute {

/// Thread safety: every member may be called from any thread.
class BackgroundWork {
public:
  BackgroundWork();
  /// As stop().
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// Has `job` done after those before it. It must throw nothing. Where the process may have no more threads, it is not
  /// done.
  void add(std::function<void()> job) noexcept;
  /// No other job begins. Waits for the present one to end, but not for long: it must then own what it uses.
  void stop() noexcept;

private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace softgpu::compute
