// Litmus tests of the GPU's memory model on the soft GPU. Prints a line a test with the outcomes that were seen; exits
// with 1 where one of them is forbidden.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "engine_environment.hpp"
#include "experiment.hpp"
#include "lane_pattern.hpp"
#include "plan.hpp"
#include "standard_output.hpp"
#include "tested_target.hpp"

namespace {

using namespace softgpu;          // NOLINT(google-build-using-namespace): a program, not a header
using namespace softgpu::litmus;  // NOLINT(google-build-using-namespace)

/// Fewer do not promise that the threads were seen to overlap.
constexpr std::uint64_t rounds_to_overlap = 20'000;
constexpr std::uint64_t brief_rounds = 512;  // of a wavefront, a line

struct Options {
  std::uint64_t rounds = 0;  // of all lines together; 0: a brief run
  std::string filter;
  bool lists = false;
  bool is_whole = false;
  bool injects_disorder = false;  // to see that it shows
};

struct Totals {
  std::uint64_t rounds = 0;
  std::uint64_t forbidden = 0;
  unsigned lines = 0;
  unsigned lines_with_forbidden = 0;
  unsigned tests_without_overlap = 0;
};

std::string name_of_line(const Setup& setup, LanePattern pattern) {
  std::ostringstream text;
  text << std::left << std::setw(19) << setup.test->name << std::setw(12) << name_of(setup.memory) << std::setw(8)
       << name_of(setup.element) << std::setw(12) << name_of(pattern) << std::setw(11) << name_of(setup.scope)
       << std::setw(11) << name_of(setup.side);
  return text.str();
}

std::vector<LanePattern> wanted_patterns(const Setup& setup, const Options& options) {
  const std::regex filter(options.filter);
  std::vector<LanePattern> wanted;
  for (const LanePattern pattern : all_lane_patterns) {
    if (pattern == LanePattern::uniform && setup.test->needs_own_variables) continue;
    if (std::regex_search(name_of_line(setup, pattern), filter)) wanted.push_back(pattern);
  }
  return wanted;
}

void print_heading() {
  std::cout << "test               memory      bytes   lanes       scope      other side     rounds  forbidden  "
               "outcomes seen\n";
}

void report(const Setup& setup, LanePattern pattern, const Tally& tally, Totals& totals) {
  const std::uint64_t forbidden = forbidden_count(setup, tally);
  std::cout << name_of_line(setup, pattern) << std::right << std::setw(11) << tally.rounds << std::setw(11) << forbidden
            << "  " << outcomes_text(setup, tally) << std::endl;
  totals.rounds += tally.rounds;
  totals.forbidden += forbidden;
  ++totals.lines;
  if (forbidden != 0) ++totals.lines_with_forbidden;
}

/// Threads that never overlap prove nothing.
void check_overlap(const Setup& setup, const Tally& tally, Totals& totals) {
  if (setup.side == Side::lane || tally.rounds < rounds_to_overlap || interleavings(tally) > 1) return;
  std::cout << "  the threads of these lines were not seen to overlap\n";
  ++totals.tests_without_overlap;
}

/// The lines that the filter leaves, and how many lanes work on them.
struct Wanted {
  std::vector<Setup> setups;
  std::uint64_t lanes = 0;
};

Wanted wanted_lines(const Options& options) {
  Wanted wanted{plan(options.rounds == 0 && !options.is_whole ? Extent::brief : Extent::whole)};
  std::erase_if(wanted.setups, [&](const Setup& setup) {
    const std::vector<LanePattern> patterns = wanted_patterns(setup, options);
    for (const LanePattern pattern : patterns) {
      const std::uint64_t mask = execution_mask(pattern, isa::tested_target().wavefront_size);
      wanted.lanes += setup.element.variables() * static_cast<unsigned>(std::popcount(mask));
    }
    return patterns.empty();
  });
  if (wanted.setups.empty()) throw std::runtime_error("--filter: no test is called that; --list says which there are");
  return wanted;
}

void list(const Options& options) {
  for (const Setup& setup : wanted_lines(options).setups)
    for (const LanePattern pattern : wanted_patterns(setup, options)) std::cout << name_of_line(setup, pattern) << "\n";
}

/// All patterns of lanes of a setup.
void run(compute::Engine& engine, const Setup& setup, std::uint64_t rounds, const Options& options, Totals& totals) {
  LitmusTest test = *setup.test;
  if (options.injects_disorder) std::ranges::reverse(test.threads.front());
  Setup changed = setup;
  changed.test = &test;
  Experiment experiment(engine, changed);
  Tally of_all_patterns;
  for (const LanePattern pattern : wanted_patterns(setup, options)) {
    const Tally tally = experiment.run(pattern, rounds);
    report(setup, pattern, tally, totals);
    of_all_patterns += tally;
  }
  if (options.rounds != 0) check_overlap(setup, of_all_patterns, totals);
}

Totals run(const Options& options) {
  const Wanted wanted = wanted_lines(options);
  const std::uint64_t rounds = options.rounds == 0 ? brief_rounds : options.rounds / wanted.lanes + 1;
  compute::Engine engine(compute::engine_options_for(*isa::tested_target().architecture));
  Totals totals;
  print_heading();
  for (const Setup& setup : wanted.setups) run(engine, setup, rounds, options, totals);
  return totals;
}

int conclude(const Totals& totals, std::chrono::steady_clock::duration time) {
  std::cout << "\n"
            << totals.lines << " lines, " << totals.rounds << " rounds in "
            << std::chrono::duration_cast<std::chrono::milliseconds>(time).count() << " ms" << std::endl;
  if (totals.forbidden == 0 && totals.tests_without_overlap == 0) return 0;
  std::cerr << "litmus_tests: " << totals.forbidden << " forbidden outcomes in " << totals.lines_with_forbidden
            << " lines; in " << totals.tests_without_overlap << " tests the threads never overlapped\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  guard_standard_output("litmus_tests");
  Options options;
  CommandLine line(
      "Litmus tests of the memory model; FASTDISPATCH_ISA_TARGET names the GPU, SOFTGPU_CPU the host's CPU",
      "litmus_tests");
  line.option("--rounds", &options.rounds, "rounds of all tests together, each lane's counted; none: a brief run")
      .take_last();
  line.option("--filter", &options.filter, "only lines of the table in which this regular expression is found");
  line.flag("--whole", options.is_whole, "all tests even in a brief run");
  line.flag("--inject-disorder", options.injects_disorder, "each test's first thread in the wrong order");
  line.flag("--list", options.lists, "only say which tests there are");
  line.parse_or_exit(argc, argv);

  if (options.lists) {
    list(options);
    return 0;
  }
  const auto begin = std::chrono::steady_clock::now();
  const Totals totals = run(options);
  return conclude(totals, std::chrono::steady_clock::now() - begin);
} catch (const std::exception& error) {
  std::cerr << "litmus_tests: " << error.what() << "\n";
  return 2;
}
