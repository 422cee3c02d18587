// How to wait, and for how long.
#pragma once

#include <chrono>

namespace fastdispatch {

enum class WaitPolicy {
  spin,             ///< lowest latency; burns a core
  spin_then_block,  ///< spins for about as long as blocking and being woken takes, then blocks
  block,            ///< leaves the core to others at once
};

/// No time limit.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

struct WaitOptions {
  WaitPolicy policy = WaitPolicy::spin_then_block;
  std::chrono::nanoseconds timeout = forever;  ///< after it, TimeoutError
};

}  // namespace fastdispatch
