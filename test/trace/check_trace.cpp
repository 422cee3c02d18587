// Checks a trace, see trace_check.hpp.
//
// check_trace sorts FILE KERNELS: besides, of bitonic_sort with the library's trace. Its kernels run in the order of
// their packets, and each sort has so many, and two copies, one before the kernels and one after them.
// check_trace softgpu FILE KERNEL COUNT: besides, of the soft GPU. It has so many kernels of that name, at least.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace_check.hpp"

using fastdispatch::test::CheckedTrace;
using fastdispatch::test::TraceSpan;

namespace {

void check_sorts(const CheckedTrace& trace, std::size_t kernels_a_sort) {
  check_submissions(trace);
  check_order_of_kernels(trace);
  const std::vector<TraceSpan> kernels = trace.of("kernel");
  std::vector<TraceSpan> copies = trace.of("copy");
  // The host has spans of its own for its calls.
  std::erase_if(copies, [](const TraceSpan& copy) { return !copy.name.starts_with("copy "); });
  if (kernels.empty() || kernels.size() % kernels_a_sort != 0)
    throw std::runtime_error(std::to_string(kernels.size()) + " kernels");
  if (copies.size() < 2 || copies.size() % 2 != 0) throw std::runtime_error(std::to_string(copies.size()) + " copies");
  std::ranges::sort(copies, {}, &TraceSpan::begin);
  for (std::size_t i = 0; i != copies.size(); i += 2) {
    const TraceSpan& there = copies[i];
    const TraceSpan& back = copies[i + 1];
    if (there.name != "copy host to device" || back.name != "copy device to host")
      throw std::runtime_error("copies " + there.name + ", " + back.name);
    const auto between = std::ranges::count_if(
        kernels, [&](const TraceSpan& kernel) { return there.end <= kernel.begin && kernel.end <= back.begin; });
    if (static_cast<std::size_t>(between) != kernels_a_sort)
      throw std::runtime_error(std::to_string(between) + " kernels between two copies");
  }
  for (const auto& [name, value] : trace.counters())
    if (value != 0) throw std::runtime_error(name + " is " + std::to_string(value) + " at the end");
  std::cout << kernels.size() << " kernels and " << copies.size() << " copies, in order\n";
}

void check_softgpu(const CheckedTrace& trace, const std::string& kernel, std::size_t count) {
  const std::vector<TraceSpan> kernels = trace.of("kernel");
  const auto found = std::ranges::count(kernels, kernel, &TraceSpan::name);
  std::cout << found << " kernels " << kernel << " of " << kernels.size() << " kernels and " << trace.of("copy").size()
            << " copies\n";
  if (static_cast<std::size_t>(found) < count) throw std::runtime_error("too few kernels " + kernel);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool sorts = arguments.size() == 3 && arguments[0] == "sorts";
  if (!sorts && !(arguments.size() == 4 && arguments[0] == "softgpu")) {
    std::cerr << "usage: check_trace sorts FILE KERNELS | check_trace softgpu FILE KERNEL COUNT\n";
    return 2;
  }
  try {
    const CheckedTrace trace(arguments[1]);
    if (sorts)
      check_sorts(trace, std::stoul(arguments[2]));
    else
      check_softgpu(trace, arguments[2], std::stoul(arguments[3]));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "check_trace: " << arguments[1] << ": " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
