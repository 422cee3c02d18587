// Row sums of bands, which hide the copy.
#pragma once

#include "problem.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <array>

/// Copies a band of rows to the GPU while the band before is summed there. Two buffers take the bands in turns: the GPU
/// never holds the whole matrix.
class BandedSums {
public:
  /// `problem` must outlive this.
  explicit BandedSums(Problem& problem);

  /// From the matrix on the host to the sums there.
  void run() { streams_.submit(batch_).wait(); }

private:
  fastdispatch::Batch batch_;
  fastdispatch::Streams streams_;
  std::array<fastdispatch::DeviceBuffer<float>, 2> bands_;
};
