// Code that was translated soon serves until its kernel has run for a while. Optimized code takes its place then.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "softgpu/compute/host_code/jit.hpp"

namespace softgpu::compute {

/// Thread safety: every member may be called from any thread.
class ProvisionalCode {
public:
  /// `ask` is called once, when the code has run for `enough` on all threads together. It has better code made.
  ProvisionalCode(std::chrono::nanoseconds enough, std::function<void()> ask)
      : left_(enough.count()), ask_(std::move(ask)) {}

  void ran_for(std::chrono::nanoseconds time) noexcept {
    const std::int64_t before = left_.fetch_sub(time.count(), std::memory_order_relaxed);
    if (before > 0 && before <= time.count()) ask_();
  }

  /// Only once.
  void set_better(HostCode code) {
    code_ = std::move(code);
    better_.store(&code_.wave, std::memory_order_release);
  }
  /// Null as long as there is none.
  [[nodiscard]] const WaveCode* better() const noexcept { return better_.load(std::memory_order_acquire); }

private:
  std::atomic<std::int64_t> left_;  ///< nanoseconds
  std::function<void()> ask_;
  HostCode code_;
  std::atomic<const WaveCode*> better_{nullptr};
};

}  // namespace softgpu::compute
