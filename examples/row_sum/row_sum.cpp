// Adds up each row of a matrix on the GPU: where people travel to work, how many leave each place.
//
// There is one addition a load, so a good kernel is as fast as the memory. The variants differ in how many bytes a
// work-item loads before it has to wait for others. A matrix in the host's memory must be copied first: so each variant
// is timed with the copies, too, and compared with the CPU.
#include "host_loop.hpp"
#include "host_sums.hpp"
#include "matrix_source.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <fastdispatch/fastdispatch.hpp>
#include <row_sum_code_object.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace fd = fastdispatch;

namespace {

// The kernels of kernels/row_sum.hip.
using BlockSums = void(const float* matrix, float* partials, std::uint32_t rows, std::uint32_t columns);
using SumsOfBlocks = void(const float* partials, float* sums, std::uint32_t rows, std::uint32_t blocks);
using RowSums = void(const float* matrix, float* sums, std::uint32_t rows, std::uint32_t columns);

constexpr std::uint32_t group_size = 256;

// If a grid with work-items for all rows would be too large to count, the work-items take rows in turns.
constexpr std::uint32_t most_items = 1U << 31U;

constexpr std::uint32_t groups_for(std::uint32_t items) { return (items + group_size - 1) / group_size; }

// The matrix on both sides, and how each variant adds up its rows.
class RowSummer {
public:
  RowSummer(fd::Agent gpu, const MatrixSource& source)
      : gpu_(gpu), module_(fd::Module::load(gpu, code_objects::row_sum(), "row_sum")), queue_(gpu),
        rows_(static_cast<std::uint32_t>(source.rows)), columns_(static_cast<std::uint32_t>(source.columns)),
        on_host_(gpu, source.rows * source.columns), on_gpu_(gpu, on_host_.size()), sums_on_host_(gpu, source.rows),
        sums_on_gpu_(gpu, source.rows) {
    source.write_to(on_host_.span());
    fd::copy(on_gpu_, on_host_);
  }

  [[nodiscard]] Matrix matrix() const { return {on_host_.span(), rows_, columns_}; }
  [[nodiscard]] std::span<float> sums() { return sums_on_host_.span(); }
  void run(fd::Batch& batch) { queue_.submit(batch).wait(); }

  // Two launches: the first writes sums of 256 neighbours to memory, the second adds up these sums.
  void record_two_launches(fd::Batch& batch) {
    const std::uint32_t blocks = groups_for(columns_);
    if (partials_.empty()) partials_ = fd::DeviceBuffer<float>(gpu_, std::size_t{blocks} * rows_);
    const std::uint32_t grid_rows = std::clamp(most_items / (blocks * group_size), 1U, rows_);
    batch.dispatch(module_.kernel<BlockSums>("block_sums"), fd::grid(blocks * group_size, grid_rows).group(group_size),
                   on_gpu_, partials_, rows_, columns_);
    batch.dispatch(module_.kernel<SumsOfBlocks>("sums_of_blocks"),
                   fd::grid(groups_for(rows_) * group_size).group(group_size), partials_, sums_on_gpu_, rows_, blocks);
  }

  void record_group_a_row(fd::Batch& batch) { record(batch, "group_a_row", 1); }
  void record_wavefront_a_row(fd::Batch& batch) {
    record(batch, "wavefront_a_row", group_size / gpu_.wavefront_size());
  }

  void record_copy_in(fd::Batch& batch) { batch.copy(on_gpu_, on_host_); }
  void record_copy_out(fd::Batch& batch) { batch.copy(sums_on_host_, sums_on_gpu_); }

  // A sum that is not written stays visible.
  void clear_sums() {
    std::fill(sums_on_host_.begin(), sums_on_host_.end(), std::numeric_limits<float>::quiet_NaN());
    fd::copy(sums_on_gpu_, sums_on_host_);
  }

private:
  void record(fd::Batch& batch, const char* kernel, std::uint32_t rows_a_group) {
    const std::uint32_t groups = std::min((rows_ - 1) / rows_a_group + 1, most_items / group_size);
    batch.dispatch(module_.kernel<RowSums>(kernel), fd::grid(groups * group_size).group(group_size), on_gpu_,
                   sums_on_gpu_, rows_, columns_);
  }

  fd::Agent gpu_;
  fd::Module module_;
  fd::Queue queue_;
  std::uint32_t rows_;
  std::uint32_t columns_;
  fd::PinnedBuffer<float> on_host_;
  fd::DeviceBuffer<float> on_gpu_;
  fd::DeviceBuffer<float> partials_;
  fd::PinnedBuffer<float> sums_on_host_;
  fd::DeviceBuffer<float> sums_on_gpu_;
};

// One way to do it.
struct Variant {
  std::string name;
  std::function<void()> run;
  std::function<void()> run_with_copies;  // empty for the CPU, which needs none
};

using Record = void (RowSummer::*)(fd::Batch&);

Variant on_gpu(std::string name, RowSummer& summer, Record record, fd::Agent gpu, fd::BatchOptions options) {
  const auto kernels = std::make_shared<fd::Batch>(gpu, options);
  const auto all = std::make_shared<fd::Batch>(gpu, options);
  (summer.*record)(*kernels);
  summer.record_copy_in(*all);
  (summer.*record)(*all);
  summer.record_copy_out(*all);
  return {.name = std::move(name),
          .run = [&summer, kernels] { summer.run(*kernels); },
          .run_with_copies = [&summer, all] { summer.run(*all); }};
}

std::vector<Variant> variants_of(RowSummer& summer, fd::Agent gpu, fd::BatchOptions options) {
  const auto on_one_core = [&summer] { sum_rows(summer.matrix(), 0, summer.matrix().rows, summer.sums()); };
  const auto on_all_cores = [&summer] {
    for_each_band(summer.matrix().rows, [&summer](std::size_t first, std::size_t last) {
      sum_rows(summer.matrix(), first, last, summer.sums());
    });
  };
  return {
      {.name = "CPU, one core", .run = on_one_core, .run_with_copies = {}},
      {.name = "CPU, " + std::to_string(host_threads()) + " threads", .run = on_all_cores, .run_with_copies = {}},
      on_gpu("two launches through LDS", summer, &RowSummer::record_two_launches, gpu, options),
      on_gpu("a work-group a row", summer, &RowSummer::record_group_a_row, gpu, options),
      on_gpu("a wavefront a row", summer, &RowSummer::record_wavefront_a_row, gpu, options),
  };
}

void write_sums(OutputFile& file, const std::vector<std::string>& row_names, std::span<const float> sums) {
  for (std::size_t row = 0; row < sums.size(); ++row) {
    std::ostringstream line;
    line.precision(std::numeric_limits<float>::max_digits10);
    if (row_names.empty()) {
      line << row;
    } else {
      line << '"';
      for (const char letter : row_names[row]) line << (letter == '"' ? "\"\"" : std::string(1, letter));
      line << '"';
    }
    line << ',' << sums[row] << '\n';
    file.write(line.str());
  }
}

double gigabytes_a_second(std::size_t bytes, double microseconds) {
  return static_cast<double>(bytes) / microseconds * 1e-3;
}

int run(const Options& options) {
  // Before the work: a result that can't be written is lost.
  std::optional<OutputFile> output;
  std::optional<OutputFile> json;
  if (options.output) output.emplace(*options.output);
  if (options.common.json) json.emplace(*options.common.json);

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  const MatrixSource source =
      options.input ? matrix_file(*options.input) : random_matrix(options.rows, options.columns, options.seed);
  const std::size_t bytes = checked_product(checked_product(source.rows, source.columns), sizeof(float));
  // The matrix, on the soft GPU twice; of each row sums on both sides, with those in double precision, and partial
  // sums.
  const std::size_t bytes_a_row = 2 * sizeof(double) + 3 * sizeof(float);
  require_memory(checked_product(bytes, runtime.on_softgpu() ? 2 : 1) + checked_product(source.rows, bytes_a_row));

  RowSummer summer(gpu, source);
  const ExactSums exact(summer.matrix());
  const std::vector<Variant> variants = variants_of(summer, gpu, {.fences = options.fences});
  std::vector<std::function<void()>> works;
  works.reserve(2 * variants.size());
  for (const Variant& variant : variants) works.push_back(variant.run);
  for (const Variant& variant : variants) {
    if (variant.run_with_copies) works.push_back(variant.run_with_copies);
  }
  const std::vector<std::vector<double>> times = time_in_turns(works, options.common.iterations);

  std::ostringstream problem;
  problem << "Sums of " << counted(source.rows, "row") << " of " << counted(source.columns, "float");
  Report report = report_on("row_sum", problem.str(), runtime, gpu);
  report.beyond_softgpu =
      "the bandwidth of a GPU's memory, nor the price of a copy over the bus: all memory is the host's";
  // Each variant adds up every 16th element or fewer one after the other, and then 16 or more sums in a tree or one
  // after the other. An addition rounds by half a unit.
  const std::size_t additions = source.columns / 16 + 48;
  const double tolerance = static_cast<double>(additions) * std::numeric_limits<float>::epsilon() / 2;
  constexpr std::size_t all_cores = 1;
  auto with_copies = times.begin() + static_cast<std::ptrdiff_t>(variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Variant& variant = variants[i];
    summer.clear_sums();
    variant.run_with_copies ? variant.run_with_copies() : variant.run();
    const double error = exact.largest_error(summer.sums());
    const double time = median(times[i]);
    Row& row = report.rows.emplace_back(Row{.name = variant.name,
                                            .microseconds = times[i],
                                            .figures = {figure("GB/s", gigabytes_a_second(bytes, time)),
                                                        figure("of CPU", median(times[all_cores]) / time, 2, "x"),
                                                        scientific_figure("largest error", error)},
                                            .correct = error <= tolerance,
                                            .compares = !variant.run_with_copies,
                                            .remark = {}});
    if (!variant.run_with_copies) continue;
    const double time_with_copies = median(*with_copies++);
    row.figures.push_back(figure("us with copies", time_with_copies, 1));
    row.figures.push_back(figure("GB/s with copies", gigabytes_a_second(bytes, time_with_copies)));
  }

  present(report, json, output);
  if (options.plot) {
    BarPlot plot{.title = title_of(report), .y_label = "GB/s without copies", .bars = {}};
    for (const Row& row : report.rows) plot.bars.emplace_back(row.name, row.figures.front().value);
    write_plot(*options.plot, plot);
  }
  require_correct(report);
  if (output) {
    write_sums(*output, source.row_names, summer.sums());
    output->commit();
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("row_sum", [&] { return run(parse_command_line(argc, argv)); });
}
