// How a thread passes the time between two looks at something that is about to change.
#pragma once

#include <chrono>
#include <thread>

namespace fastdispatch::detail {

/// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Pauses at first, then yields the core, then sleeps: quick if the change comes at once, cheap if it comes late.
class Backoff {
public:
  enum class Sleep { never, at_last };

  explicit Backoff(Sleep sleep = Sleep::at_last) noexcept : sleep_(sleep) {}

  void operator()() noexcept {
    if (rounds_ < spins + yields) ++rounds_;
    if (rounds_ <= spins) return pause();
    if (rounds_ < spins + yields || sleep_ == Sleep::never) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  /// Whether looks are so far apart by now that slower checks cost nothing in comparison.
  [[nodiscard]] bool slow() const noexcept { return rounds_ > spins; }

private:
  static constexpr unsigned spins = 256;
  static constexpr unsigned yields = 256;
  Sleep sleep_;
  unsigned rounds_ = 0;
};

}  // namespace fastdispatch::detail
