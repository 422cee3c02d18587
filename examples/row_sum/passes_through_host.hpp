// Row sums by one kernel that is dispatched again and again.
#pragma once

#include "problem.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstdint>
#include <vector>

/// Each pass reduces 256 neighbours of a row to one sum. The host waits for it, fetches the sums, and sends them back
/// as the rows of the next pass, until one sum a row is left: one pass for up to 256 columns, two for up to 65536.
class PassesThroughHost {
public:
  /// `problem` must outlive this.
  explicit PassesThroughHost(Problem& problem);

  /// From the matrix on the GPU to the sums there.
  void run();

private:
  struct Pass {
    Launch<BlockSums> launch;
    std::uint32_t columns;
  };

  void send_back(std::uint32_t blocks);

  Problem& problem_;
  std::vector<Pass> passes_;
  fastdispatch::PinnedBuffer<float> fetched_;
  fastdispatch::PinnedBuffer<float> rows_on_host_;
  fastdispatch::DeviceBuffer<float> rows_on_gpu_;
};
