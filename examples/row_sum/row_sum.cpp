// Adds up each row of a matrix on the GPU: where people travel to work, how many leave each place.
//
// There is one addition a load, so a good kernel is as fast as the memory. The kernels differ in how many bytes a
// work-item loads before it has to wait for others; a plain read shows what is left to gain. A matrix in the host's
// memory must be copied first, or read over the bus: the best kernel is timed with each kind of memory, too, and all
// are compared with the CPU.
#include "kernel_variants.hpp"
#include "matrix_source.hpp"
#include "measure.hpp"
#include "memory_variants.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "problem.hpp"
#include "program.hpp"
#include "report.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace fd = fastdispatch;

namespace {

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

std::string text_of(const MatrixSource& source) {
  return std::to_string(source.rows) + " x " + std::to_string(source.columns);
}

// Before the work: Linux ends a program that uses more memory than there is.
void require_memory_for(const MatrixSource& source, bool with_pageable, bool on_softgpu) {
  const std::size_t bytes = checked_product(checked_product(source.rows, source.columns), sizeof(float));
  const std::size_t on_host = with_pageable ? 3 : 1;
  const std::size_t on_gpu = with_pageable ? 2 : 1;  // the matrix, and bands of as many rows at most
  // Sums on both sides, those in double precision, and the partial sums of the two variants that have them.
  const std::size_t blocks = blocks_of(static_cast<std::uint32_t>(source.columns));
  const std::size_t bytes_a_row = 2 * sizeof(double) + (2 + 4 * blocks) * sizeof(float);
  require_memory(checked_product(bytes, on_host + (on_softgpu ? on_gpu : 0)) +
                 checked_product(source.rows, bytes_a_row));
}

// One matrix and every variant: adds their rows to the report. Returns the sums.
std::vector<float> add_up(const Options& options, fd::Agent gpu, const MatrixSource& source, Report& report) {
  require_memory_for(source, true, report.softgpu);
  report.problem = "Sums of " + counted(source.rows, "row") + " of " + counted(source.columns, "float");
  Problem problem(gpu, source);
  PageableMatrices pageable(problem);
  std::vector<Variant> variants = kernel_variants(problem, options.fences);
  std::ranges::move(memory_variants(problem, pageable, options.fences), std::back_inserter(variants));
  report.rows = measure(problem, variants, options.common.iterations);
  return {problem.sums_on_host.begin(), problem.sums_on_host.end()};
}

BarPlot plot_of(const Report& report) {
  BarPlot plot{.title = title_of(report), .y_label = "GB/s without copies", .bars = {}};
  for (const Row& row : report.rows) {
    if (!row.microseconds.empty()) plot.bars.emplace_back(row.name, row.figures.front().value);
  }
  return plot;
}

// From 256 x 256 on, each size twice as high and as wide as the one before where the matrix is so large.
std::vector<MatrixSource> sizes_of(const Options& options) {
  std::vector<MatrixSource> sizes;
  for (std::size_t size = 256; size < std::max(options.rows, options.columns); size *= 2)
    sizes.push_back(random_matrix(std::min(size, options.rows), std::min(size, options.columns), options.seed));
  sizes.push_back(random_matrix(options.rows, options.columns, options.seed));
  return sizes;
}

// Every kernel over all sizes: adds rows to the report, and returns their chart.
LinePlot sweep(const Options& options, fd::Agent gpu, Report& report) {
  const std::vector<MatrixSource> sizes = sizes_of(options);
  report.problem = "Sums of rows, up to " + text_of(sizes.back()) + " floats";
  LinePlot plot{.title = title_of(report),
                .x_label = "MiB of the matrix",
                .y_label = "GB/s without copies",
                .logarithmic_x = true,
                .logarithmic_y = true,
                .key = KeyPlace::below,
                .curves = {}};
  for (const MatrixSource& source : sizes) {
    require_memory_for(source, false, report.softgpu);
    Problem problem(gpu, source);
    std::vector<Row> rows = measure(problem, kernel_variants(problem, options.fences), options.common.iterations);
    plot.curves.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      plot.curves[i].name = rows[i].name;
      plot.curves[i].dashed = rows[i].compares;
      plot.curves[i].points.emplace_back(static_cast<double>(problem.matrix_on_host.size_bytes()) * 0x1p-20,
                                         rows[i].figures.front().value);
      rows[i].name = text_of(source) + ": " + rows[i].name;
      rows[i].compares = rows[i].compares || &source != &sizes.back();  // smaller ones
    }
    std::ranges::move(rows, std::back_inserter(report.rows));
  }
  return plot;
}

int run(const Options& options) {
  // Before the work: a result that can't be written is lost.
  std::optional<OutputFile> output;
  std::optional<OutputFile> json;
  if (options.output) output.emplace(*options.output);
  if (options.common.json) json.emplace(*options.common.json);

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  Report report = report_on("row_sum", "", runtime, gpu);
  report.beyond_softgpu =
      "the bandwidth of a GPU's memory, nor the price of a copy over the bus: all memory is the host's";
  if (options.sweep) {
    const LinePlot plot = sweep(options, gpu, report);
    present(report, json);
    if (options.plot) write_plot(*options.plot, plot);
    require_correct(report);
    return EXIT_SUCCESS;
  }

  const MatrixSource source = options.input ? matrix_file(*options.input, options.trips_columns)
                                            : random_matrix(options.rows, options.columns, options.seed);
  const std::vector<float> sums = add_up(options, gpu, source, report);
  present(report, json, output);
  if (options.plot) write_plot(*options.plot, plot_of(report));
  require_correct(report);
  if (output) {
    write_sums(*output, source.row_names, sums);
    output->commit();
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("row_sum", [&] { return run(parse_command_line(argc, argv)); });
}
