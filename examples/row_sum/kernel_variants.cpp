#include "kernel_variants.hpp"

#include "host_loop.hpp"
#include "passes_through_host.hpp"
#include "plain_read.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace fd = fastdispatch;

namespace {

std::vector<Variant> host_loops(Problem& problem) {
  const auto on_one_core = [&problem] { sum_rows(problem.matrix(), 0, problem.rows, problem.sums_on_host.span()); };
  const auto on_all_cores = [&problem] {
    for_each_band(problem.rows, [&problem](std::size_t first, std::size_t last) {
      sum_rows(problem.matrix(), first, last, problem.sums_on_host.span());
    });
  };
  return {{.name = "CPU, one core", .run = on_one_core, .run_with_copies = {}, .reads = {}},
          {.name = "CPU, " + std::to_string(host_threads()) + " threads",
           .run = on_all_cores,
           .run_with_copies = {},
           .reads = {}}};
}

Variant passes_through_host(Problem& problem) {
  const auto passes = std::make_shared<PassesThroughHost>(problem);
  return {.name = "passes through the host",
          .run = [passes] { passes->run(); },
          .run_with_copies =
              [&problem, passes] {
                fd::copy(problem.matrix_on_gpu, problem.matrix_on_host);
                passes->run();
                fd::copy(problem.sums_on_host, problem.sums_on_gpu);
              },
          .reads = Memory::device};
}

// A variant whose dispatches `record` adds to a batch.
Variant batch_variant(std::string name, Problem& problem, fd::Fences fences,
                      const std::function<void(fd::Batch&)>& record) {
  const auto kernels = std::make_shared<fd::Batch>(problem.gpu, fd::BatchOptions{.fences = fences});
  const auto all = std::make_shared<fd::Batch>(problem.gpu, fd::BatchOptions{.fences = fences});
  record(*kernels);
  all->copy(problem.matrix_on_gpu, problem.matrix_on_host);
  record(*all);
  all->copy(problem.sums_on_host, problem.sums_on_gpu);
  return {.name = std::move(name),
          .run = [&problem, kernels] { problem.queue.submit(*kernels).wait(); },
          .run_with_copies = [&problem, all] { problem.queue.submit(*all).wait(); },
          .reads = Memory::device};
}

// The first launch writes sums of 256 neighbours to memory, the second adds up these sums.
Variant two_launches(Problem& problem, fd::Fences fences) {
  return batch_variant("two launches through LDS", problem, fences, [&problem](fd::Batch& batch) {
    const auto first = problem.kernels.block_sums(problem.rows, problem.columns);
    const auto second = problem.kernels.sums_of_blocks(problem.rows);
    batch.dispatch(first.kernel, first.grid, problem.matrix_on_gpu, problem.partials, problem.rows, problem.columns);
    batch.dispatch(second.kernel, second.grid, problem.partials, problem.sums_on_gpu, problem.rows,
                   blocks_of(problem.columns));
  });
}

Variant single_launch(std::string name, Problem& problem, fd::Fences fences, const Launch<RowSums>& launch) {
  return batch_variant(std::move(name), problem, fences, [&problem, &launch](fd::Batch& batch) {
    batch.dispatch(launch.kernel, launch.grid, problem.matrix_on_gpu, problem.sums_on_gpu, problem.rows,
                   problem.columns);
  });
}

}  // namespace

Variant wavefront_a_row(Problem& problem, fd::Fences fences) {
  return single_launch("a wavefront a row", problem, fences, problem.kernels.wavefront_a_row(problem.rows));
}

std::vector<Variant> kernel_variants(Problem& problem, fd::Fences fences) {
  std::vector<Variant> variants = host_loops(problem);
  variants.push_back(passes_through_host(problem));
  variants.push_back(two_launches(problem, fences));
  variants.push_back(single_launch("a work-group a row", problem, fences, problem.kernels.group_a_row(problem.rows)));
  variants.push_back(wavefront_a_row(problem, fences));
  variants.push_back(plain_read(problem, Memory::device, problem.matrix_on_gpu));
  return variants;
}
