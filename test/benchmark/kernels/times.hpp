// A program's part that is the same for the soft GPU and for OpenCL: it solves one problem, and prints how long that
// took.
#pragma once

#include "problem.hpp"
#include "samples.hpp"
#include "standard_output.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace kernel_problems {

inline constexpr int repetitions = 9;

/// A `Device` is made of a problem. It has build(), which compiles; fill(), which gives the buffers what is in them
/// before; launch(), which waits until the last kernel has ended; buffers(), with what is in them; and name().
///
/// Microseconds: `first`, from the source or the code object to the first solution; `again`, the median of later
/// launches, unless `only_first`.
template <class Device>
nlohmann::ordered_json times_of(const NamedProblem& named, bool only_first) {
  const Problem problem = named.make();
  Device device(problem, named.compiled);
  nlohmann::ordered_json times = {{"device", device.name()}};
  device.fill();
  const Stopwatch first;
  device.build();
  device.launch();
  times["first"] = first.microseconds();
  problem.check(device.buffers());
  if (only_first) return times;
  Samples samples;
  for (int i = 0; i < repetitions; ++i) {
    device.fill();
    const Stopwatch stopwatch;
    device.launch();
    samples.add("again", stopwatch.microseconds());
  }
  problem.check(device.buffers());
  times["again"] = samples.median("again");
  return times;
}

/// PROGRAM first|again PROBLEM, or PROGRAM all, which solves each problem once, but those that are named.
template <class Device>
int print_times(int argc, char** argv, const char* program) {
  guard_standard_output(program);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool all = !arguments.empty() && arguments[0] == "all";
  if (!all && (arguments.size() != 2 || (arguments[0] != "first" && arguments[0] != "again"))) {
    std::cerr << "usage: " << program << " first|again PROBLEM\n       " << program << " all [PROBLEM]...\n";
    return 2;
  }
  int failed = 0;
  const auto print = [&](const NamedProblem& named, bool only_first) {
    try {
      const auto times = times_of<Device>(named, only_first);
      if (all) std::cout << named.name << ": ";
      std::cout << times.dump() << std::endl;
    } catch (const std::exception& error) {
      std::cerr << program << ": " << named.name << ": " << error.what() << "\n";
      ++failed;
    }
  };
  try {
    if (all) {
      std::set<std::string> left_out;
      for (std::size_t i = 1; i < arguments.size(); ++i) left_out.insert(problem(arguments[i]).name);
      for (const NamedProblem& named : all_problems())
        if (!left_out.contains(named.name)) print(named, true);
    } else {
      print(problem(arguments[1]), arguments[0] == "first");
    }
  } catch (const std::runtime_error& error) {
    std::cerr << program << ": " << error.what() << "\n";
    ++failed;
  }
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace kernel_problems
