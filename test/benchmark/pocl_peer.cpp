// The same work through OpenCL, to compare with: an empty kernel, and the bitonic sort in one launch a pass. With
// `kernels` a product in tiles, row sums and a scan, as kernels/matmul.hip, kernels/row_sum.hip and inclusive_scan.hip
// have them; with `first` no more than one pass of the sort.
//
// A program of its own, run by `benchmarks`: PoCL loads an LLVM that need not be the soft GPU's. Prints one JSON
// object.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include "peer_problems.hpp"
#include "standard_output.hpp"

#include <CL/opencl.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

// Memory that PoCL keeps to the end is not our leak. The sanitizer's library looks for the symbol.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() { return "detect_leaks=0"; }  // NOLINT

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

constexpr const char* kernels_source = R"(
float element(global const float* matrix, uint row, uint column, uint rows, uint columns) {
  return row < rows && column < columns ? matrix[(size_t)row * columns + column] : 0;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul_tiles_16(global float* c, global const float* a, global const float* b, uint rows, uint columns,
                     uint inner) {
  local float tile_a[16][20];
  local float tile_b[16][16];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint row = get_group_id(1) * 16 + y;
  const uint column = get_group_id(0) * 16 + x;
  float sum = 0;
  for (uint first = 0; first < inner; first += 16) {
    tile_a[y][x] = element(a, row, first + x, rows, inner);
    tile_b[y][x] = element(b, first + y, column, inner, columns);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && column < columns) c[(size_t)row * columns + column] = sum;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void group_a_row(global const float* matrix, global float* sums, uint rows, uint columns) {
  local float of_items[256];
  const uint item = get_local_id(0);
  for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
    global const float* const elements = matrix + (ulong)row * columns;
    float sum = 0;
    for (uint first = 0; first < columns; first += 256)
      if (first + item < columns) sum += elements[first + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    of_items[item] = sum;
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (item < half_size) of_items[item] += of_items[item + half_size];
    }
    if (item == 0) sums[row] = of_items[0];
  }
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan_blocks(global const float* numbers, global float* sums) {
  local float of_items[256];
  const uint item = get_local_id(0);
  float sum = numbers[get_group_id(0) * 256 + item];
  of_items[item] = sum;
  for (uint distance = 1; distance < 256; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= distance) sum += of_items[item - distance];
    barrier(CLK_LOCAL_MEM_FENCE);
    of_items[item] = sum;
  }
  sums[get_group_id(0) * 256 + item] = sum;
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

/// Kernels of the workloads, each timed from its launch until it has finished.
class Kernels {
public:
  Kernels()
      : device_(cl::Device::getDefault()), context_(device_), program_(context_, kernels_source),
        queue_(context_, device_) {
    program_.build("-cl-std=CL1.2");
  }

  double product() {
    using namespace peer_problems;
    auto a = product_a(), b = product_b();
    std::vector<float> c(a.size());
    const cl::Buffer a_buffer = buffer_of(a), b_buffer = buffer_of(b), c_buffer = buffer_of(c);
    cl::Kernel kernel(program_, "matmul_tiles_16");
    kernel.setArg(0, c_buffer);
    kernel.setArg(1, a_buffer);
    kernel.setArg(2, b_buffer);
    for (cl_uint i = 3; i < 6; ++i) kernel.setArg(i, cl_uint{product_size});
    const double time = run(kernel, {product_size, product_size}, {product_tile, product_tile});
    queue_.enqueueReadBuffer(c_buffer, CL_TRUE, 0, c.size() * sizeof(float), c.data());
    check_product(a, b, c);
    return time;
  }

  double row_sums() {
    using namespace peer_problems;
    auto matrix = sum_matrix();
    std::vector<float> sums(sum_rows);
    const cl::Buffer matrix_buffer = buffer_of(matrix), sums_buffer = buffer_of(sums);
    cl::Kernel kernel(program_, "group_a_row");
    kernel.setArg(0, matrix_buffer);
    kernel.setArg(1, sums_buffer);
    kernel.setArg(2, cl_uint{sum_rows});
    kernel.setArg(3, cl_uint{sum_columns});
    const double time = run(kernel, cl::NDRange(sum_rows * sum_group), cl::NDRange(sum_group));
    queue_.enqueueReadBuffer(sums_buffer, CL_TRUE, 0, sums.size() * sizeof(float), sums.data());
    check_sums(matrix, sums);
    return time;
  }

  double scan() {
    using namespace peer_problems;
    auto numbers = scan_numbers();
    std::vector<float> sums(numbers.size());
    const cl::Buffer numbers_buffer = buffer_of(numbers), sums_buffer = buffer_of(sums);
    cl::Kernel kernel(program_, "scan_blocks");
    kernel.setArg(0, numbers_buffer);
    kernel.setArg(1, sums_buffer);
    const double time = run(kernel, cl::NDRange(numbers.size()), cl::NDRange(scan_block));
    queue_.enqueueReadBuffer(sums_buffer, CL_TRUE, 0, sums.size() * sizeof(float), sums.data());
    check_scan(numbers, sums);
    return time;
  }

private:
  cl::Buffer buffer_of(std::vector<float>& values) {
    return {context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float), values.data()};
  }

  double run(const cl::Kernel& kernel, const cl::NDRange& grid, const cl::NDRange& local) {
    const auto launch = [&] {
      const auto start = std::chrono::steady_clock::now();
      queue_.enqueueNDRangeKernel(kernel, {}, grid, local);
      queue_.finish();
      return microseconds_since(start);
    };
    launch();  // not counted: compiles
    std::vector<double> times(5);
    std::generate(times.begin(), times.end(), launch);
    return median(std::move(times));
  }

  cl::Device device_;
  cl::Context context_;
  cl::Program program_;
  cl::CommandQueue queue_;
};

/// One pass of the sort over a few numbers, and no more.
void first_pass() {
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  cl::Program program(context, source);
  program.build("-cl-std=CL1.2");
  const cl::CommandQueue queue(context, device);
  std::vector<cl_uint> numbers(2 * peer_problems::first_pairs);
  for (cl_uint i = 0; i < numbers.size(); ++i) numbers[i] = i * 2654435761U;
  const cl::Buffer data(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, numbers.size() * sizeof(cl_uint),
                        numbers.data());
  cl::Kernel kernel(program, "bitonic_pass");
  kernel.setArg(0, data);
  kernel.setArg(1, cl_uint{0});
  kernel.setArg(2, cl_uint{0});
  kernel.setArg(3, cl_uint{1});
  queue.enqueueNDRangeKernel(kernel, {}, peer_problems::first_pairs, 64);
  queue.enqueueReadBuffer(data, CL_TRUE, 0, numbers.size() * sizeof(cl_uint), numbers.data());
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    if ((numbers[i] < numbers[i + 1]) != ((i & 2) == 0)) throw std::runtime_error("a pass went wrong");
}

template <class Measure>
double median_of(int repetitions, Measure measure) {
  measure();  // not counted: the first run compiles
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repetitions));
  for (int i = 0; i < repetitions; ++i) times.push_back(measure());
  return median(std::move(times));
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_output("pocl_peer");
  try {
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (what == "first") {
      first_pass();
      std::cout << "{}\n";
      return EXIT_SUCCESS;
    }
    if (what == "kernels") {
      Kernels kernels;
      const nlohmann::ordered_json times = {
          {"product", kernels.product()}, {"row_sums", kernels.row_sums()}, {"scan", kernels.scan()}};
      std::cout << times.dump() << "\n";
      return EXIT_SUCCESS;
    }
    if (!what.empty()) {
      std::cerr << "usage: pocl_peer [first|kernels]\n";
      return 2;
    }
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
