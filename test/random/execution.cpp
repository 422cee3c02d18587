#include "execution.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace random_programs {
namespace {

namespace fd = fastdispatch;

constexpr std::uint32_t work_items = 320;
constexpr std::uint64_t untouched = 0x0123456789abcdef;
constexpr std::array<std::uint64_t, 3> seeds = {1, 77, 0xdeadbeef};
constexpr std::array<std::uint32_t, 9> group_sizes = {256, 64, 1, 100, 32, 255, 7, 128, 33};
constexpr unsigned time_limit = 600;  // seconds a program, with its translation

/// Owns a shared library.
class HostProgram {
public:
  using Function = void (*)(std::uint64_t* out, std::uint64_t seed, std::uint32_t items);

  explicit HostProgram(const std::filesystem::path& file) : library_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
  }
  ~HostProgram() { ::dlclose(library_); }
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  [[nodiscard]] std::vector<std::uint64_t> results(unsigned kernel, std::uint64_t seed) const {
    const std::string name = "host_" + std::to_string(kernel);
    const auto function = reinterpret_cast<Function>(::dlsym(library_, name.c_str()));
    if (function == nullptr) throw std::runtime_error("the program has no " + name);
    std::vector<std::uint64_t> result(work_items);
    function(result.data(), seed, work_items);
    return result;
  }

private:
  void* library_;
};

class Executor {
public:
  void run(const Compiled& program, std::size_t index) {
    ::alarm(time_limit);
    std::cout << report::begin << " " << index << std::endl;
    const HostProgram host(program.host);
    const fd::Module module = fd::Module::load(gpu_, program.code_object);
    bool equal = true;
    for (unsigned kernel = 0; kernel != program.kernels; ++kernel) {
      try {
        equal = compare(module, host, kernel, index) && equal;
      } catch (const std::exception& error) {
        std::cout << report::refused << " " << kernel << " " << error.what() << std::endl;
        queue_.reset();
      }
    }
    if (!equal) write_expected(program, host);
  }

private:
  bool compare(const fd::Module& module, const HostProgram& host, unsigned kernel, std::size_t index) {
    const auto function = module.kernel<void(std::uint64_t*, std::uint64_t)>("kernel_" + std::to_string(kernel));
    for (std::size_t launch = 0; launch != seeds.size(); ++launch) {
      const std::uint64_t seed = seeds[launch];
      const std::uint32_t group_size = group_sizes[(index + 3 * kernel + launch) % group_sizes.size()];
      std::fill(results_.begin(), results_.end(), untouched);
      if (!queue_) queue_.emplace(gpu_);
      queue_->dispatch(function, fd::grid(work_items).group(group_size), results_, seed).wait();
      const std::string name = "seed " + std::to_string(seed) + ", groups of " + std::to_string(group_size);
      if (!same(host.results(kernel, seed), kernel, name)) return false;
    }
    std::cout << report::equal << " " << kernel << " " << seeds.size() << std::endl;
    return true;
  }

  bool same(const std::vector<std::uint64_t>& expected, unsigned kernel, const std::string& launch) {
    const auto [theirs, ours] = std::mismatch(expected.begin(), expected.end(), results_.begin());
    if (theirs == expected.end()) return true;
    std::size_t count = 0;
    for (std::uint32_t item = 0; item != work_items; ++item) count += expected[item] != results_[item] ? 1 : 0;
    std::cout << report::different << " " << kernel << " " << launch << ": " << count << " work-items, first "
              << theirs - expected.begin() << ": " << std::hex << *ours << " instead of " << *theirs << std::dec
              << std::endl;
    return false;
  }

  static void write_expected(const Compiled& program, const HostProgram& host) {
    std::ofstream file(program.expected, std::ios::binary);
    for (unsigned kernel = 0; kernel != program.kernels; ++kernel) {
      for (const std::uint64_t seed : seeds) {
        const std::vector<std::uint64_t> results = host.results(kernel, seed);
        file.write(reinterpret_cast<const char*>(results.data()), work_items * sizeof(std::uint64_t));
      }
    }
  }

  fd::Runtime runtime_;
  fd::Agent gpu_ = runtime_.gpu();
  fd::PinnedBuffer<std::uint64_t> results_{gpu_, work_items};
  std::optional<fd::Queue> queue_;  // none at first, and after an error
};

}  // namespace

void execute(const std::filesystem::path& list) {
  std::ifstream file(list);
  Executor executor;
  Compiled program;
  for (std::size_t index = 0; file >> program.kernels >> program.host >> program.code_object >> program.expected;
       ++index)
    executor.run(program, index);
}

}  // namespace random_programs
