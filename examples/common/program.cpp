#include "program.hpp"

#include "plot.hpp"

#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* run_group = "How it runs";

const std::map<std::string, fastdispatch::Fences> fence_policies = {
    {"conservative", fastdispatch::Fences::conservative},
    {"minimal", fastdispatch::Fences::minimal},
    {"derived", fastdispatch::Fences::derived},
};

std::string check_plot(const std::string& file) {
  if (!file.ends_with(".svg")) return "the chart is an SVG: the name must end in .svg, not " + file;
  if (!gnuplot_is_installed()) return "charts are drawn by gnuplot, which is not installed (Debian: gnuplot-nox)";
  return {};
}

}  // namespace

CommandLineOption add_common_options(CommandLine& line, CommonOptions& options) {
  CommandLineOption iterations =
      line.option("--iterations", &options.iterations,
                  "How often each variant runs, for the median time (" + std::to_string(options.iterations) + ")")
          .between(1, 1'000'000)
          .value_name("N")
          .group(run_group);
  line.option("--device", &options.device, "Which GPU, from 0 (0)").between(0, 1023).value_name("N").group(run_group);
  line.option("--json", &options.json, "Write the times to this file").value_name("FILE").group(run_group);
  return iterations;
}

CommandLineOption add_fences_option(CommandLine& line, fastdispatch::Fences& fences) {
  return line
      .option(
          "--fences", [&fences](const std::string& name) { fences = fence_policies.at(name); },
          "How what is submitted at once is ordered: conservative, minimal or derived (minimal)")
      .one_of({"conservative", "minimal", "derived"})
      .value_name("NAME")
      .group(run_group);
}

void add_plot_option(CommandLine& line, std::optional<std::filesystem::path>& file) {
  line.option("--plot", &file, "Draw a chart of the times, through gnuplot")
      .check(check_plot)
      .value_name("FILE.svg")
      .group(run_group);
}

void require_memory(std::size_t bytes) {
  std::ifstream meminfo("/proc/meminfo");
  std::string field;
  for (std::size_t kibibytes = 0; meminfo >> field; meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (field != "MemAvailable:" || !(meminfo >> kibibytes)) continue;
    if (bytes / 1024 < kibibytes) return;
    throw std::runtime_error("this size takes " + std::to_string(bytes >> 20U) + " MiB of memory, and " +
                             std::to_string(kibibytes >> 10U) + " MiB are free");
  }
}

std::size_t checked_product(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw std::runtime_error("this size is beyond any memory: " + std::to_string(a) + " times " + std::to_string(b));
  }
  return product;
}
