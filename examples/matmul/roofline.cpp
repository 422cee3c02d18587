#include "roofline.hpp"

#include "timing.hpp"

#include <roofline_code_object.hpp>

#include <cstdint>
#include <numeric>
#include <span>

namespace fd = fastdispatch;

namespace {

struct alignas(16) Float4 {
  float values[4];
};

constexpr std::uint32_t steps = 512;
constexpr std::uint32_t chains = 16;
constexpr std::uint32_t float4s = 1U << 22U;  // 64 MiB: more than caches hold

Row row_of(const char* name, const std::vector<double>& times, const Figure& figure, bool correct) {
  return {.name = name, .microseconds = times, .figures = {figure}, .correct = correct, .compares = true, .remark = {}};
}

// The kernels' work-items: four groups of 256 keep a compute unit busy while some wavefronts wait.
std::uint32_t items_on(fd::Agent gpu) { return gpu.compute_units() * 4 * 256; }

Row measure_memory(fd::Agent gpu, fd::Queue& queue, const fd::Module& module, std::size_t iterations) {
  const auto kernel = module.kernel<void(float*, const Float4*, std::uint32_t, std::uint32_t)>("read_memory");
  const std::uint32_t items = items_on(gpu);
  fd::DeviceBuffer<Float4> values(gpu, float4s);
  fd::DeviceBuffer<float> sums(gpu, items);
  const std::vector<Float4> ones(float4s, Float4{{1, 1, 1, 1}});
  fd::copy(values, std::span(ones));

  const auto dispatch = [&] { queue.dispatch(kernel, fd::grid(items), sums, values, float4s, items).wait(); };
  const std::vector<double> times = time_in_turns({dispatch}, iterations).front();

  std::vector<float> results(items);
  fd::copy(std::span(results), sums);
  const double total = std::accumulate(results.begin(), results.end(), 0.0);
  const double gigabytes_per_second = static_cast<double>(values.size_bytes()) / median(times) / 1e3;
  return row_of("reading memory", times, figure("GB/s", gigabytes_per_second), total == 4.0 * float4s);
}

Row measure_multiply_adds(fd::Agent gpu, fd::Queue& queue, const fd::Module& module, std::size_t iterations) {
  const auto kernel = module.kernel<void(float*, std::uint32_t, float)>("multiply_add");
  const std::uint32_t items = items_on(gpu);
  fd::DeviceBuffer<float> sums(gpu, items);

  // Times 1 plus 1, from item + chain on: integers, which are exact.
  const auto dispatch = [&] { queue.dispatch(kernel, fd::grid(items), sums, steps, 1.0F).wait(); };
  const std::vector<double> times = time_in_turns({dispatch}, iterations).front();

  std::vector<float> results(items);
  fd::copy(std::span(results), sums);
  bool correct = true;
  for (std::uint32_t item = 0; item < items; ++item) {
    const std::uint32_t expected = chains * (item + steps) + chains * (chains - 1) / 2;
    correct = correct && results[item] == static_cast<float>(expected);
  }
  const double gflops = 2.0 * chains * steps * items / median(times) / 1e3;
  return row_of("multiply-adds", times, figure("GFLOP/s", gflops), correct);
}

}  // namespace

Roofline measure_roofline(fd::Agent gpu, fd::Queue& queue, std::size_t iterations, std::vector<Row>& rows) {
  const fd::Module module = fd::Module::load(gpu, code_objects::roofline(), "roofline");
  const Row& memory = rows.emplace_back(measure_memory(gpu, queue, module, iterations));
  const double gigabytes_per_second = memory.figures.front().value;
  const Row& arithmetic = rows.emplace_back(measure_multiply_adds(gpu, queue, module, iterations));
  return {gigabytes_per_second, arithmetic.figures.front().value};
}
