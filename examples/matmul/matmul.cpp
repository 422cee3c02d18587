// Multiplies matrices on the GPU: one work-item an element, then with tiles in LDS, then with blocks in registers. All
// do the same operations, but load different numbers of bytes from memory. A GPU can compute far more than it can load.
#include "exact_product.hpp"
#include "host_loop.hpp"
#include "host_product.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "report.hpp"
#include "roofline.hpp"
#include "timing.hpp"

#include <fastdispatch/fastdispatch.hpp>
#include <matmul_code_object.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fd = fastdispatch;

namespace {

struct Options {
  CommonOptions common{.iterations = 3, .json = {}};
  std::optional<std::filesystem::path> plot;
  std::uint32_t size = 256;
  std::optional<std::uint32_t> rows, columns, inner;
  bool sweep = false;
  fd::Fences fences = fd::Fences::minimal;

  [[nodiscard]] Shape shape() const { return {rows.value_or(size), columns.value_or(size), inner.value_or(size)}; }
};

// One of the kernels of kernels/matmul.hip.
struct Variant {
  const char* name;
  const char* kernel;
  std::uint32_t group_width;
  std::uint32_t group_height;
  std::uint32_t items_each;  // elements of a work-item along rows and along columns
  std::uint32_t reuse;       // how many work-items, or elements, share a load from memory
};

constexpr Variant variants[] = {
    {"untiled", "matmul_untiled", 32, 8, 1, 1},        {"tiles of 8", "matmul_tiles_8", 8, 8, 1, 8},
    {"tiles of 16", "matmul_tiles_16", 16, 16, 1, 16}, {"tiles of 32", "matmul_tiles_32", 32, 32, 1, 32},
    {"blocks of 64", "matmul_blocks", 16, 16, 4, 64},
};

constexpr std::uint32_t round_up_quotient(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

fd::Grid grid_of(const Variant& variant, const Shape& shape) {
  const std::uint32_t width = variant.group_width;
  const std::uint32_t height = variant.group_height;
  return fd::grid(round_up_quotient(shape.columns, width * variant.items_each) * width,
                  round_up_quotient(shape.rows, height * variant.items_each) * height)
      .group(width, height);
}

double operations(const Shape& shape) { return 2.0 * shape.rows * shape.columns * shape.inner; }

// Bytes that the kernel loads and stores. Tiles of w x w load A once for each of the columns / w tiles in a row, and B
// once for each of the rows / w tiles in a column; the untiled kernel does the same with w = 1.
double bytes_moved(const Variant& variant, const Shape& shape) {
  const double rows = shape.rows;
  const double columns = shape.columns;
  const double loads_of_a = rows * shape.inner * round_up_quotient(shape.columns, variant.reuse);
  const double loads_of_b = columns * shape.inner * round_up_quotient(shape.rows, variant.reuse);
  return sizeof(float) * (loads_of_a + loads_of_b + rows * columns);
}

double intensity(const Variant& variant, const Shape& shape) { return operations(shape) / bytes_moved(variant, shape); }

// The largest rate that the roofline allows for an intensity.
double roof(const Roofline& roofline, double flops_per_byte) {
  return std::min(roofline.gflops, roofline.gigabytes_per_second * flops_per_byte);
}

std::string text_of(const Shape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.inner) + " times " + std::to_string(shape.inner) +
         " x " + std::to_string(shape.columns);
}

std::size_t bytes_of(const Shape& shape) {
  const std::size_t elements = std::size_t{shape.rows} * shape.inner + std::size_t{shape.inner} * shape.columns +
                               std::size_t{shape.rows} * shape.columns;
  return elements * sizeof(float);
}

// A product of one shape: its matrices on both sides, and the host's check.
class Product {
public:
  Product(fd::Queue& queue, const fd::Module& module, const Shape& shape, fd::Fences fences);

  // Runs the host's loops, then every variant, and returns a row for each. `roofline` has the GPU's limits.
  [[nodiscard]] std::vector<Row> measure(std::size_t iterations, const Roofline& roofline);

private:
  using HostLoop = decltype(multiply_rows);

  [[nodiscard]] fd::Batch record(const Variant& variant, fd::Fences fences);
  // Times work whose result is then in host_c_.
  [[nodiscard]] double time_on_gpu(fd::Batch& batch);
  [[nodiscard]] double time_on_host(HostLoop& loop);
  // Returns the fault of the result; nothing if it is right.
  [[nodiscard]] std::string find_error() const;

  fd::Queue& queue_;
  const fd::Module& module_;
  Shape shape_;
  std::vector<float> host_a_;
  std::vector<float> host_b_;
  std::vector<float> host_c_;
  ProductCheck check_;
  fd::DeviceBuffer<float> a_;
  fd::DeviceBuffer<float> b_;
  fd::DeviceBuffer<float> c_;
  std::vector<fd::Batch> batches_;  // of each variant, one dispatch
};

Product::Product(fd::Queue& queue, const fd::Module& module, const Shape& shape, fd::Fences fences)
    : queue_(queue), module_(module), shape_(shape), host_a_(random_integers(std::size_t{shape.rows} * shape.inner, 1)),
      host_b_(random_integers(std::size_t{shape.inner} * shape.columns, 2)),
      host_c_(std::size_t{shape.rows} * shape.columns), check_(shape, host_a_, host_b_),
      a_(queue.agent(), host_a_.size()), b_(queue.agent(), host_b_.size()), c_(queue.agent(), host_c_.size()) {
  fd::copy(a_, std::span(host_a_));
  fd::copy(b_, std::span(host_b_));
  for (const Variant& variant : variants) batches_.push_back(record(variant, fences));
}

fd::Batch Product::record(const Variant& variant, fd::Fences fences) {
  fd::Batch batch(queue_.agent(), {.fences = fences});
  batch.dispatch(module_.kernel<void(float*, const float*, const float*, Shape)>(variant.kernel),
                 grid_of(variant, shape_), fd::write(c_), a_, b_, shape_);
  return batch;
}

double Product::time_on_gpu(fd::Batch& batch) {
  // Elements of the variant before must not pass for elements of this variant.
  std::fill(host_c_.begin(), host_c_.end(), std::numeric_limits<float>::quiet_NaN());
  fd::copy(c_, std::span(host_c_));
  const double microseconds = time_of([&] { queue_.submit(batch).wait(); });
  fd::copy(std::span(host_c_), c_);
  return microseconds;
}

double Product::time_on_host(HostLoop& loop) {
  std::fill(host_c_.begin(), host_c_.end(), std::numeric_limits<float>::quiet_NaN());
  return time_of([&] {
    for_each_band(shape_.rows,
                  [&](std::size_t first, std::size_t last) { loop(shape_, host_a_, host_b_, host_c_, first, last); });
  });
}

std::string Product::find_error() const {
  const std::optional<std::size_t> row = check_.first_wrong_row(host_c_);
  return row ? "row " + std::to_string(*row) : "";
}

std::vector<Row> Product::measure(std::size_t iterations, const Roofline& roofline) {
  const std::string threads = std::to_string(host_threads()) + " threads";
  std::vector<std::pair<std::string, std::function<double()>>> works = {
      {"CPU, " + threads, [this] { return time_on_host(multiply_rows); }},
      {"CPU in tiles, " + threads, [this] { return time_on_host(multiply_tiles); }}};
  const std::size_t host_rows = works.size();
  for (std::size_t i = 0; i < std::size(variants); ++i)
    works.emplace_back(variants[i].name, [this, i] { return time_on_gpu(batches_[i]); });
  std::vector<Row> rows;
  rows.reserve(works.size());
  for (const auto& work : works) rows.push_back({.name = work.first, .microseconds = {}, .figures = {}, .remark = {}});

  // The variants take turns, so that other load of the machine slows them alike. The first turn loads the kernels and
  // is not counted, but checked like the others.
  for (std::size_t turn = 0; turn <= iterations; ++turn) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double microseconds = works[i].second();
      if (turn > 0) rows[i].microseconds.push_back(microseconds);
      if (rows[i].correct) rows[i].remark = find_error();
      rows[i].correct = rows[i].remark.empty();
    }
  }
  const double untiled = median(rows[host_rows].microseconds);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    const double microseconds = median(row.microseconds);
    const double gflops = operations(shape_) / microseconds / 1e3;
    row.figures = {figure("GFLOP/s", gflops), figure("speed-up", untiled / microseconds, 2, "x")};
    row.compares = i < host_rows;
    if (row.compares) continue;
    const Variant& variant = variants[i - host_rows];
    row.figures.push_back(figure("MB moved", bytes_moved(variant, shape_) / 1e6));
    row.figures.push_back(figure("FLOP/byte", intensity(variant, shape_)));
    row.figures.push_back(figure("bound", roof(roofline, intensity(variant, shape_))));
    row.figures.push_back(figure("of peak", 100 * gflops / roofline.gflops, 1, " %"));
  }
  return rows;
}

// The shapes to multiply: one, or squares of powers of two up to the size.
std::vector<Shape> shapes_of(const Options& options) {
  if (!options.sweep) return {options.shape()};
  std::vector<Shape> shapes;
  for (std::uint32_t n = 64; n < options.size; n *= 2) shapes.push_back({n, n, n});
  shapes.push_back({options.size, options.size, options.size});
  return shapes;
}

Curve roof_curve(const Roofline& roofline) {
  Curve curve = {.name = "roofline: memory, multiply-adds", .points = {}, .dashed = true};
  const double ridge = roofline.gflops / roofline.gigabytes_per_second;
  for (const double x : {1.0 / 8, ridge, 64.0}) curve.points.emplace_back(x, roof(roofline, x));
  std::sort(curve.points.begin(), curve.points.end());
  return curve;
}

int run(const Options& options) {
  std::optional<OutputFile> json;
  if (options.common.json) json.emplace(*options.common.json);
  const std::vector<Shape> shapes = shapes_of(options);
  require_memory(2 * bytes_of(shapes.back()));  // the host's and the GPU's

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  const fd::Module module = fd::Module::load(gpu, code_objects::matmul(), "matmul");
  fd::Queue queue(gpu);

  const std::string problem = options.sweep ? "squares of up to " + std::to_string(options.size) : text_of(shapes[0]);
  Report report = report_on("matmul", problem, runtime, gpu);
  report.beyond_softgpu = "a GPU's ceilings, nor what LDS saves: LDS and caches are those of the host's cores";
  LinePlot plot = {.title = "Matrix products: " + title_of(report),
                   .x_label = "operations a byte loaded or stored",
                   .y_label = "GFLOP/s",
                   .logarithmic_x = true,
                   .logarithmic_y = true,
                   .key = KeyPlace::right_bottom,
                   .curves = {}};
  for (const Variant& variant : variants)
    plot.curves.push_back({.name = variant.name, .points = {}, .points_only = true});

  std::vector<Row> limits;
  const Roofline roofline = measure_roofline(gpu, queue, options.common.iterations, limits);
  for (const Shape& shape : shapes) {
    std::vector<Row> rows = Product(queue, module, shape, options.fences).measure(options.common.iterations, roofline);
    const std::size_t host_rows = rows.size() - std::size(variants);
    for (std::size_t i = host_rows; i < rows.size(); ++i) {
      const std::size_t variant = i - host_rows;
      plot.curves[variant].points.emplace_back(intensity(variants[variant], shape), rows[i].figures[0].value);
    }
    for (Row& row : rows) {
      if (options.sweep) row.name = std::to_string(shape.rows) + ": " + row.name;
      row.compares = row.compares || &shape != &shapes.back();  // smaller ones
    }
    std::move(rows.begin(), rows.end(), std::back_inserter(report.rows));
  }
  std::move(limits.begin(), limits.end(), std::back_inserter(report.rows));
  plot.curves.push_back(roof_curve(roofline));

  present(report, json);
  if (options.plot) write_plot(*options.plot, plot);
  require_correct(report);
  return EXIT_SUCCESS;
}

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line("Multiplies matrices: an element a work-item, then tiles in LDS, then blocks in registers.",
                   "matmul");
  const auto add_size = [&line](const char* name, auto& value, const char* letter, const char* description) {
    return line.option(name, &value, description)
        .between(1, longest_inner)
        .value_name(letter)
        .group("What is multiplied");
  };
  CommandLineOption sides[] = {
      add_size("--rows", options.rows, "M", "Of A and of the product (as --size)"),
      add_size("--columns", options.columns, "N", "Of B and of the product (as --size)"),
      add_size("--inner", options.inner, "K", "Columns of A and rows of B (as --size)"),
  };
  add_size("--size", options.size, "N", "Of square matrices (256)");
  CommandLineOption sweep = line.flag("--sweep", options.sweep, "Squares of 64, 128, 256 and so on up to --size")
                                .value_name(" ")  // or else the help lists whom it excludes
                                .group("What is multiplied");
  for (const CommandLineOption& side : sides) sweep.excludes(side);
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  line.parse_or_exit(argc, argv);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("matmul", [&] { return run(parse_command_line(argc, argv)); });
}
