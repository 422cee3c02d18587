// Lets many work-items increment few counters in three ways: without atomics, which loses increments; with atomics in
// memory, which is right and slow; with a histogram in LDS for each work-group, which is right and fast.
#include "plot.hpp"
#include "program.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <atomic_count_code_object.hpp>
#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace fd = fastdispatch;

namespace {

struct Options {
  CommonOptions common{.iterations = 25, .json = {}};
  std::optional<std::filesystem::path> plot;
  std::uint32_t work_items = 100'000;
  std::uint32_t bins = 10;
  fd::Fences fences = fd::Fences::minimal;
};

// As in kernels/atomic_count.hip.
struct Window {
  std::uint32_t width;
  std::uint32_t copy_bits;

  [[nodiscard]] std::uint32_t lds_bytes() const { return (width << copy_bits) * std::uint32_t{sizeof(std::uint32_t)}; }
};

using Counters = std::vector<std::uint32_t>;

constexpr std::uint32_t group_size = 256;

constexpr std::uint32_t groups_for(std::uint32_t work_items) { return (work_items + group_size - 1) / group_size; }

// Whole groups: surplus work-items do nothing in the kernels.
fd::Grid grid_of(std::uint32_t groups, std::uint32_t windows = 1) {
  return fd::grid(groups * group_size, windows).group(group_size);
}

struct Variant {
  std::string name;
  bool loses_increments;
  fd::Batch batch;  // one dispatch
};

// The variants, and the counters in the GPU's memory that they increment.
class Histogram {
public:
  Histogram(fd::Agent gpu, const Options& options)
      : gpu_(gpu), module_(fd::Module::load(gpu, code_objects::atomic_count(), "atomic_count")), queue_(gpu),
        counters_(gpu, options.bins), bins_(options.bins), items_(options.work_items), fences_(options.fences) {}

  [[nodiscard]] std::vector<Variant> variants();
  void count(Variant& variant) { queue_.submit(variant.batch).wait(); }

  void clear() { fd::copy(counters_, std::span<const std::uint32_t>(Counters(bins_))); }
  [[nodiscard]] Counters read() const {
    Counters counters(bins_);
    fd::copy(std::span(counters), counters_);
    return counters;
  }

private:
  [[nodiscard]] fd::Batch in_memory(const char* kernel);
  [[nodiscard]] fd::Batch in_lds(std::uint32_t groups, Window window);

  fd::Agent gpu_;
  fd::Module module_;
  fd::Queue queue_;
  fd::DeviceBuffer<std::uint32_t> counters_;
  std::uint32_t bins_;
  std::uint32_t items_;
  fd::Fences fences_;
};

std::vector<Variant> Histogram::variants() {
  // Half of a compute unit's LDS, so that the unit holds two groups: one counts while the other waits. If the bins do
  // not fit, several groups count, each group one window of the bins.
  const auto room = static_cast<std::uint32_t>(gpu_.properties().lds_bytes / 2 / sizeof(std::uint32_t));
  const std::uint32_t width = std::min(bins_, room);

  // Clearing the histogram and adding it to memory costs a group the same for one increment a work-item as for many. So
  // there are only enough groups to keep every compute unit busy, with several increments for each work-item. With as
  // many copies of each counter as LDS has banks, no two lanes of a wavefront meet in one bank.
  constexpr std::uint32_t increments_each = 16;
  constexpr std::uint32_t bank_bits = 5;
  const std::uint32_t few_groups = std::min(groups_for(items_ / increments_each + 1), gpu_.compute_units());
  const std::uint32_t copy_bits = std::min(bank_bits, static_cast<std::uint32_t>(std::bit_width(room / width)) - 1);

  std::vector<Variant> variants;
  variants.push_back({"no atomics", true, in_memory("count_without_atomics")});
  variants.push_back({"atomics in memory", false, in_memory("count_in_memory")});
  variants.push_back({"atomics in LDS", false, in_lds(groups_for(items_), {width, 0})});
  variants.push_back({"+ fewer groups", false, in_lds(few_groups, {width, 0})});
  variants.push_back(
      {"+ copies in LDS: " + std::to_string(1U << copy_bits), false, in_lds(few_groups, {width, copy_bits})});
  return variants;
}

fd::Batch Histogram::in_memory(const char* kernel) {
  fd::Batch batch(gpu_, {.fences = fences_});
  batch.dispatch(module_.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>(kernel),
                 grid_of(groups_for(items_)), counters_, bins_, items_);
  return batch;
}

fd::Batch Histogram::in_lds(std::uint32_t groups, Window window) {
  const auto kernel =
      module_.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t, Window)>("count_in_lds");
  const std::uint32_t windows = (bins_ + window.width - 1) / window.width;
  const fd::Grid grid = grid_of(groups, windows).dynamic_lds(window.lds_bytes());
  fd::Batch batch(gpu_, {.fences = fences_});
  batch.dispatch(kernel, grid, counters_, bins_, items_, grid.size[0], window);
  return batch;
}

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

void plot_times(const std::filesystem::path& file, const Report& report) {
  BarPlot plot = {.title = title_of(report), .y_label = "microseconds", .bars = {}};
  for (const Row& row : report.rows) plot.bars.emplace_back(row.name, median(row.microseconds));
  write_plot(file, plot);
}

int run(const Options& options) {
  std::optional<OutputFile> json;
  if (options.common.json) json.emplace(*options.common.json);
  require_memory(std::size_t{4} * options.bins * sizeof(std::uint32_t));  // the GPU's and three of the host

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
  // is not counted, but checked like the others.
  std::vector<Counters> results(variants.size());
  for (std::size_t turn = 0; turn <= options.common.iterations; ++turn) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Row& row = report.rows[i];
      histogram.clear();
      const double time = time_of([&] { histogram.count(variants[i]); });
      results[i] = histogram.read();
      row.correct = row.correct && results[i] == expected;
      if (turn > 0) row.microseconds.push_back(time);
    }
  }

  const double in_memory = median(report.rows[1].microseconds);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Row& row = report.rows[i];
    const auto sum = static_cast<double>(std::accumulate(results[i].begin(), results[i].end(), std::uint64_t{0}));
    row.figures = {figure("speed-up", in_memory / median(row.microseconds), 2, "x"), figure("counted", sum, 0)};
    row.remark = range_of(results[i]) + " in each counter";
    if (!row.correct) row.remark += " instead of " + range_of(expected);
  }

  present(report, json);
  if (options.plot) plot_times(*options.plot, report);
  require_correct(report);
  return EXIT_SUCCESS;
}

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line("Lets many work-items increment few counters, with and without atomics, in memory and in LDS.",
                   "atomic_count");
  line.option("--work-items", &options.work_items, "How many; item i increments counter i % bins (100000)")
      .between(1, 1 << 30)
      .value_name("N")
      .group("What is counted");
  line.option("--bins", &options.bins, "How many counters; what LDS can't hold is counted in parts (10)")
      .between(1, 1 << 24)
      .value_name("N")
      .group("What is counted");
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  line.parse_or_exit(argc, argv);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("atomic_count", [&] { return run(parse_command_line(argc, argv)); });
}
