// Row sums of bands, which hide the copy.
#pragma once

#include "problem.hpp"

#include <fastdispatch/fastdispatch.hpp>

/// Copies a band of rows to the GPU while the band before is summed there. Two halves of a buffer take the bands in
/// turns: the GPU never holds the whole matrix.
class BandedSums {
public:
  /// `problem` must outlive this.
  explicit BandedSums(Problem& problem);

  /// From the matrix on the host to the sums there.
  void run() { streams_.submit(batch_).wait(); }

private:
  fastdispatch::DeviceBuffer<float> two_bands_;
  fastdispatch::Batch batch_;
  fastdispatch::Streams streams_;
};
