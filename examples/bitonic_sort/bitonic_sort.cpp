// Sorts integers with a bitonic network on the GPU, and shows what dispatching its many short kernels costs.
//
// A network for 2^n values is n * (n + 1) / 2 passes that wait for one another: 120 kernels of a few microseconds for
// 32768 values. So dispatching the kernels takes as much time as running them. The baseline is that of the article
// that measured it first. Each flag removes one of its costs, and --ablation prints the gain of each flag.
#include "number_file.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "report.hpp"
#include "sorter.hpp"
#include "timing.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fd = fastdispatch;

namespace {

struct Variant {
  std::string name;
  Optimizations optimizations;
  double on_fiji = 0;  // microseconds in the article, for 32768 numbers on a Fiji GPU; 0: the article has no such row
};

constexpr const char* baseline = "baseline";
constexpr std::size_t articles_length = 32768;

// From the baseline on, each row of the table adds one optimization to the row above, in the order of the article that
// measured them first. The rows above the baseline are other ways to come by signals and argument blocks.
std::vector<Variant> ablation() {
  Optimizations so_far;
  std::vector<Variant> variants = {
      {"allocating for each kernel", {.signal = Origin::each_kernel, .kernargs = Origin::each_kernel}},
      {"pooled signal and kernarg", {.signal = Origin::pool, .kernargs = Origin::pool}},
      {baseline, so_far, 1943},
  };
  so_far.signal = Origin::kept;
  variants.push_back({"+ preallocated signal", so_far, 1906});
  so_far.kernargs = Origin::kept;
  variants.push_back({"+ preallocated kernarg", so_far, 1869});
  so_far.no_host_sync = true;
  variants.push_back({"+ no host synchronization", so_far, 1665});
  so_far.fences = fd::Fences::minimal;
  variants.push_back({"+ minimal fences", so_far, 1221});
  so_far.pinned_host = true;
  variants.push_back({"+ pinned host memory", so_far, 1137});
  so_far.replay = true;
  variants.push_back({"+ replay", so_far});
  so_far.fences = fd::Fences::derived;
  variants.push_back({"+ derived fences", so_far});
  return variants;
}

std::string describe(const Optimizations& optimizations) {
  std::string text;
  const auto add = [&text](bool on, const char* name) {
    if (on) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(optimizations.signal == Origin::each_kernel, "a signal for each kernel");
  add(optimizations.kernargs == Origin::each_kernel, "a kernarg block for each kernel");
  add(optimizations.signal == Origin::pool, "pooled signal");
  add(optimizations.kernargs == Origin::pool, "pooled kernarg");
  add(optimizations.signal == Origin::kept, "signal");
  add(optimizations.kernargs == Origin::kept, "kernarg");
  add(optimizations.no_host_sync, "no host synchronization");
  add(optimizations.fences == fd::Fences::minimal, "minimal fences");
  add(optimizations.fences == fd::Fences::derived, "derived fences");
  add(optimizations.pinned_host, "pinned");
  add(optimizations.replay, "replay");
  return text.empty() ? baseline : text;
}

std::vector<std::uint32_t> random_numbers(std::size_t length, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> numbers(length);
  std::generate(numbers.begin(), numbers.end(), std::ref(random));
  return numbers;
}

std::vector<std::uint32_t> sorted_by_host(std::vector<std::uint32_t> numbers, Order order) {
  if (order == Order::ascending) {
    std::sort(numbers.begin(), numbers.end());
  } else {
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
  }
  return numbers;
}

// Times one sort of `input` and returns microseconds: both copies and all kernels.
double time_sort(Sorter& sorter, std::span<const std::uint32_t> input, Order order) {
  const std::span<std::uint32_t> numbers = sorter.numbers();
  // A network takes a power of two numbers: the added numbers sort behind all others.
  const std::uint32_t padding = order == Order::ascending ? std::numeric_limits<std::uint32_t>::max() : 0;
  std::fill(std::copy(input.begin(), input.end(), numbers.begin()), numbers.end(), padding);

  return time_of([&sorter] { sorter.sort(); });
}

// The kernels' own times on the device, by which a row's time tells the cost of dispatching them and of the copies.
void add_kernel_times(std::vector<Row>& rows, std::span<Sorter> sorters, std::size_t iterations) {
  std::vector<std::vector<double>> times(rows.size());
  for (std::size_t iteration = 0; iteration < iterations; ++iteration)
    for (std::size_t i = 0; i < rows.size(); ++i)
      times[i].push_back(std::chrono::duration<double, std::micro>(sorters[i].time_kernels()).count());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].figures.push_back(figure("kernels, us", median(times[i]), 1));
}

// How many times as fast as the baseline each row is, and what each step from the baseline on takes or saves.
void add_differences(std::vector<Row>& rows) {
  const auto base = std::ranges::find(rows, baseline, &Row::name);
  if (rows.size() == 1 || base == rows.end()) return;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const double time = median(row->microseconds);
    row->figures.push_back(figure("speed", median(base->microseconds) / time, 2, "x"));
    if (row < base) continue;
    Figure difference{.heading = "difference", .value = 0, .text = {}};
    if (row > base) {
      difference = figure("difference", time - median(std::prev(row)->microseconds), 1);
      if (difference.value >= 0) difference.text.insert(difference.text.begin(), '+');
    }
    row->figures.push_back(std::move(difference));
  }
}

// Behind the differences, so that the column is the last.
void add_article(std::vector<Row>& rows, const std::vector<Variant>& variants) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (variants[i].on_fiji != 0) rows[i].figures.push_back(figure("article, us", variants[i].on_fiji, 0));
}

void plot_ablation(const std::filesystem::path& file, const Report& report) {
  BarPlot plot = {.title = title_of(report), .y_label = "microseconds an iteration", .bars = {}};
  for (const Row& row : report.rows) plot.bars.emplace_back(row.name, median(row.microseconds));
  write_plot(file, plot);
}

int run(const Options& options) {
  // Before the work: a result that can't be written is lost.
  std::optional<OutputFile> output;
  std::optional<OutputFile> json;
  if (options.output) output.emplace(*options.output);
  if (options.common.json) json.emplace(*options.common.json);

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);

  const std::vector<Variant> variants =
      options.ablation ? ablation() : std::vector<Variant>{{describe(options.optimizations), options.optimizations}};
  std::vector<std::uint32_t> input;
  if (options.input) input = read_numbers(*options.input);
  const std::size_t length = options.input ? input.size() : options.length;
  if (length > longest) throw std::runtime_error("more than " + std::to_string(longest) + " numbers");
  const std::size_t padded = std::bit_ceil(std::max<std::size_t>(length, 2));
  const std::size_t arrays = variants.size() + 3;  // the input, the expected result, the GPU's, which may be the host's
  require_memory(arrays * padded * sizeof(std::uint32_t));

  Network network(gpu, padded, options.order);
  if (!options.input) input = random_numbers(length, options.seed);
  const std::vector<std::uint32_t> expected = sorted_by_host(input, options.order);
  const std::string problem =
      counted(length, "unsigned integer") + ", " + counted(network.passes.size(), "kernel") + ", both copies";
  Report report = report_on("bitonic_sort", problem, runtime, gpu);
  report.beyond_softgpu = "what fences and pinned memory buy: all memory is the host's, and coherent";
  report.verdict = "sorted";
  std::vector<Sorter> sorters;
  sorters.reserve(variants.size());
  for (const Variant& variant : variants) {
    sorters.emplace_back(network, variant.optimizations);
    report.rows.push_back({.name = variant.name, .microseconds = {}, .figures = {}, .remark = {}});
  }

  // The variants take turns, so that other load of the machine slows them alike. The first turn does not count: it
  // loads the kernel and touches the memory.
  for (std::size_t iteration = 0; iteration <= options.common.iterations; ++iteration) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Row& row = report.rows[i];
      const double time = time_sort(sorters[i], input, options.order);
      const std::span<const std::uint32_t> result = sorters[i].numbers().first(length);
      row.correct = row.correct && std::equal(result.begin(), result.end(), expected.begin());
      if (iteration == 0) continue;
      row.microseconds.push_back(time);
      if (options.print_progress) {
        std::cerr << "iteration " << iteration << " of " << options.common.iterations << ", " << row.name << ": "
                  << time << " us\n";
      }
    }
  }
  add_kernel_times(report.rows, sorters, options.common.iterations);
  add_differences(report.rows);
  if (length == articles_length) add_article(report.rows, variants);

  present(report, json, output);
  if (options.plot) plot_ablation(*options.plot, report);
  require_correct(report);
  if (output && options.output) {
    write_numbers(*output, *options.output, std::span(sorters.back().numbers()).first(length));
    output->commit();
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_command_line(argc, argv);
  return run_program("bitonic_sort", [&options] { return run(options); });
}
