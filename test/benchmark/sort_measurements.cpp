#include "measurements.hpp"

#include <bitonic_sort_code_object.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

namespace fd = fastdispatch;

namespace {

constexpr std::size_t sort_repetitions = 21;
constexpr std::uint32_t ascending = 1;

fd::Batch record_sort(fd::Agent gpu, const fd::Module& module, fd::DeviceBuffer<std::uint32_t>& data,
                      fd::PinnedBuffer<std::uint32_t>& numbers) {
  const auto pass = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("bitonic_pass");
  fd::Batch batch(gpu);
  batch.copy(data, numbers);
  constexpr std::uint32_t stages = std::bit_width(sort_length) - 1;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    for (std::uint32_t step = stage + 1; step-- > 0;) {
      batch.dispatch(pass, fd::grid(sort_length / 2), data, stage, step, ascending);
    }
  }
  batch.copy(numbers, data);
  return batch;
}

}  // namespace

void measure_sort(fd::Agent gpu, Samples& samples) {
  const fd::Module module = fd::Module::load(gpu, code_objects::bitonic_sort(), "bitonic_sort");
  fd::PinnedBuffer<std::uint32_t> numbers(gpu, sort_length);
  fd::DeviceBuffer<std::uint32_t> data(gpu, sort_length);
  fd::Batch batch = record_sort(gpu, module, data, numbers);
  fd::Queue queue(gpu);

  // One GPU sort after the other, like the peer's. The host's sorts come later, because they take the caches.
  std::mt19937 random;
  std::vector<std::vector<std::uint32_t>> sorted;
  std::vector<std::vector<std::uint32_t>> expected;
  for (std::size_t i = 0; i <= sort_repetitions; ++i) {
    std::generate(numbers.begin(), numbers.end(), std::ref(random));
    expected.emplace_back(numbers.begin(), numbers.end());
    const Stopwatch on_gpu;
    queue.submit(batch).wait();
    if (i != 0) samples.add(series::sort_replay, on_gpu.microseconds());  // the first translates, and encodes the batch
    sorted.emplace_back(numbers.begin(), numbers.end());
  }
  for (std::size_t i = 0; i <= sort_repetitions; ++i) {
    const Stopwatch on_host;
    std::sort(expected[i].begin(), expected[i].end());
    if (i != 0) samples.add(series::sort_host, on_host.microseconds());
    if (sorted[i] != expected[i]) throw std::runtime_error("a sort went wrong");
  }
}
