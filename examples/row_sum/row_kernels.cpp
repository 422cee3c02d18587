#include "row_kernels.hpp"

#include <row_sum_code_object.hpp>

#include <algorithm>

namespace fd = fastdispatch;

namespace {

constexpr std::uint32_t group_size = 256;

// If a grid with work-items for all rows would be too large to count, the work-items take rows in turns.
constexpr std::uint32_t most_items = 1U << 31U;

constexpr std::uint32_t groups_for(std::uint32_t items) { return (items + group_size - 1) / group_size; }

fd::Grid grid_of_groups(std::uint32_t groups) {
  return fd::grid(std::min(groups, most_items / group_size) * group_size).group(group_size);
}

}  // namespace

std::uint32_t blocks_of(std::uint32_t columns) { return groups_for(columns); }

RowKernels::RowKernels(fd::Agent gpu)
    : wavefronts_a_group_(group_size / gpu.wavefront_size()), compute_units_(gpu.compute_units()),
      module_(fd::Module::load(gpu, code_objects::row_sum(), "row_sum")) {}

Launch<BlockSums> RowKernels::block_sums(std::uint32_t rows, std::uint32_t columns) const {
  const std::uint32_t width = blocks_of(columns) * group_size;
  return {module_.kernel<BlockSums>("block_sums"),
          fd::grid(width, std::clamp(most_items / width, 1U, rows)).group(group_size)};
}

Launch<SumsOfBlocks> RowKernels::sums_of_blocks(std::uint32_t rows) const {
  return {module_.kernel<SumsOfBlocks>("sums_of_blocks"), grid_of_groups(groups_for(rows))};
}

Launch<RowSums> RowKernels::group_a_row(std::uint32_t rows) const {
  return {module_.kernel<RowSums>("group_a_row"), grid_of_groups(rows)};
}

Launch<RowSums> RowKernels::wavefront_a_row(std::uint32_t rows) const {
  return {module_.kernel<RowSums>("wavefront_a_row"), grid_of_groups((rows - 1) / wavefronts_a_group_ + 1)};
}

Launch<PlainReadKernel> RowKernels::plain_read(std::size_t elements) const {
  constexpr std::size_t elements_at_a_time = 16;  // four loads of four
  const std::size_t groups = elements / elements_at_a_time / group_size;
  return {module_.kernel<PlainReadKernel>("plain_read"),
          grid_of_groups(static_cast<std::uint32_t>(std::clamp<std::size_t>(groups, 1, 4 * compute_units_)))};
}
