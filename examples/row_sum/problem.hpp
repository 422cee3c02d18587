// What all variants share.
#pragma once

#include "host_sums.hpp"
#include "matrix_source.hpp"
#include "row_kernels.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// The matrix and the sums of its rows on both sides, the kernels, and a queue for them.
struct Problem {
  /// Throws fastdispatch::Error when memory is exhausted, and what `source` throws.
  Problem(fastdispatch::Agent gpu, const MatrixSource& source);

  [[nodiscard]] Matrix matrix() const { return {matrix_on_host.span(), rows, columns}; }
  /// A sum that is not written stays visible.
  void clear_sums();

  fastdispatch::Agent gpu;
  RowKernels kernels;
  fastdispatch::Queue queue;
  std::uint32_t rows;
  std::uint32_t columns;
  fastdispatch::PinnedBuffer<float> matrix_on_host;
  fastdispatch::DeviceBuffer<float> matrix_on_gpu;
  fastdispatch::DeviceBuffer<float> partials;  ///< sums of blocks of 256 neighbours
  fastdispatch::PinnedBuffer<float> sums_on_host;
  fastdispatch::DeviceBuffer<float> sums_on_gpu;
};
