// A thread of the program's blocks until events are raised.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "softgpu/thunk/soft_gpu.hpp"

namespace softgpu::thunk {

/// As hsaKmtWaitOnMultipleEvents. False when the time was up.
[[nodiscard]] inline bool wait_for_events(SoftGpu& gpu, std::span<HsaEvent* const> events, WaitFor mode,
                                          std::uint32_t milliseconds) {
  if (milliseconds != HSA_EVENTTIMEOUT_IMMEDIATE) gpu.command_processor.kick();
  // ROCr passes the largest finite value for "as long as it takes", too.
  const bool forever = milliseconds >= HSA_EVENTTIMEOUT_INFINITE - 1;
  const auto limit = forever ? std::nullopt : std::optional(std::chrono::milliseconds(milliseconds));
  return gpu.events.wait(events, mode, limit);
}

}  // namespace softgpu::thunk
