// Where the device writes down when the packets and copies of a timed submission ran.
#pragma once

#include <cstddef>
#include <vector>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/signal.hpp"

namespace fastdispatch::detail {

/// The completion signals of the kernels, in the order of their packets, and of the rest. Shared by the submission,
/// which reads them, and by the image of its packets.
struct KernelTimes {
  KernelTimes(Agent agent, std::size_t dispatches);

  RuntimeShare runtime;  ///< first: signals end before it
  Agent agent;
  std::vector<PooledSignal> signals;
  std::vector<PooledSignal> others;  ///< of copies, and of packets that start them; 1 from the publication on
  bool times_barriers = false;       ///< for a trace: barrier packets have signals, too
};

}  // namespace fastdispatch::detail
