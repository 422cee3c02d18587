// A thread for work that nobody waits for.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace softgpu::compute {

/// Thread safety: every member may be called from any thread.
class BackgroundWork {
public:
  BackgroundWork();
  /// As stop().
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// `job` must throw nothing, and should end early once stop() has been called, which its argument tells.
  using Job = std::function<void(const std::stop_token&)>;

  /// Has `job` done after those before it. Where the process may have no more threads, it is not done.
  void add(Job job) noexcept;
  /// No other job begins. Waits for the present one to end, but for a minute at most: it must then own what it uses.
  void stop() noexcept;

private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace softgpu::compute
