#include "measurements.hpp"

#include <bitonic_sort_code_object.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>

namespace fd = fastdispatch;

namespace {

constexpr std::size_t repetitions = 21;
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

  std::mt19937 random;
  std::vector<std::uint32_t> expected(sort_length);
  for (std::size_t i = 0; i <= repetitions; ++i) {
    std::generate(expected.begin(), expected.end(), std::ref(random));
    std::copy(expected.begin(), expected.end(), numbers.begin());

    const Stopwatch on_gpu;
    queue.submit(batch).wait();
    const double gpu_time = on_gpu.microseconds();
    const Stopwatch on_host;
    std::sort(expected.begin(), expected.end());
    const double host_time = on_host.microseconds();

    if (!std::equal(expected.begin(), expected.end(), numbers.begin())) throw std::runtime_error("a sort went wrong");
    if (i == 0) continue;  // translates the kernel, encodes the batch
    samples.add(series::sort_replay, gpu_time);
    samples.add(series::sort_host, host_time);
  }
}
