#include "kernel_suite.hpp"

#include "kernels/problem.hpp"
#include "peer_process.hpp"
#include "report.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

using kernel_problems::Compiled;
using kernel_problems::NamedProblem;

std::string softgpu_series(const std::string& problem) { return problem + ": soft GPU"; }
std::string softgpu_first_series(const std::string& problem) { return problem + ": soft GPU, first"; }
std::string opencl_series(const std::string& problem) { return problem + ": opencl"; }
std::string opencl_first_series(const std::string& problem) { return problem + ": opencl, first"; }
std::string one_thread_series(const std::string& problem) { return problem + ": one thread"; }

/// The authors of a public emulator publish times of kernels like these on one thread (docs/soft_gpu.md).
struct OnOneThread {
  std::string problem;
  std::string architecture;
};

struct Measured {
  std::vector<NamedProblem> problems;
  std::vector<OnOneThread> on_one_thread;
};

Measured measured_with(const std::string& text) {
  const auto has_text = [&](const std::string& name) { return name.find(text) != std::string::npos; };
  Measured measured;
  for (const NamedProblem& problem : kernel_problems::all_problems())
    if (has_text(problem.name)) measured.problems.push_back(problem);
  for (const OnOneThread& kernel :
       {OnOneThread{"mix of whole numbers", "gfx90a"}, OnOneThread{kernel_problems::fp8_product().name, "gfx950"}})
    if (has_text(kernel.problem)) measured.on_one_thread.push_back(kernel);
  if (measured.problems.empty() && measured.on_one_thread.empty())
    throw std::runtime_error("no kernel's name has '" + text + "' in it");
  return measured;
}

nlohmann::json times_of(const std::string& setting, const char* program, const char* what, const std::string& problem) {
  const auto times = output_of(setting + " '" + program + "' " + what + " '" + problem + "'");
  if (!times) throw std::runtime_error(std::string(program) + " failed on '" + problem + "'");
  return *times;
}

std::string measure_softgpu(Samples& samples, const std::string& problem, const TemporaryFolder& folder) {
  // A first solution does not wait for optimized code; later ones have it.
  const auto first = times_of("SOFTGPU_OPTIMIZE=2 SOFTGPU_CACHE=off", SOFTGPU_KERNELS, "first", problem);
  const std::string cache = "SOFTGPU_OPTIMIZE=1 SOFTGPU_CACHE='" + (folder.path() / "softgpu").string() + "'";
  samples.add(softgpu_first_series(problem), first.at("first"));
  samples.add(softgpu_series(problem), times_of(cache, SOFTGPU_KERNELS, "again", problem).at("again"));
  return first.at("device");
}

/// A GPU that hipcc or the soft GPU's LLVM does not know is not measured: the process tells so.
void measure_on_one_thread(Samples& samples, const OnOneThread& kernel, const TemporaryFolder& folder) {
  const std::string setting = "SOFTGPU_THREADS=1 SOFTGPU_OPTIMIZE=1 SOFTGPU_ARCH=" + kernel.architecture +
                              " SOFTGPU_CACHE='" + (folder.path() / "softgpu").string() + "'";
  const auto times = output_of(setting + " '" SOFTGPU_KERNELS "' again '" + kernel.problem + "'");
  if (times) samples.add(one_thread_series(kernel.problem), times->at("again"));
}

void print_on_one_thread(const std::vector<OnOneThread>& kernels, const Samples& samples) {
  if (kernels.empty()) return;
  std::cout << "\n  on one thread, milliseconds\n";
  for (const auto& [problem, architecture] : kernels) {
    std::cout << "  " << std::left << std::setw(40) << problem + ", " + architecture << std::right << std::fixed;
    if (samples.has(one_thread_series(problem)))
      std::cout << std::setprecision(1) << std::setw(10) << samples.median(one_thread_series(problem)) / 1000 << "\n";
    else
      std::cout << "not measured\n";
  }
}

/// The platform's name; nothing where there is no OpenCL.
std::optional<std::string> measure_opencl(Samples& samples, const std::string& problem) {
#ifdef OPENCL_KERNELS
  // PoCL is asked for what the soft GPU is kept to.
  const char* cpu = std::getenv("SOFTGPU_CPU");
  const std::string limit =
      cpu != nullptr && std::string_view(cpu) == "avx2" ? "POCL_LLVM_CPU_NAME=haswell POCL_KERNELLIB_NAME=avx2 " : "";
  const TemporaryFolder folder;
  const std::string setting = limit + "POCL_CACHE_DIR='" + folder.path().string() + "'";
  const auto first = times_of(setting, OPENCL_KERNELS, "first", problem);
  samples.add(opencl_first_series(problem), first.at("first"));
  samples.add(opencl_series(problem), times_of(setting, OPENCL_KERNELS, "again", problem).at("again"));
  return first.at("device");
#else
  static_cast<void>(samples);
  static_cast<void>(problem);
  return std::nullopt;
#endif
}

double times_as_fast(const Samples& samples, const std::string& series, const std::string& reference) {
  return samples.median(reference) / samples.median(series);
}

class Mean {
public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  [[nodiscard]] double geometric() const { return std::exp(sum_ / count_); }

private:
  double sum_ = 0;
  int count_ = 0;
};

void print_table(const std::vector<NamedProblem>& problems, const Samples& samples) {
  std::cout << "\n  " << std::left << std::setw(40) << "microseconds; first solutions: milliseconds" << std::right
            << std::setw(10) << "soft GPU" << std::setw(10) << "OpenCL" << std::setw(8) << "" << std::setw(10)
            << "first" << std::setw(10) << "OpenCL"
            << "\n";
  for (const auto& [name, make, compiled] : problems) {
    std::cout << "  " << std::left << std::setw(40) << name << std::right << std::fixed;
    const auto print_pair = [&](const std::string& ours, const std::string& reference, double unit) {
      std::cout << std::setprecision(0) << std::setw(10) << samples.median(ours) * unit;
      if (samples.has(reference)) std::cout << std::setw(10) << samples.median(reference) * unit;
    };
    print_pair(softgpu_series(name), opencl_series(name), 1);
    if (samples.has(opencl_series(name)))
      std::cout << std::setprecision(2) << std::setw(7)
                << times_as_fast(samples, softgpu_series(name), opencl_series(name)) << "x";
    print_pair(softgpu_first_series(name), opencl_first_series(name), 0.001);
    std::cout << "\n";
  }
}

/// The same source's problem, optimized.
const NamedProblem* optimized(const std::vector<NamedProblem>& problems, const NamedProblem& problem) {
  const std::string source = problem.make().source;
  const auto found = std::find_if(problems.begin(), problems.end(), [&](const NamedProblem& other) {
    return other.compiled == Compiled::optimized && other.make().source == source;
  });
  return found == problems.end() ? nullptr : &*found;
}

void print_targets(const std::vector<NamedProblem>& problems, const Samples& samples) {
  std::cout << "\nTargets\n" << std::fixed;
  double longest_first = 0;
  for (const NamedProblem& problem : problems)
    longest_first = std::max(longest_first, samples.median(softgpu_first_series(problem.name)));
  print_target("no first solution takes longer than 300 ms", 300'000 / longest_first, 1);
  for (const NamedProblem& problem : problems) {
    const NamedProblem* fast = problem.compiled == Compiled::optimized ? nullptr : optimized(problems, problem);
    if (fast != nullptr)
      print_target(problem.name + ", takes at most 10 times the time of -O3's",
                   10 * times_as_fast(samples, softgpu_series(problem.name), softgpu_series(fast->name)), 1);
  }
  if (!samples.has(opencl_series(problems.front().name))) return;

  Mean again, first;
  const NamedProblem* slowest = &problems.front();
  const auto of = [&](const NamedProblem& problem) {
    return times_as_fast(samples, softgpu_series(problem.name), opencl_series(problem.name));
  };
  for (const NamedProblem& problem : problems) {
    again.add(of(problem));
    first.add(times_as_fast(samples, softgpu_first_series(problem.name), opencl_first_series(problem.name)));
    if (of(problem) < of(*slowest)) slowest = &problem;
  }
  print_target("kernels are 2.5 times as fast as OpenCL's, in the geometric mean", again.geometric(), 2.5);
  print_target("no kernel is slower than 0.9 times OpenCL's; the slowest is " + slowest->name, of(*slowest), 0.9);
  print_target("a first solution takes no longer than OpenCL's, in the geometric mean", first.geometric(), 1);
}

}  // namespace

void run_kernel_suite(int rounds, const std::string& only, const std::string& json) {
  JsonFile file(json);
  const auto [problems, on_one_thread] = measured_with(only);
  const TemporaryFolder folder;
  Samples samples;
  std::string gpu;
  std::optional<std::string> opencl;
  for (int round = 0; round < rounds; ++round) {
    for (const NamedProblem& problem : problems) {
      gpu = measure_softgpu(samples, problem.name, folder);
      opencl = measure_opencl(samples, problem.name);
    }
    for (const OnOneThread& kernel : on_one_thread) measure_on_one_thread(samples, kernel, folder);
  }
  if (!problems.empty()) {
    std::cout << "On " << gpu << " (soft GPU), beside " << opencl.value_or("no OpenCL") << "; medians of " << rounds
              << " rounds\n";
    print_table(problems, samples);
  }
  print_on_one_thread(on_one_thread, samples);
  if (!problems.empty()) print_targets(problems, samples);

  std::vector<Group> groups;
  for (const auto& [name, make, compiled] : problems)
    groups.push_back({name,
                      1,
                      {{"soft GPU", softgpu_series(name)},
                       {"OpenCL", opencl_series(name)},
                       {"soft GPU, first", softgpu_first_series(name)},
                       {"OpenCL, first", opencl_first_series(name)}}});
  for (const auto& [problem, architecture] : on_one_thread)
    groups.push_back({problem + ", " + architecture, 0.001, {{"one thread", one_thread_series(problem)}}});
  file.write(gpu, groups, samples);
}
