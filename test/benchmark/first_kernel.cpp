// A process that runs one kernel twice, and times each part. Run by `benchmarks softgpu`. Prints one JSON object of
// microseconds.
#include "peer_problems.hpp"
#include "samples.hpp"
#include "standard_output.hpp"

#include <bitonic_sort_code_object.hpp>
#include <fastdispatch/fastdispatch.hpp>
#include <matmul_code_object.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace fd = fastdispatch;

namespace {

struct Shape {
  std::uint32_t rows, columns, inner;
};

/// One pass of the sort: of each two neighbours the smaller one comes first.
class SortPass {
public:
  explicit SortPass(fd::Agent gpu)
      : module_(fd::Module::load(gpu, code_objects::bitonic_sort(), "bitonic_sort")),
        numbers_(gpu, 2 * peer_problems::first_pairs) {}

  void dispatch(fd::Queue& queue) {
    for (std::uint32_t i = 0; i < numbers_.size(); ++i) numbers_[i] = i * 2654435761U;
    const auto kernel =
        module_.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("bitonic_pass");
    queue.dispatch(kernel, fd::grid(peer_problems::first_pairs).group(64), numbers_, 0U, 0U, 1U).wait();
    for (std::uint32_t i = 0; i < numbers_.size(); ++i) {
      const std::uint32_t one = (i & ~1U) * 2654435761U;
      const std::uint32_t other = (i | 1U) * 2654435761U;
      const bool ascending = (i & 2) == 0;
      if (numbers_[i] != (((i & 1) == 0) == ascending ? std::min(one, other) : std::max(one, other)))
        throw std::runtime_error("a pass went wrong");
    }
  }

private:
  fd::Module module_;
  fd::PinnedBuffer<std::uint32_t> numbers_;
};

/// The largest kernel among the examples: a product in register blocks, of matrices of ones.
class Product {
public:
  explicit Product(fd::Agent gpu)
      : module_(fd::Module::load(gpu, code_objects::matmul(), "matmul")), a_(gpu, size * size), b_(gpu, size * size),
        c_(gpu, size * size) {
    for (std::size_t i = 0; i < size * size; ++i) a_[i] = b_[i] = 1;
  }

  void dispatch(fd::Queue& queue) {
    const auto kernel = module_.kernel<void(float*, const float*, const float*, Shape)>("matmul_blocks");
    queue.dispatch(kernel, fd::grid(16, 16).group(16, 16), c_, a_, b_, Shape{size, size, size}).wait();
    for (std::size_t i = 0; i < size * size; ++i)
      if (c_[i] != size) throw std::runtime_error("a product went wrong");
  }

private:
  static constexpr std::uint32_t size = 64;

  fd::Module module_;
  fd::PinnedBuffer<float> a_, b_, c_;
};

template <class Work>
nlohmann::ordered_json times_of() {
  nlohmann::ordered_json times;
  Stopwatch stopwatch;
  const auto lap = [&](const char* name) {
    times[name] = stopwatch.microseconds();
    stopwatch = {};
  };
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  lap("runtime");
  fd::Queue queue(gpu);
  lap("queue");
  Work work(gpu);
  lap("module");
  work.dispatch(queue);
  lap("first");
  // The shortest of several: the time of the kernel itself, which is a part of the first dispatch's time.
  double again = times.at("first").get<double>();
  for (int i = 0; i < 5; ++i) {
    stopwatch = {};
    work.dispatch(queue);
    again = std::min(again, stopwatch.microseconds());
  }
  times["again"] = again;
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_output("first_kernel");
  try {
    const std::string_view what = argc == 2 ? argv[1] : "";
    if (what != "pass" && what != "product") {
      std::cerr << "usage: first_kernel pass|product\n";
      return 2;
    }
    std::cout << (what == "pass" ? times_of<SortPass>() : times_of<Product>()).dump() << std::endl;
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "first_kernel: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
