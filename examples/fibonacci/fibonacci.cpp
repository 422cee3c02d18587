// Writes Fibonacci numbers from the GPU to memory that the host shares, and shows what limits such a kernel.
//
// One work-item computes one number after the other, and writes each number. Is computing slow, or writing? One variant
// leaves out the writing, one the computing. The cure: a recurrence that looks ahead k places lets k work-items write
// at once, although each number depends on the numbers before. --sweep shows the gain of each k.
#include "plot.hpp"
#include "program.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <fastdispatch/fastdispatch.hpp>
#include <fibonacci_code_object.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fd = fastdispatch;

namespace {

constexpr std::size_t most_numbers = 1477;  // F(1476) is the last that a double holds
constexpr std::size_t last_exact = 78;      // F(79) takes 54 bits
constexpr std::uint32_t most_work_items = 1024;

struct Options {
  CommonOptions common{.device = 0, .iterations = 5, .json = {}};
  std::uint32_t work_items = 8;
  std::size_t count = 1024;
  std::size_t repetitions = 1024;
  std::string destination = "pinned";
  bool sweep = false;
  std::optional<std::filesystem::path> plot;
  fd::Fences fences = fd::Fences::minimal;
};

// The kernels of kernels/fibonacci.hip.
using OneWorkItem = void(double* numbers, std::uint32_t count, std::uint32_t repetitions);
using LookAhead = void(double* numbers, std::uint32_t count, std::uint32_t repetitions, std::uint32_t stride);

// A variant's result in each repetition's row.
enum class Written { numbers, last_number, ones };

struct Variant {
  std::string name;
  fd::Batch batch;  // one dispatch
  Written written = Written::numbers;
  std::uint32_t work_items = 1;
};

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Writes the first Fibonacci numbers, again and again, from the GPU to memory that the host shares: without the "
      "writing, without the computation, and with work-items that look ahead.",
      "fibonacci");
  constexpr const char* group = "What is computed";
  CommandLineOption work_items =
      line.option("--work-items", &options.work_items, "How many work-items look ahead, a power of two up to 1024 (8)")
          .between(1, most_work_items)
          .check([](const std::string& text) {
            return std::has_single_bit(std::stoul(text)) ? std::string() : text + " is no power of two";
          })
          .value_name("N")
          .group(group);
  line.flag("--sweep", options.sweep, "Look ahead with 1, 2, 4 ... 1024 work-items")
      .excludes(work_items)
      .value_name(" ")
      .group(group);
  line.option("--count", &options.count, "How many numbers, up to 1477, the last that a double holds (1024)")
      .between(1, most_numbers)
      .value_name("N")
      .group(group);
  line.option("--repetitions", &options.repetitions, "How often, each time to another place (1024)")
      .between(1, std::numeric_limits<std::uint32_t>::max())
      .value_name("N")
      .group(group);
  line.option("--destination", &options.destination, "pinned: the host's memory; device: the GPU's (pinned)")
      .one_of({"pinned", "device"})
      .value_name("NAME")
      .group(group);
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  line.parse_or_exit(argc, argv);
  if (options.plot && !options.sweep) {
    std::cerr << "fibonacci: --plot draws the MB/s of a --sweep (--help lists the options)\n";
    std::exit(2);
  }
  return options;
}

// Where the kernels write: one of the two kinds of memory.
class Destination {
public:
  Destination(fd::Agent gpu, std::size_t size, bool on_device) : on_host_(size) {
    if (on_device) {
      device_ = fd::DeviceBuffer<double>(gpu, size);
    } else {
      pinned_ = fd::PinnedBuffer<double>(gpu, size);
    }
  }

  [[nodiscard]] double* data() { return device_.empty() ? pinned_.data() : device_.data(); }

  // A number that is not written stays visible.
  void clear() {
    std::fill(on_host_.begin(), on_host_.end(), std::numeric_limits<double>::quiet_NaN());
    fd::copy(view(), std::span(on_host_));
  }

  [[nodiscard]] std::span<const double> read() {
    fd::copy(std::span(on_host_), view());
    return on_host_;
  }

private:
  [[nodiscard]] fd::MemoryView view() const { return device_.empty() ? fd::MemoryView(pinned_) : device_; }

  fd::DeviceBuffer<double> device_;
  fd::PinnedBuffer<double> pinned_;
  std::vector<double> on_host_;
};

// The numbers, to more digits than a double has.
std::vector<long double> fibonacci_numbers(std::size_t count) {
  std::vector<long double> numbers = {0, 1};
  while (numbers.size() < count) numbers.push_back(numbers.end()[-1] + numbers.end()[-2]);
  numbers.resize(count);
  return numbers;
}

// The largest error of a row, relative to the number; infinite if a number that must be exact is wrong.
double largest_error(std::span<const double> row, std::span<const long double> expected, Written written) {
  if (written == Written::ones) {
    return std::all_of(row.begin(), row.end(), [](double number) { return number == 1; })
               ? 0
               : std::numeric_limits<double>::infinity();
  }
  double largest = 0;
  for (std::size_t n = written == Written::last_number ? row.size() - 1 : 0; n < row.size(); ++n) {
    if (row[n] == static_cast<double>(expected[n])) continue;
    if (n <= last_exact || std::isnan(row[n])) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, static_cast<double>(std::abs(row[n] / expected[n] - 1)));
  }
  return largest;
}

std::vector<Variant> variants_of(const Options& options, fd::Agent gpu, const fd::Module& module, double* numbers) {
  const auto count = static_cast<std::uint32_t>(options.count);
  const auto repetitions = static_cast<std::uint32_t>(options.repetitions);
  std::vector<Variant> variants;
  const auto add = [&](std::string name, Written written, std::uint32_t work_items) -> fd::Batch& {
    fd::Batch batch(gpu, {.fences = options.fences});
    variants.push_back(
        {.name = std::move(name), .batch = std::move(batch), .written = written, .work_items = work_items});
    return variants.back().batch;
  };
  const auto add_one_work_item = [&](const char* name, const char* kernel, Written written) {
    add(name, written, 1).dispatch(module.kernel<OneWorkItem>(kernel), fd::grid(1), numbers, count, repetitions);
  };
  add_one_work_item("one work-item", "serial", Written::numbers);
  add_one_work_item("without writing", "without_writing", Written::last_number);
  add_one_work_item("without computing", "without_computing", Written::ones);
  const auto look_ahead = module.kernel<LookAhead>("look_ahead");
  const std::uint32_t last = options.sweep ? most_work_items : options.work_items;
  for (std::uint32_t k = options.sweep ? 1 : options.work_items; k <= last; k *= 2) {
    add("look-ahead, " + std::to_string(k) + (k == 1 ? " work-item" : " work-items"), Written::numbers, k)
        .dispatch(look_ahead, fd::grid(k), numbers, count, repetitions, k);
  }
  return variants;
}

LinePlot plot_of(const std::vector<Variant>& variants, const Report& report) {
  LinePlot plot{.title = title_of(report),
                .x_label = "work-items",
                .y_label = "MB/s",
                .logarithmic_x = true,
                .logarithmic_y = true,
                .curves = {{.name = "look-ahead", .points = {}}}};
  constexpr std::size_t first_look_ahead = 3;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const double rate = report.rows[i].figures.front().value;
    if (i >= first_look_ahead) {
      plot.curves.front().points.emplace_back(variants[i].work_items, rate);
    } else {
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
  const std::size_t size = checked_product(options.count, options.repetitions);
  const std::size_t bytes = checked_product(size, sizeof(double));
  require_memory(checked_product(bytes, 2));

  Destination destination(gpu, size, options.destination == "device");
  const fd::Module module = fd::Module::load(gpu, code_objects::fibonacci(), "fibonacci");
  fd::Queue queue(gpu);
  std::vector<Variant> variants = variants_of(options, gpu, module, destination.data());

  std::vector<std::function<void()>> works;
  works.reserve(variants.size());
  for (Variant& variant : variants) {
    works.emplace_back([&queue, &variant] { queue.submit(variant.batch).wait(); });
  }
  const std::vector<std::vector<double>> times = time_in_turns(works, options.common.iterations);

  std::ostringstream problem;
  problem << counted(options.count, "Fibonacci number") << ", " << counted(options.repetitions, "time") << " to "
          << (options.destination == "device" ? "device" : "pinned host") << " memory";
  Report report = report_on("fibonacci", problem.str(), runtime, gpu);
  report.beyond_softgpu = "what pinned memory costs the writes of a GPU: all memory is the host's";
  const std::vector<long double> expected = fibonacci_numbers(options.count);
  // For every place of look-ahead, a number or its coefficients are rounded at most twice, by half a unit.
  const double tolerance = static_cast<double>(options.count) * std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    destination.clear();
    works[i]();
    const std::span<const double> numbers = destination.read();
    double error = 0;
    for (std::size_t first = 0; first < size; first += options.count) {
      error = std::max(error, largest_error(numbers.subspan(first, options.count), expected, variants[i].written));
    }
    report.rows.push_back({.name = variants[i].name,
                           .microseconds = times[i],
                           .figures = {figure("MB/s", static_cast<double>(bytes) / median(times[i]), 1),
                                       figure("speedup", median(times[0]) / median(times[i]), 2, "x"),
                                       scientific_figure("largest error", error)},
                           .correct = error <= tolerance,
                           .compares = variants[i].written != Written::numbers,
                           .remark = {}});
  }

  present(report, json);
  if (options.plot) write_plot(*options.plot, plot_of(variants, report));
  require_correct(report);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fibonacci", [&] { return run(parse_command_line(argc, argv)); });
}
