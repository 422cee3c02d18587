// Keeps the soft GPU's handler of faults in front of the program's, at the cost of a look at the clock.
#pragma once

#include <cstdint>

#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::command_processor {

/// Of a thread that runs kernels or copies.
///
/// Thread safety: none needed, it is for one thread at a time.
class FaultWatch {
public:
  /// To be called before work, once it is there: a handler that the program installed before the work came is then
  /// behind the soft GPU's, unless the last look was a moment ago.
  void look() {
    const std::uint64_t time = gpu_clock();
    if (time - last_ < interval) return;
    last_ = time;
    compute::FaultGuard::stay_in_front();
  }

private:
  static constexpr std::uint64_t interval = 100'000;  // ns: a look takes two system calls
  std::uint64_t last_ = 0;
};

}  // namespace softgpu::command_processor
