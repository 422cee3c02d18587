// The kernels of kernels/row_sum.hip with their grids.
#pragma once

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <cstdint>

using BlockSums = void(const float* matrix, float* partials, std::uint32_t rows, std::uint32_t columns);
using SumsOfBlocks = void(const float* partials, float* sums, std::uint32_t rows, std::uint32_t blocks);
using RowSums = void(const float* matrix, float* sums, std::uint32_t rows, std::uint32_t columns);
using PlainReadKernel = void(const std::uint32_t* words, std::uint32_t* sums, std::uint64_t count,
                             std::uint32_t quads_each);

/// A kernel and the grid that it is dispatched with.
template <class Signature>
struct Launch {
  fastdispatch::Kernel<Signature> kernel;
  fastdispatch::Grid grid;
};

/// How many blocks of 256 neighbours a row has. The last may be smaller.
[[nodiscard]] std::uint32_t blocks_of(std::uint32_t columns);

class RowKernels {
public:
  explicit RowKernels(fastdispatch::Agent gpu);

  [[nodiscard]] Launch<BlockSums> block_sums(std::uint32_t rows, std::uint32_t columns) const;
  [[nodiscard]] Launch<SumsOfBlocks> sums_of_blocks(std::uint32_t rows) const;
  [[nodiscard]] Launch<RowSums> group_a_row(std::uint32_t rows) const;
  [[nodiscard]] Launch<RowSums> wavefront_a_row(std::uint32_t rows) const;
  /// As many work-items as keep the GPU busy, but none with less to read than it loads at a time.
  [[nodiscard]] Launch<PlainReadKernel> plain_read(std::size_t elements) const;

private:
  std::uint32_t wavefronts_a_group_;
  std::uint32_t compute_units_;
  fastdispatch::Module module_;
};
