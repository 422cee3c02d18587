// fastdispatch-run: one kernel of any code object, on buffers that the command line describes.
#include "argument.hpp"
#include "describe_kernels.hpp"
#include "kernel_run.hpp"
#include "npy_file.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "run_program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <list>
#include <ostream>
#include <random>
#include <stdexcept>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <fastdispatch/error.hpp>
#include <fastdispatch/module.hpp>
#include <fastdispatch/runtime.hpp>

namespace fd = fastdispatch;

namespace {

std::vector<Argument> make_arguments(const RunOptions& options) {
  std::mt19937_64 generator(options.seed);
  std::vector<Argument> arguments;
  for (const ArgumentText& text : options.arguments) {
    try {
      arguments.push_back(make_argument(text, generator));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("argument {}{}: {}", arguments.size() + 1,
                                           text.name.empty() ? "" : fmt::format(" ({})", text.name), error.what()));
    }
  }
  return arguments;
}

fd::DynamicKernel kernel_for(const fd::Module& module, const std::string& name,
                             const std::vector<Argument>& arguments) {
  std::vector<fd::ParameterType> signature;
  signature.reserve(arguments.size());
  for (const Argument& argument : arguments) signature.push_back(argument.parameter_type());
  const std::string mangled_name = module.describe(name).mangled_name;  // throws for an unknown name
  try {
    return module.kernel(mangled_name, signature);
  } catch (const fd::Error& error) {
    throw std::runtime_error(fmt::format("{} (the signature is what the --arg say; --list lists what the code object "
                                         "has)",
                                         error.what()));
  }
}

std::string in_microseconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.2f} us", std::chrono::duration<double, std::micro>(time).count());
}

void print_times(std::ostream& stream, std::vector<std::chrono::nanoseconds> times) {
  std::ranges::sort(times);
  const auto median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
  stream << "device time: " << in_microseconds(median);
  if (times.size() > 1) stream << " median, " << in_microseconds(times.front()) << " fastest of " << times.size();
  stream << "\n";
}

void print_arrays(std::ostream& stream, const std::vector<Argument>& arguments, std::uint32_t elements) {
  for (std::size_t i = 0; i < arguments.size() && elements > 0; ++i) {
    const Argument& argument = arguments[i];
    if (argument.kind != ArgumentText::Kind::array) continue;
    stream << fmt::format("argument {}{}, {}: {}\n", i + 1, argument.name.empty() ? "" : " " + argument.name,
                          text_of_type(argument.array), text_of_elements(argument.array, elements));
  }
}

void save(const std::string& name, const std::vector<Argument>& arguments, OutputFile& file) {
  const auto argument = std::ranges::find_if(
      arguments, [&](const Argument& each) { return each.name == name && each.kind == ArgumentText::Kind::array; });
  file.write(npy_of(argument->array));
  file.commit();
}

int run(const RunOptions& options) {
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.device);
  const fd::Module module = fd::Module::load(gpu, options.file);
  if (options.lists_kernels) {
    print_document(describe_kernels(module), false);
    return EXIT_SUCCESS;
  }
  std::vector<Argument> arguments = make_arguments(options);
  const fd::DynamicKernel kernel = kernel_for(module, options.kernel, arguments);
  std::list<OutputFile> files;  // opened before the work, and they do not move
  for (const Saved& saved : options.saved) files.emplace_back(saved.file);

  const bool is_repeated = options.repeat > 0;
  std::vector<std::chrono::nanoseconds> times = run_kernel(gpu, kernel, options.grid, arguments, options.repeat + 1);
  if (is_repeated) times.erase(times.begin());  // it loaded the kernel and touched the memory

  const bool is_taken = std::ranges::any_of(files, &OutputFile::is_standard_output);  // standard output, by a file
  std::ostream& stream = is_taken ? std::cerr : std::cout;
  stream << fmt::format("{} on {}{}: {} work-items in groups of {}\n", kernel.name(), gpu.name(),
                        runtime.on_softgpu() ? " (soft GPU)" : "", fmt::join(options.grid.size, " x "),
                        fmt::join(options.grid.group_size, " x "));
  print_times(stream, std::move(times));
  print_arrays(stream, arguments, options.printed_elements);
  auto file = files.begin();
  for (const Saved& saved : options.saved) save(saved.name, arguments, *file++);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const RunOptions options = parse_options(argc, argv);
  return run_program("fastdispatch-run", [&] { return run(options); });
}
