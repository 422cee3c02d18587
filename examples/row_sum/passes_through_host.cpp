#include "passes_through_host.hpp"

#include <cstddef>

namespace fd = fastdispatch;

PassesThroughHost::PassesThroughHost(Problem& problem)
    : problem_(problem), fetched_(problem.gpu, problem.partials.size()),
      rows_on_host_(problem.gpu, problem.partials.size()), rows_on_gpu_(problem.gpu, problem.partials.size()) {
  std::uint32_t columns = problem.columns;
  do {
    passes_.push_back({problem.kernels.block_sums(problem.rows, columns), columns});
    columns = blocks_of(columns);
  } while (columns > 1);
}

void PassesThroughHost::run() {
  for (const Pass& pass : passes_) {
    const bool is_first = &pass == &passes_.front();
    const bool is_last = &pass == &passes_.back();
    problem_.queue
        .dispatch(pass.launch.kernel, pass.launch.grid, is_first ? problem_.matrix_on_gpu : rows_on_gpu_,
                  is_last ? problem_.sums_on_gpu : problem_.partials, problem_.rows, pass.columns)
        .wait();
    if (!is_last) send_back(blocks_of(pass.columns));
  }
}

// The kernel leaves a block's sums of all rows side by side. The next pass wants the sums of a row side by side.
void PassesThroughHost::send_back(std::uint32_t blocks) {
  const std::size_t count = std::size_t{blocks} * problem_.rows;
  fd::copy(fetched_.span().first(count), problem_.partials.subspan(0, count));
  for (std::size_t row = 0; row < problem_.rows; ++row) {
    for (std::size_t block = 0; block < blocks; ++block)
      rows_on_host_[row * blocks + block] = fetched_[block * problem_.rows + row];
  }
  fd::copy(rows_on_gpu_.subspan(0, count), rows_on_host_.span().first(count));
}
