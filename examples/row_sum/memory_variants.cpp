#include "memory_variants.hpp"

#include "banded_sums.hpp"
#include "kernel_variants.hpp"
#include "plain_read.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <span>

namespace fd = fastdispatch;

namespace {

// The kernel reads the GPU's memory.
std::vector<Variant> copied(Problem& problem, std::span<float> pageable, fd::Fences fences) {
  const Variant on_gpu = wavefront_a_row(problem, fences);
  const auto sum_and_fetch = [&problem, sum = on_gpu.run] {
    sum();
    fd::copy(problem.sums_on_host, problem.sums_on_gpu);
  };
  const auto copy_staged = [&problem, pageable, sum_and_fetch] {
    fd::copy(problem.matrix_on_gpu, pageable, {.lock_from = fd::CopyOptions::never_lock});
    sum_and_fetch();
  };
  const auto lock_and_copy = [&problem, pageable, sum_and_fetch] {
    const fd::Pin lock(problem.gpu, pageable);
    fd::copy(problem.matrix_on_gpu, lock);
    sum_and_fetch();
  };
  const auto bands = std::make_shared<BandedSums>(problem);
  const auto with_copies = [](const char* name, const std::function<void()>& run) {
    return Variant{.name = name, .run = {}, .run_with_copies = run, .reads = Memory::device};
  };
  return {{.name = "device memory", .run = on_gpu.run, .run_with_copies = sum_and_fetch, .reads = Memory::device},
          with_copies("pinned, copied", on_gpu.run_with_copies),
          with_copies("pinned, copied in bands", [bands] { bands->run(); }),
          with_copies("pageable, copied", copy_staged),
          with_copies("pageable, locked, copied", lock_and_copy)};
}

// The kernel reads the host's memory, and writes the sums there.
std::vector<Variant> in_place(Problem& problem, PageableMatrices& matrices) {
  const auto sum = [&problem, launch = problem.kernels.wavefront_a_row(problem.rows)](const fd::MemoryView& matrix) {
    problem.queue
        .dispatch(launch.kernel, launch.grid, fd::read(matrix), problem.sums_on_host, problem.rows, problem.columns)
        .wait();
  };
  const std::span pageable(matrices.unlocked);
  return {{.name = "pinned, in place",
           .run = [&problem, sum] { sum(problem.matrix_on_host); },
           .run_with_copies = {},
           .reads = Memory::pinned},
          plain_read(problem, Memory::pinned, problem.matrix_on_host),
          {.name = "pageable, locked, in place",
           .run = [&matrices, sum] { sum(matrices.lock); },
           .run_with_copies = [&problem, pageable, sum] { sum(fd::Pin(problem.gpu, pageable)); },
           .reads = Memory::locked},
          plain_read(problem, Memory::locked, matrices.lock)};
}

}  // namespace

PageableMatrices::PageableMatrices(Problem& problem)
    : unlocked(problem.matrix_on_host.begin(), problem.matrix_on_host.end()), locked(unlocked),
      lock(problem.gpu, std::span(locked)) {}

std::vector<Variant> memory_variants(Problem& problem, PageableMatrices& matrices, fd::Fences fences) {
  std::vector<Variant> variants = copied(problem, matrices.unlocked, fences);
  std::ranges::move(in_place(problem, matrices), std::back_inserter(variants));
  return variants;
}
