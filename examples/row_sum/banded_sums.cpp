#include "banded_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fd = fastdispatch;

namespace {

// More bands leave less of the first copy to wait for, and add more dispatches.
constexpr std::uint32_t most_bands = 16;

}  // namespace

// With derived fences a step waits only for the steps that use its band: the library finds out.
BandedSums::BandedSums(Problem& problem)
    : batch_(problem.gpu, {.fences = fd::Fences::derived}), streams_(problem.gpu, {.queues = 2}) {
  const std::size_t columns = problem.columns;
  const std::uint32_t rows_a_band = (problem.rows - 1) / most_bands + 1;
  two_bands_ = {problem.gpu, std::min(2 * rows_a_band, problem.rows) * columns};
  for (std::uint32_t first = 0, half = 0; first < problem.rows; first += rows_a_band, half = 1 - half) {
    const std::uint32_t rows = std::min(rows_a_band, problem.rows - first);
    const auto band = two_bands_.subspan(half * rows_a_band * columns, rows * columns);
    const auto [kernel, grid] = problem.kernels.wavefront_a_row(rows);
    batch_.copy(band, fd::MemoryView(problem.matrix_on_host).subview(first * columns, rows * columns, sizeof(float)));
    batch_.dispatch(kernel, grid, band, fd::write(problem.sums_on_gpu.subspan(first, rows)), rows, problem.columns);
  }
  batch_.copy(problem.sums_on_host, problem.sums_on_gpu);
}
