#include "program.hpp"

#include "plot.hpp"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>

namespace {

constexpr int usage_error = 2;
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

CLI::Option* add_common_options(CLI::App& app, CommonOptions& options) {
  app.set_help_flag("-h,--help", "Print this and end");
  CLI::Option* iterations =
      app.add_option("--iterations", options.iterations,
                     "How often each variant runs, for the median time (" + std::to_string(options.iterations) + ")")
          ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
          ->option_text("N")
          ->group(run_group);
  app.add_option("--device", options.device, "Which GPU, from 0 (0)")
      ->check(CLI::Range(0, 1023))
      ->option_text("N")
      ->group(run_group);
  app.add_option("--json", options.json, "Write the times to this file")->option_text("FILE")->group(run_group);
  return iterations;
}

CLI::Option* add_fences_option(CLI::App& app, fastdispatch::Fences& fences) {
  return app
      .add_option_function<std::string>(
          "--fences", [&fences](const std::string& name) { fences = fence_policies.at(name); },
          "How what is submitted at once is ordered: conservative, minimal or derived (minimal)")
      ->check(CLI::IsMember(fence_policies))
      ->option_text("NAME")
      ->group(run_group);
}

void add_plot_option(CLI::App& app, std::optional<std::filesystem::path>& file) {
  app.add_option("--plot", file, "Draw a chart of the times, through gnuplot")
      ->check(check_plot)
      ->option_text("FILE.svg")
      ->group(run_group);
}

void parse_or_exit(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    std::exit(EXIT_SUCCESS);
  } catch (const CLI::ParseError& error) {
    std::cerr << app.get_name() << ": " << error.what() << " (--help lists the options)\n";
    std::exit(usage_error);
  }
}

int run_program(const char* name, const std::function<int()>& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": there is not enough memory\n";
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
  }
  return EXIT_FAILURE;
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
