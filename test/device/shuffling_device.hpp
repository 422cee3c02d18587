// Derived fences on a device. The soft GPU is asked to shuffle what no barrier bit keeps in order; each of its queues
// does so from a seed of its own.
#pragma once

#include <cstdlib>

#include "device.hpp"

namespace fastdispatch::test {

inline constexpr unsigned seeds = 200;

// Comes before the runtime, which reads it.
struct ShufflingSoftGpu {
  ShufflingSoftGpu() {
    setenv("FASTDISPATCH_SOFTGPU", SOFTGPU_LIBHSAKMT, 0);
    setenv("SOFTGPU_SHUFFLE", "1", 0);
  }
};

class DerivedFences : ShufflingSoftGpu, public Device {};

}  // namespace fastdispatch::test
