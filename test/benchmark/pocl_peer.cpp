// The same work through OpenCL, to compare with: an empty kernel, and the bitonic sort in one launch a pass.
//
// A program of its own, run by `benchmarks`: PoCL loads an LLVM that need not be the soft GPU's. Prints one JSON
// object.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

constexpr const char* source = R"(
kernel void empty() {}

kernel void bitonic_pass(global uint* data, uint stage, uint step, uint ascending) {
  const uint item = get_global_id(0);
  const uint distance = 1u << step;
  const uint lower = ((item & ~(distance - 1)) << 1) | (item & (distance - 1));
  const uint upper = lower | distance;
  const uint smallest_first = ascending ^ ((lower >> (stage + 1)) & 1);
  const uint a = data[lower];
  const uint b = data[upper];
  data[lower] = smallest_first ? min(a, b) : max(a, b);
  data[upper] = smallest_first ? max(a, b) : min(a, b);
}
)";

constexpr cl_uint log2_length = 15;
constexpr std::size_t length = std::size_t{1} << log2_length;
constexpr std::size_t group = 256;

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

enum class Finish { after_each_launch, once };

class Peer {
public:
  Peer()
      : device_(cl::Device::getDefault()), context_(device_), program_(context_, source), queue_(context_, device_),
        data_(context_, CL_MEM_READ_WRITE, length * sizeof(cl_uint)), numbers_(length) {
    program_.build("-cl-std=CL1.2");
    empty_ = cl::Kernel(program_, "empty");
    bitonic_pass_ = cl::Kernel(program_, "bitonic_pass");
  }

  std::string name() const { return cl::Platform(device_.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>(); }

  double empty_round_trip() {
    const auto start = std::chrono::steady_clock::now();
    queue_.enqueueNDRangeKernel(empty_, {}, 64, 64);
    queue_.finish();
    return microseconds_since(start);
  }

  double empty_batched(int launches) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) queue_.enqueueNDRangeKernel(empty_, {}, 64, 64);
    queue_.finish();
    return microseconds_since(start) / launches;
  }

  double sort(Finish finish) {
    std::generate(numbers_.begin(), numbers_.end(), std::ref(random_));
    const auto start = std::chrono::steady_clock::now();
    queue_.enqueueWriteBuffer(data_, CL_FALSE, 0, length * sizeof(cl_uint), numbers_.data());
    bitonic_pass_.setArg(0, data_);
    bitonic_pass_.setArg(3, cl_uint{1});
    for (cl_uint stage = 0; stage < log2_length; ++stage) {
      bitonic_pass_.setArg(1, stage);
      for (cl_uint step = stage + 1; step-- > 0;) {
        bitonic_pass_.setArg(2, step);
        queue_.enqueueNDRangeKernel(bitonic_pass_, {}, length / 2, group);
        if (finish == Finish::after_each_launch) queue_.finish();
      }
    }
    queue_.enqueueReadBuffer(data_, CL_TRUE, 0, length * sizeof(cl_uint), numbers_.data());
    const double time = microseconds_since(start);
    if (!std::is_sorted(numbers_.begin(), numbers_.end())) throw std::runtime_error("the numbers are not sorted");
    return time;
  }

private:
  cl::Device device_;
  cl::Context context_;
  cl::Program program_;
  cl::CommandQueue queue_;
  cl::Buffer data_;
  cl::Kernel empty_;
  cl::Kernel bitonic_pass_;
  std::vector<cl_uint> numbers_;
  std::mt19937 random_;
};

template <class Measure>
double median_of(int repetitions, Measure measure) {
  measure();  // not counted: the first run compiles
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repetitions));
  for (int i = 0; i < repetitions; ++i) times.push_back(measure());
  return median(std::move(times));
}

}  // namespace

int main() {
  try {
    Peer peer;
    const nlohmann::ordered_json result = {
        {"platform", peer.name()},
        {"empty_round_trip", median_of(500, [&] { return peer.empty_round_trip(); })},
        {"empty_batched", median_of(5, [&] { return peer.empty_batched(2000); })},
        {"sort_finish_each", median_of(5, [&] { return peer.sort(Finish::after_each_launch); })},
        {"sort_batched", median_of(11, [&] { return peer.sort(Finish::once); })},
    };
    std::cout << result.dump() << "\n";
    return EXIT_SUCCESS;
  } catch (const cl::Error& error) {
    std::cerr << "pocl_peer: " << error.what() << ": OpenCL error " << error.err() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "pocl_peer: " << error.what() << "\n";
  }
  return EXIT_FAILURE;
}
