#include "measure.hpp"

#include "host_sums.hpp"
#include "kernel_variants.hpp"
#include "timing.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace fd = fastdispatch;

namespace {

using Microseconds = std::vector<double>;  // of each iteration; none where there is nothing to run

// First all without the copies, then with them.
struct Times {
  std::vector<Microseconds> without_copies;
  std::vector<Microseconds> with_copies;
};

Times time_all(std::span<const Variant> variants, std::size_t iterations) {
  std::vector<std::function<void()>> works;
  const auto add = [&works](const std::function<void()>& work) {
    if (work) works.push_back(work);
  };
  for (const Variant& variant : variants) add(variant.run);
  for (const Variant& variant : variants) add(variant.run_with_copies);

  const std::vector<Microseconds> series = time_in_turns(works, iterations);
  auto next = series.begin();
  Times times;
  for (const Variant& variant : variants) times.without_copies.push_back(variant.run ? *next++ : Microseconds{});
  for (const Variant& variant : variants)
    times.with_copies.push_back(variant.run_with_copies ? *next++ : Microseconds{});
  return times;
}

// Each variant adds up every 16th element or fewer one after the other, and then 16 or more sums in a tree or one after
// the other. An addition rounds by half a unit.
double tolerance_of(std::size_t columns) {
  const std::size_t additions = columns / 16 + 48;
  return static_cast<double>(additions) * std::numeric_limits<float>::epsilon() / 2;
}

// Runs it once more without copies and with copies, if it has both.
double largest_error(Problem& problem, const Variant& variant, const ExactSums& exact) {
  double error = 0;
  if (variant.run) {
    problem.clear_sums();
    variant.run();
    if (variant.reads == Memory::device) fd::copy(problem.sums_on_host, problem.sums_on_gpu);
    error = exact.largest_error(problem.sums_on_host.span());
  }
  if (variant.run_with_copies) {
    problem.clear_sums();
    variant.run_with_copies();
    error = std::max(error, exact.largest_error(problem.sums_on_host.span()));
  }
  return error;
}

// The medians of the plain reads.
std::map<Memory, double> plain_read_times(std::span<const Variant> variants, const Times& times) {
  std::map<Memory, double> result;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].has_read_all) result[*variants[i].reads] = median(times.without_copies[i]);
  }
  return result;
}

Figure rate_of(const char* heading, const Problem& problem, double microseconds) {
  return figure(heading, static_cast<double>(problem.matrix_on_host.size_bytes()) / microseconds * 1e-3);
}

}  // namespace

std::vector<Row> measure(Problem& problem, std::span<const Variant> variants, std::size_t iterations) {
  const ExactSums exact(problem.matrix());
  const Times times = time_all(variants, iterations);
  const double cpu_time = median(times.without_copies[all_cores]);
  const std::map<Memory, double> read_times = plain_read_times(variants, times);

  std::vector<Row> rows;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Variant& variant = variants[i];
    Row& row = rows.emplace_back(Row{.name = variant.name,
                                     .microseconds = times.without_copies[i],
                                     .figures = {},
                                     .compares = !variant.reads || variant.has_read_all,
                                     .remark = {}});
    if (variant.run) {
      const double time = median(row.microseconds);
      row.figures = {rate_of("GB/s", problem, time), figure("of CPU", cpu_time / time, 2, "x")};
      if (variant.reads)
        row.figures.push_back(figure("of a plain read", 100 * read_times.at(*variant.reads) / time, 1, " %"));
    }
    if (variant.run_with_copies) {
      const double time = median(times.with_copies[i]);
      row.figures.push_back(figure("us with copies", time, 1));
      row.figures.push_back(rate_of("GB/s with copies", problem, time));
    }
    if (variant.has_read_all) {
      row.correct = variant.has_read_all();
    } else {
      const double error = largest_error(problem, variant, exact);
      row.figures.push_back(scientific_figure("largest error", error));
      row.correct = error <= tolerance_of(problem.columns);
    }
  }
  return rows;
}
