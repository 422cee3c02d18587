#include "workload_suite.hpp"

#include "report.hpp"
#include "samples.hpp"
#include "temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Compares rows of an example's report: for each expression, the fastest correct row that matches.
struct Target {
  const char* text;
  const char* program;
  const char* arguments;
  const char* reference;
  const char* ours;
  double times_as_fast;
};

constexpr std::array targets = {
    Target{"row sums run at no less than half the rate of a loop on all cores of the host", "row_sum", "", "CPU, .*",
           "(?!CPU|plain read).*", 0.5},
    Target{"the product in tiles takes no longer than the untiled one", "matmul", "--size 1024", "untiled",
           "tiles of .*", 1},
    Target{"counting in LDS is at least 5 times as fast as in memory", "atomic_count", "", "atomics in memory",
           "(?!atomics in memory).*", 5},
    Target{"luma takes no more than twice the time of a loop on all cores of the host", "luminance", "", "CPU loop.*",
           "(?!CPU).*", 0.5},
    Target{"the blur takes no more than twice the time of a loop on all cores of the host", "blur", "", "CPU loop.*",
           "(?!CPU).*", 0.5},
};

nlohmann::json report_of(const Target& target, int iterations, const fs::path& folder) {
  const fs::path file = folder / (std::string(target.program) + ".json");
  const std::string command = std::string("'" EXAMPLES_FOLDER "/") + target.program + "' " + target.arguments +
                              " --iterations " + std::to_string(iterations) + " --json '" + file.string() + "' >'" +
                              (folder / "table").string() + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error(std::string(target.program) + " failed");
  return nlohmann::json::parse(std::ifstream(file));
}

struct Variant {
  std::string name;
  double microseconds = 0;
};

Variant fastest(const nlohmann::json& report, const char* names) {
  const std::regex expression(names);
  std::optional<Variant> found;
  for (const nlohmann::json& row : report.at("rows")) {
    if (!row.at("correct") || !row.contains("microseconds")) continue;
    const Variant variant = {row.at("name"), row.at("microseconds")};
    if (std::regex_match(variant.name, expression) && (!found || variant.microseconds < found->microseconds)) {
      found = variant;
    }
  }
  if (!found) throw std::runtime_error("no row of " + report.at("program").get<std::string>() + " matches " + names);
  return *found;
}

}  // namespace

void run_workload_suite(int rounds, const std::string& json) {
  JsonFile file(json);
  const TemporaryFolder folder;
  Samples samples;
  std::vector<Group> groups;
  std::string gpu;
  const auto add = [&samples, &groups](const std::string& program, const Variant& variant) {
    std::string series = program + ": " + variant.name;
    samples.add(series, variant.microseconds);
    groups.back().lines.push_back({variant.name, series});
    return series;
  };
  std::vector<double> times_as_fast;
  for (const Target& target : targets) {
    const nlohmann::json report = report_of(target, rounds, folder.path());
    gpu = report.at("gpu");
    groups.push_back(
        {.title = report.at("problem").get<std::string>() + ", us", .units_per_microsecond = 1, .lines = {}});
    const std::string reference = add(target.program, fastest(report, target.reference));
    const std::string ours = add(target.program, fastest(report, target.ours));
    times_as_fast.push_back(samples.median(reference) / samples.median(ours));
  }

  std::cout << "On " << gpu << "; medians of " << rounds << "\n";
  print(groups, samples);
  std::cout << "\nTargets\n";
  for (std::size_t i = 0; i < targets.size(); ++i)
    print_target(targets[i].text, times_as_fast[i], targets[i].times_as_fast);
  file.write(gpu, groups, samples);
}
