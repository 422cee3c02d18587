// Reads the same number of bytes from each level of the memory hierarchy, as often as it takes: the nearer the level,
// the less of it there is, and the faster it answers.
#include "levels.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fd = fastdispatch;

namespace {

double gigabytes_per_second(const Level& level, const std::vector<double>& microseconds) {
  return level.bytes / median(microseconds) * 1e-3;
}

BarPlot chart_of(const Report& report) {
  BarPlot plot = {.title = title_of(report), .y_label = "GB/s", .logarithmic_y = true, .bars = {}};
  for (const Row& row : report.rows) plot.bars.emplace_back(row.name, row.figures.front().value);
  return plot;
}

int run(const Options& options) {
  std::optional<OutputFile> json;
  if (options.common.json) json.emplace(*options.common.json);
  require_memory(2 * (std::size_t{options.memory} << 20U));  // the GPU's and the host's

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  fd::Queue queue(gpu);
  Levels levels(gpu, options);

  std::vector<std::function<void()>> works;
  works.reserve(levels.all().size());
  for (const Level& level : levels.all()) works.emplace_back([&queue, &level] { queue.submit(level.batch).wait(); });
  const std::vector<std::vector<double>> times = time_in_turns(works, options.common.iterations);

  Report report = report_on("memory_levels", std::to_string(options.reads) + " MiB read from each level", runtime, gpu);
  report.beyond_softgpu = "a GPU's levels: these are the registers and caches of the host's cores";
  constexpr std::size_t device_memory = 5;  // the row to compare with
  const double far = gigabytes_per_second(levels.all()[device_memory], times[device_memory]);
  for (std::size_t i = 0; i < levels.all().size(); ++i) {
    const Level& level = levels.all()[i];
    levels.clear();
    works[i]();
    const double rate = gigabytes_per_second(level, times[i]);
    report.rows.push_back({.name = level.name,
                           .microseconds = times[i],
                           .figures = {figure("GB/s", rate, 1), figure("times device memory", rate / far, 2, "x")},
                           .correct = levels.are_right(level),
                           .remark = {}});
  }

  present(report, json);
  if (options.plot) write_plot(*options.plot, chart_of(report));
  require_correct(report);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("memory_levels", [&] { return run(parse_command_line(argc, argv)); });
}
