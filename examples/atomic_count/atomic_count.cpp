// Lets many work-items increment few counters: without atomics, which loses increments; with atomics in memory, which
// is right and slow; and with fewer atomics in memory, after a wavefront or a work-group has counted for itself, in
// registers, in memory of its own or in LDS.
#include "histogram.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace fd = fastdispatch;

namespace {

Counters counted_by_host(const Options& options) {
  Counters counters(options.bins);
  for (std::uint32_t item = 0; item < options.work_items; ++item) ++counters[item % options.bins];
  return counters;
}

std::string range_of(const Counters& counters) {
  const auto [least, most] = std::minmax_element(counters.begin(), counters.end());
  if (*least == *most) return std::to_string(*least);
  return std::to_string(*least) + " to " + std::to_string(*most);
}

Row row_of(const Variant& variant) {
  return {.name = variant.name,
          .microseconds = {},
          .figures = {},
          .shows_an_error = variant.loses_increments,
          .remark = {}};
}

void judge(Row& row, const Counters& result, const Counters& expected) {
  row.correct = result == expected;
  row.remark = range_of(result) + " in each counter";
  if (!row.correct) row.remark += " instead of " + range_of(expected);
  const auto sum = static_cast<double>(std::accumulate(result.begin(), result.end(), std::uint64_t{0}));
  row.figures = {figure("counted", sum, 0)};
}

void plot_times(const std::filesystem::path& file, const Report& report) {
  BarPlot plot = {.title = title_of(report), .y_label = "microseconds", .bars = {}};
  for (const Row& row : report.rows) plot.bars.emplace_back(row.name, median(row.microseconds));
  write_plot(file, plot);
}

int run(const Options& options) {
  std::optional<OutputFile> json;
  if (options.common.json) json.emplace(*options.common.json);
  require_memory(std::size_t{6} * options.bins * sizeof(std::uint32_t));  // two of the GPU and four of the host

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  Histogram histogram(gpu, options);
  std::vector<Variant> variants = histogram.variants();
  const Counters expected = counted_by_host(options);

  Report report =
      report_on("atomic_count",
                counted(options.work_items, "work-item") + (options.work_items == 1 ? " increments " : " increment ") +
                    counted(options.bins, "counter"),
                runtime, gpu);
  report.beyond_softgpu =
      "how thousands of work-items contend for a counter: as many run at once as the host has cores";
  for (const Variant& variant : variants) report.rows.push_back(row_of(variant));

  // The variants take turns, so that other load of the machine slows them alike. The first turn loads the kernels and
  // is not counted, but checked like the others. A row tells its first wrong result.
  for (std::size_t turn = 0; turn <= options.common.iterations; ++turn) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Row& row = report.rows[i];
      histogram.clear();
      const double time = time_of([&] { histogram.count(variants[i]); });
      if (turn > 0) row.microseconds.push_back(time);
      const Counters result = histogram.read();
      if (row.correct) judge(row, result, expected);
    }
  }

  const double in_memory = median(report.rows[1].microseconds);
  for (Row& row : report.rows)
    row.figures.insert(row.figures.begin(), figure("speed-up", in_memory / median(row.microseconds), 2, "x"));

  present(report, json);
  if (options.plot) plot_times(*options.plot, report);
  require_correct(report);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("atomic_count", [&] { return run(parse_command_line(argc, argv)); });
}
