// A dispatch's cost for the host before the submission: recording it, and turning the recorded batch into packets by
// each kind of fences. No device is needed.
#include "mock_hsa.hpp"

#include "dispatch/encode/batch_image.hpp"
#include "dispatch/record/batch_recording.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

namespace fd = fastdispatch;

namespace {

using Kernel = fd::Kernel<void(const float*, float*)>;

constexpr std::size_t buffers = 64;

// Owns the contents of the batches: kernels that read one of several buffers and write another.
class Workload {
public:
  Workload() {
    for (std::size_t i = 0; i < buffers; ++i) buffers_.emplace_back(hsa_.agent(), 1024);
  }

  [[nodiscard]] fd::Batch record(std::size_t dispatches, fd::Fences fences) {
    fd::Batch batch(hsa_.agent(), {.fences = fences});
    for (std::size_t i = 0; i < dispatches; ++i)
      batch.dispatch(kernel_, fd::grid(1024).group(64), fd::read(buffers_[i * 5 % buffers]),
                     fd::write(buffers_[(i * 7 + 3) % buffers]));
    return batch;
  }

private:
  fd::test::MockHsa hsa_;
  std::vector<fd::PinnedBuffer<float>> buffers_;
  const fd::detail::KernelInfo info_{.name = "kernel",
                                     .object = 0x1000,
                                     .kernarg_size = 16,
                                     .max_group_size = 1024,
                                     .max_group_segment_size = 65536,
                                     .arguments = {{0, 8}, {8, 8}},
                                     .implicit_arguments = {}};
  const Kernel kernel_{info_};
};

fd::detail::PacketStream encode(const fd::Batch& batch) {
  return fd::detail::encode(fd::detail::recording_of(batch).steps(), fd::detail::recording_of(batch).fences(), nullptr);
}

// Shows the time of a dispatch beside that of the batch.
void count_dispatches(benchmark::State& state) {
  state.SetComplexityN(state.range(0));
  state.counters["dispatch"] = benchmark::Counter(
      static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void record_and_encode(benchmark::State& state, fd::Fences fences) {
  Workload workload;
  for ([[maybe_unused]] const auto _ : state)
    benchmark::DoNotOptimize(encode(workload.record(static_cast<std::size_t>(state.range(0)), fences)));
  count_dispatches(state);
}

void encode_only(benchmark::State& state, fd::Fences fences) {
  Workload workload;
  const fd::Batch batch = workload.record(static_cast<std::size_t>(state.range(0)), fences);
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(encode(batch));
  count_dispatches(state);
}

void lengths(benchmark::internal::Benchmark* measured) {
  for (const int dispatches : {16, 120, 1024, 10000}) measured->Arg(dispatches);
  measured->Complexity();
}

BENCHMARK_CAPTURE(record_and_encode, conservative, fd::Fences::conservative)->Apply(lengths);
BENCHMARK_CAPTURE(record_and_encode, minimal, fd::Fences::minimal)->Apply(lengths);
BENCHMARK_CAPTURE(record_and_encode, derived, fd::Fences::derived)->Apply(lengths);
BENCHMARK_CAPTURE(encode_only, conservative, fd::Fences::conservative)->Apply(lengths);
BENCHMARK_CAPTURE(encode_only, minimal, fd::Fences::minimal)->Apply(lengths);
BENCHMARK_CAPTURE(encode_only, derived, fd::Fences::derived)->Apply(lengths);

}  // namespace

BENCHMARK_MAIN();
