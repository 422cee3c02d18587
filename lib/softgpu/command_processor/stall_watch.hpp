// Noticing that nothing happens.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "softgpu/command_processor/command_processor.hpp"

namespace softgpu::command_processor {

/// Tells when a counter has not moved for a while.
class StallWatch {
public:
  [[nodiscard]] bool shows(std::uint64_t count, std::chrono::nanoseconds stall) {
    const std::chrono::nanoseconds present(gpu_clock());
    if (std::exchange(count_, count) != count) since_ = present;
    return present - since_ >= stall;
  }

private:
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds since_{};
};

}  // namespace softgpu::command_processor
