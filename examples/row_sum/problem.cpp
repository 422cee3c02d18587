#include "problem.hpp"

#include <algorithm>
#include <limits>

namespace fd = fastdispatch;

Problem::Problem(fd::Agent agent, const MatrixSource& source)
    : gpu(agent), kernels(gpu), queue(gpu), rows(static_cast<std::uint32_t>(source.rows)),
      columns(static_cast<std::uint32_t>(source.columns)), matrix_on_host(gpu, source.rows * source.columns),
      matrix_on_gpu(gpu, matrix_on_host.size()), partials(gpu, std::size_t{blocks_of(columns)} * rows),
      sums_on_host(gpu, source.rows), sums_on_gpu(gpu, source.rows) {
  source.write_to(matrix_on_host.span());
  fd::copy(matrix_on_gpu, matrix_on_host);
}

void Problem::clear_sums() {
  std::fill(sums_on_host.begin(), sums_on_host.end(), std::numeric_limits<float>::quiet_NaN());
  fd::copy(sums_on_gpu, sums_on_host);
}
