#include "softgpu_suite.hpp"

#include "measurements.hpp"
#include "peer_problems.hpp"
#include "peer_process.hpp"
#include "report.hpp"
#include "temporary_folder.hpp"

#include <inclusive_scan_code_object.hpp>
#include <matmul_code_object.hpp>
#include <row_sum_code_object.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <stdexcept>

namespace fd = fastdispatch;

namespace {

namespace names {
constexpr const char* product = "product_softgpu";
constexpr const char* product_opencl = "product_opencl";
constexpr const char* sums = "row_sums_softgpu";
constexpr const char* sums_opencl = "row_sums_opencl";
constexpr const char* scan = "scan_softgpu";
constexpr const char* scan_opencl = "scan_opencl";
constexpr const char* warm = "start_up_warm";
constexpr const char* cold = "start_up_cold";
constexpr const char* uncached = "start_up_without_cache";
constexpr const char* warm_opencl = "start_up_opencl_warm";
constexpr const char* cold_opencl = "start_up_opencl_cold";
constexpr const char* warm_runtime = "start_up_warm_runtime";
constexpr const char* warm_queue = "start_up_warm_queue";
constexpr const char* warm_module = "start_up_warm_module";
constexpr const char* warm_first = "start_up_warm_first_dispatch";
constexpr const char* pass_translated = "sort_pass_translated";
constexpr const char* pass_loaded = "sort_pass_loaded";
constexpr const char* product_translated = "product_in_blocks_translated";
constexpr const char* product_loaded = "product_in_blocks_loaded";
constexpr const char* sort_unchecked = "bitonic_sort_all_memory";
constexpr const char* sort_checked = "bitonic_sort_memory_of_the_gpu";
constexpr const char* sums_unchecked = "row_sum_all_memory";
constexpr const char* sums_checked = "row_sum_memory_of_the_gpu";
constexpr const char* products_unchecked = "matmul_all_memory";
constexpr const char* products_checked = "matmul_memory_of_the_gpu";
}  // namespace names

constexpr int repetitions = 5;

struct Shape {
  std::uint32_t rows, columns, inner;
};

template <class T>
void fill(fd::PinnedBuffer<T>& buffer, const std::vector<T>& values) {
  std::copy(values.begin(), values.end(), buffer.begin());
}

template <class Dispatch>
void measure(Samples& samples, const char* name, Dispatch dispatch) {
  dispatch();  // not counted: translates
  for (int i = 0; i < repetitions; ++i) {
    const Stopwatch stopwatch;
    dispatch();
    samples.add(name, stopwatch.microseconds());
  }
}

void measure_product(fd::Agent gpu, Samples& samples) {
  using namespace peer_problems;
  constexpr std::size_t count = std::size_t{product_size} * product_size;
  const auto a_values = product_a();
  const auto b_values = product_b();
  fd::PinnedBuffer<float> a(gpu, count), b(gpu, count), c(gpu, count);
  fill(a, a_values);
  fill(b, b_values);
  const fd::Module module = fd::Module::load(gpu, code_objects::matmul(), "matmul");
  const auto kernel = module.kernel<void(float*, const float*, const float*, Shape)>("matmul_tiles_16");
  fd::Queue queue(gpu);
  const auto grid = fd::grid(product_size, product_size).group(product_tile, product_tile);
  measure(samples, names::product, [&] {
    queue.dispatch(kernel, grid, c, a, b, Shape{product_size, product_size, product_size}).wait();
  });
  check_product(a_values, b_values, c);
}

void measure_row_sums(fd::Agent gpu, Samples& samples) {
  using namespace peer_problems;
  const auto values = sum_matrix();
  fd::PinnedBuffer<float> matrix(gpu, values.size()), sums(gpu, sum_rows);
  fill(matrix, values);
  const fd::Module module = fd::Module::load(gpu, code_objects::row_sum(), "row_sum");
  const auto kernel = module.kernel<void(const float*, float*, std::uint32_t, std::uint32_t)>("group_a_row");
  fd::Queue queue(gpu);
  const auto grid = fd::grid(sum_rows * sum_group).group(sum_group);
  measure(samples, names::sums, [&] { queue.dispatch(kernel, grid, matrix, sums, sum_rows, sum_columns).wait(); });
  check_sums(values, sums);
}

void measure_scan(fd::Agent gpu, Samples& samples) {
  using namespace peer_problems;
  const auto values = scan_numbers();
  fd::PinnedBuffer<float> numbers(gpu, values.size()), sums(gpu, values.size());
  fill(numbers, values);
  const fd::Module module = fd::Module::load(gpu, code_objects::inclusive_scan(), "inclusive_scan");
  const auto kernel = module.kernel<void(const float*, float*)>("scan_blocks");
  fd::Queue queue(gpu);
  const auto grid = fd::grid(scan_blocks * scan_block).group(scan_block);
  measure(samples, names::scan, [&] { queue.dispatch(kernel, grid, numbers, sums).wait(); });
  check_scan(values, sums);
}

/// Runs a program of its own. Its time from beginning to end, and what it printed.
std::optional<nlohmann::json> measure_process(Samples& samples, const char* name, const std::string& command) {
  const Stopwatch stopwatch;
  auto values = output_of(command);
  if (values) samples.add(name, stopwatch.microseconds());
  return values;
}

void measure_start_up(Samples& samples) {
  const TemporaryFolder folder;
  const auto run = [&](const char* name, const char* cache, const char* kernel) {
    const std::string setting = *cache == '\0' ? "off" : (folder.path() / cache).string();
    const auto times = measure_process(
        samples, name, "SOFTGPU_OPTIMIZE=2 SOFTGPU_CACHE='" + setting + "' '" FIRST_KERNEL "' " + kernel);
    if (!times) throw std::runtime_error("first_kernel failed");
    return *times;
  };
  const auto first_dispatch = [](const nlohmann::json& times) {
    return times.at("first").get<double>() - times.at("again").get<double>();
  };
  samples.add(names::pass_translated, first_dispatch(run(names::uncached, "", "pass")));
  static_cast<void>(run(names::cold, "cache", "pass"));
  const auto warm = run(names::warm, "cache", "pass");
  samples.add(names::warm_runtime, warm.at("runtime"));
  samples.add(names::warm_queue, warm.at("queue"));
  samples.add(names::warm_module, warm.at("module"));
  samples.add(names::warm_first, warm.at("first"));
  samples.add(names::pass_loaded, first_dispatch(warm));
  samples.add(names::product_translated, first_dispatch(run("product_cold", "cache", "product")));
  samples.add(names::product_loaded, first_dispatch(run("product_warm", "cache", "product")));
#ifdef POCL_PEER
  const std::string opencl = "POCL_CACHE_DIR='" + (folder.path() / "pocl").string() + "' '" POCL_PEER "' first";
  if (measure_process(samples, names::cold_opencl, opencl))
    static_cast<void>(measure_process(samples, names::warm_opencl, opencl));
#endif
}

/// The fastest times of an example's variants on the GPU, added up.
void measure_example(Samples& samples, const char* name, const std::string& command) {
  const auto report = output_of(command + " --json - 2>/dev/null");
  if (!report) throw std::runtime_error(command + " failed");
  double sum = 0;
  for (const auto& row : report->at("rows"))
    if (!row.value("compares", false)) sum += row.value("fastest", 0.0);
  samples.add(name, sum);
}

/// What it costs that kernels may access only what the GPU was given.
void measure_access_check(Samples& samples) {
  const auto measure_both = [&](const char* unchecked, const char* checked, const std::string& command) {
    measure_example(samples, unchecked, "SOFTGPU_XNACK=1 '" EXAMPLES_FOLDER "'/" + command);
    measure_example(samples, checked, "SOFTGPU_XNACK=0 '" EXAMPLES_FOLDER "'/" + command);
  };
  measure_both(names::sort_unchecked, names::sort_checked, "bitonic_sort --opt --iterations 200");
  measure_both(names::sums_unchecked, names::sums_checked, "row_sum --rows 1024 --iterations 10");
  measure_both(names::products_unchecked, names::products_checked, "matmul --iterations 20");
}

void measure_opencl_kernels(Samples& samples) {
#ifdef POCL_PEER
  const auto times = output_of("'" POCL_PEER "' kernels");
  if (!times) throw std::runtime_error("pocl_peer failed");
  samples.add(names::product_opencl, times->at("product"));
  samples.add(names::sums_opencl, times->at("row_sums"));
  samples.add(names::scan_opencl, times->at("scan"));
#else
  static_cast<void>(samples);
#endif
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"Bitonic sort of 32768 integers, 120 launches and both copies, us",
       1,
       {{"soft GPU, batch replayed", series::sort_replay},
        {"OpenCL, one finish", series::sort_opencl},
        {"OpenCL, a finish after each launch", series::sort_opencl_finish_each},
        {"std::sort on the host", series::sort_host}}},
      {"Product of 512 x 512 floats in LDS tiles of 16 x 16, us",
       1,
       {{"soft GPU", names::product}, {"OpenCL", names::product_opencl}}},
      {"Sums of 1024 rows of 4096 floats, a work-group a row, us",
       1,
       {{"soft GPU", names::sums}, {"OpenCL", names::sums_opencl}}},
      {"Inclusive sums in 4096 blocks of 256 floats, 16 barriers each, us",
       1,
       {{"soft GPU", names::scan}, {"OpenCL", names::scan_opencl}}},
      {"A process that runs one small kernel, from beginning to end, ms",
       0.001,
       {{"soft GPU, warm cache", names::warm},
        {"soft GPU, empty cache", names::cold},
        {"soft GPU, no cache", names::uncached},
        {"OpenCL, warm cache", names::warm_opencl},
        {"OpenCL, empty cache", names::cold_opencl}}},
      {"Parts of the process with the warm cache, ms",
       0.001,
       {{"all of it", names::warm},
        {"opening the runtime", names::warm_runtime},
        {"making a queue", names::warm_queue},
        {"loading the module", names::warm_module},
        {"the first dispatch", names::warm_first}}},
      {"What the first dispatch of a kernel costs more than later ones, ms",
       0.001,
       {{"sort pass, from the cache", names::pass_loaded},
        {"sort pass, translated", names::pass_translated},
        {"product in blocks, from the cache", names::product_loaded},
        {"product in blocks, translated", names::product_translated}}},
      {"Kernels that may access all memory, and only what the GPU was given (the default), us",
       1,
       {{"bitonic_sort, all memory", names::sort_unchecked}, {"bitonic_sort, default", names::sort_checked}}},
      {"The same for row_sum's variants",
       1,
       {{"row_sum, all memory", names::sums_unchecked}, {"row_sum, default", names::sums_checked}}},
      {"The same for matmul's variants",
       1,
       {{"matmul, all memory", names::products_unchecked}, {"matmul, default", names::products_checked}}},
  };
  return all;
}

void print_targets(const Samples& samples) {
  std::cout << "\nTargets\n";
  const auto compare = [&](const char* text, const char* reference, const char* ours, double wanted) {
    if (samples.has(reference)) print_target(text, samples.median(reference) / samples.median(ours), wanted);
  };
  compare("the batched sort takes at most half of OpenCL's with one finish", series::sort_opencl, series::sort_replay,
          2);
  compare("the product in tiles takes no longer than OpenCL's", names::product_opencl, names::product, 1);
  compare("the row sums take no longer than OpenCL's", names::sums_opencl, names::sums, 1);
  compare("a process with a warm cache takes no longer than OpenCL's", names::warm_opencl, names::warm, 1);
  print_target("a process with a warm cache takes no longer than 150 ms", 150'000 / samples.median(names::warm), 1);
  compare("a large kernel is there at least 10 times as fast from the cache", names::product_translated,
          names::product_loaded, 10);
}

}  // namespace

void run_softgpu_suite(int rounds, const std::string& json) {
  JsonFile file(json);
  const fd::Runtime runtime;
  if (!runtime.on_softgpu()) throw std::runtime_error("this measures the soft GPU: set FASTDISPATCH_DEVICE=softgpu");
  const fd::Agent gpu = runtime.gpu();
  Samples samples;
  std::optional<std::string> opencl;
  for (int round = 0; round < rounds; ++round) {
    // Queues live only within these calls: an idle one must not take processor time from the peer.
    measure_sort(gpu, samples);
    measure_product(gpu, samples);
    measure_row_sums(gpu, samples);
    measure_scan(gpu, samples);
    if (round == 0 || opencl) opencl = measure_opencl(samples);
    if (opencl) measure_opencl_kernels(samples);
    measure_start_up(samples);
    measure_access_check(samples);
  }
  std::cout << "On " << gpu.name() << " (soft GPU), beside " << opencl.value_or("no OpenCL") << "; medians of "
            << rounds << " rounds\n";
  print(groups(), samples);
  print_targets(samples);
  file.write(gpu.name(), groups(), samples);
}
