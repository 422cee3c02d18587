// Writes Fibonacci numbers from the GPU to memory that the host shares, and shows what limits such a kernel.
//
// One work-item computes one number after the other, and writes each number. Is computing slow, or writing? One variant
// leaves out the writing, one the computing. Two cures write in larger pieces: from LDS, a block at a time, and from
// the GPU's memory, all at once. The third: a recurrence that looks ahead k places lets k work-items write at once,
// although each number depends on the numbers before. --sweep shows the gain of each k.
#include "options.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "sequence.hpp"
#include "timing.hpp"
#include "variants.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

namespace fd = fastdispatch;

namespace {

// The times of each variant, in microseconds.
struct Times {
  std::vector<std::vector<double>> alone;
  std::vector<std::vector<double>> with_copy;  // empty where the variants have no copy
};

Times time_all(const std::vector<Variant>& variants, std::size_t iterations) {
  std::vector<std::function<void()>> works;
  works.reserve(2 * variants.size());
  for (const Variant& variant : variants) works.emplace_back([&variant] { variant.submit().wait(); });
  for (const Variant& variant : variants) {
    if (variant.submit_with_copy) works.emplace_back([&variant] { variant.submit_with_copy().wait(); });
  }
  std::vector<std::vector<double>> times = time_in_turns(works, iterations);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(variants.size());
  return {.alone = {times.begin(), middle}, .with_copy = {middle, times.end()}};
}

// Of all repetitions, after the variant has run once more.
double largest_error_of(const Variant& variant, Variants& variants, std::span<const long double> expected) {
  variants.clear();
  (variant.submit_with_copy ? variant.submit_with_copy : variant.submit)().wait();
  const std::span<const double> numbers = variants.numbers();
  double error = 0;
  for (std::size_t first = 0; first < numbers.size(); first += expected.size())
    error = std::max(error, largest_error(numbers.subspan(first, expected.size()), expected, variant.written));
  return error;
}

void add_rows(Report& report, Variants& variants, const Times& times, const Options& options) {
  const std::vector<long double> expected = fibonacci_numbers(options.count);
  // For every place of look-ahead, a number or its coefficients are rounded at most twice, by half a unit.
  const double tolerance = static_cast<double>(options.count) * std::numeric_limits<double>::epsilon();
  const auto bytes = static_cast<double>(variants.numbers().size_bytes());
  for (std::size_t i = 0; i < variants.all().size(); ++i) {
    const Variant& variant = variants.all()[i];
    const double error = largest_error_of(variant, variants, expected);
    Row& row = report.rows.emplace_back(Row{.name = variant.name,
                                            .microseconds = times.alone[i],
                                            .figures = {figure("MB/s", bytes / median(times.alone[i]), 1)},
                                            .correct = error <= tolerance,
                                            .compares = variant.written != Written::numbers,
                                            .remark = {}});
    if (!times.with_copy.empty()) {
      row.figures.push_back(figure("us with copy", median(times.with_copy[i]), 1));
      row.figures.push_back(figure("MB/s with copy", bytes / median(times.with_copy[i]), 1));
    }
    row.figures.push_back(figure("speedup", median(times.alone[0]) / median(times.alone[i]), 2, "x"));
    row.figures.push_back(scientific_figure("largest error", error));
  }
}

LinePlot plot_of(const std::vector<Variant>& variants, const Report& report) {
  LinePlot plot{.title = title_of(report),
                .x_label = "work-items",
                .y_label = "MB/s",
                .logarithmic_x = true,
                .logarithmic_y = true,
                .curves = {{.name = "look-ahead", .points = {}}}};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const double rate = report.rows[i].figures.front().value;
    if (variants[i].drawn == Drawn::as_point) {
      plot.curves.front().points.emplace_back(variants[i].work_items, rate);
    } else if (variants[i].drawn == Drawn::as_line) {
      plot.curves.push_back({.name = variants[i].name, .points = {{1, rate}, {most_work_items, rate}}, .dashed = true});
    }
  }
  return plot;
}

int run(const Options& options) {
  std::optional<OutputFile> json;
  if (options.common.json) json.emplace(*options.common.json);

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  const std::size_t bytes = checked_product(checked_product(options.count, options.repetitions), sizeof(double));
  require_memory(checked_product(bytes, 2));  // the host's and the GPU's

  fd::Queue queue(gpu);
  Variants variants(queue, options);
  const Times times = time_all(variants.all(), options.common.iterations);

  std::ostringstream problem;
  problem << counted(options.count, "Fibonacci number") << ", " << counted(options.repetitions, "time") << " to "
          << (options.destination == Destination::device ? "device" : "pinned host") << " memory";
  Report report = report_on("fibonacci", problem.str(), runtime, gpu);
  report.beyond_softgpu = "what pinned memory costs the writes of a GPU: all memory is the host's";
  add_rows(report, variants, times, options);

  present(report, json);
  if (options.plot) write_plot(*options.plot, plot_of(variants.all(), report));
  require_correct(report);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fibonacci", [&] { return run(parse_command_line(argc, argv)); });
}
