// HIP and libfastdispatch in one process: one HSA runtime, each other's memory, and one another's order.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <hsa/amd_hsa_signal.h>

#include "fastdispatch/fastdispatch.hpp"

namespace fastdispatch::test {
namespace {

#define ASSERT_HIP(call) ASSERT_EQ((call), hipSuccess)

constexpr std::uint32_t count = 1U << 16U;
constexpr std::size_t bytes = count * sizeof(std::uint32_t);
constexpr WaitOptions limit{.timeout = std::chrono::minutes(10)};

/// A signal that HIP waits for and writes by the address of its value, HSA by its handle.
class SharedSignal {
public:
  explicit SharedSignal(std::int64_t initial) {
    EXPECT_EQ(hipExtMallocWithFlags(&value_, sizeof(std::int64_t), hipMallocSignalMemory), hipSuccess);
    __atomic_store_n(static_cast<std::int64_t*>(value_), initial, __ATOMIC_RELEASE);
  }
  ~SharedSignal() { static_cast<void>(hipFree(value_)); }
  SharedSignal(const SharedSignal&) = delete;
  SharedSignal& operator=(const SharedSignal&) = delete;

  [[nodiscard]] void* value() const { return value_; }
  [[nodiscard]] hsa_signal_t handle() const {
    return {reinterpret_cast<std::uint64_t>(value_) - offsetof(amd_signal_t, value)};
  }

private:
  void* value_ = nullptr;
};

class Interoperation : public ::testing::Test {
protected:
  using Increment = void(std::uint32_t*, std::uint32_t, std::uint32_t);

  void SetUp() override {
    ASSERT_HIP(hipModuleLoad(&hip_module, DEVICE_TEST_KERNELS));
    ASSERT_HIP(hipModuleGetFunction(&hip_increment, hip_module, "increment"));
    ASSERT_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  }
  void TearDown() override {
    ASSERT_HIP(hipStreamDestroy(stream));
    ASSERT_HIP(hipModuleUnload(hip_module));
  }

  /// Through HIP, in the stream.
  void increment_in_stream(std::uint32_t* values, std::uint32_t by) {
    std::uint32_t length = count;
    void* arguments[] = {&values, &length, &by};
    ASSERT_HIP(hipModuleLaunchKernel(hip_increment, count / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  }

  [[nodiscard]] static std::vector<std::uint32_t> numbers(std::uint32_t first) {
    std::vector<std::uint32_t> result(count);
    std::iota(result.begin(), result.end(), first);
    return result;
  }

  Runtime runtime;
  Agent gpu = runtime.gpu(0);
  Module module = Module::load(gpu, DEVICE_TEST_KERNELS);
  Kernel<Increment> increment = module.kernel<Increment>("increment");
  Queue queue{gpu};
  hipModule_t hip_module = nullptr;
  hipFunction_t hip_increment = nullptr;
  hipStream_t stream = nullptr;
};

TEST_F(Interoperation, a_batch_takes_memory_of_hip) {
  std::uint32_t* values = nullptr;
  std::uint32_t* pinned = nullptr;
  ASSERT_HIP(hipMalloc(reinterpret_cast<void**>(&values), bytes));
  ASSERT_HIP(hipHostMalloc(reinterpret_cast<void**>(&pinned), bytes, 0));
  ASSERT_HIP(hipMemcpy(values, numbers(0).data(), bytes, hipMemcpyHostToDevice));

  Batch batch(gpu);
  batch.dispatch(increment, grid(count), values, count, 3U);
  batch.copy(view_of(gpu, std::as_writable_bytes(std::span(pinned, count))), std::span(values, count));
  queue.submit(batch).wait(limit);
  EXPECT_EQ(std::vector<std::uint32_t>(pinned, pinned + count), numbers(3));

  std::vector<std::uint32_t> downloaded(count);
  ASSERT_HIP(hipMemcpy(downloaded.data(), values, bytes, hipMemcpyDeviceToHost));
  EXPECT_EQ(downloaded, numbers(3));
  ASSERT_HIP(hipHostFree(pinned));
  ASSERT_HIP(hipFree(values));
}

TEST_F(Interoperation, kernels_of_hip_take_memory_of_the_library) {
  DeviceBuffer<std::uint32_t> values(gpu, count);
  const std::vector<std::uint32_t> initial = numbers(0);
  copy(values, std::span(initial));
  increment_in_stream(values.data(), 5);
  ASSERT_HIP(hipStreamSynchronize(stream));
  std::vector<std::uint32_t> downloaded(count);
  copy(std::span(downloaded), values);
  EXPECT_EQ(downloaded, numbers(5));
}

TEST_F(Interoperation, a_batch_takes_its_turn_in_a_stream) {
  std::uint32_t* values = nullptr;
  ASSERT_HIP(hipMalloc(reinterpret_cast<void**>(&values), bytes));
  PinnedBuffer<std::uint32_t> result(gpu, count);
  Batch batch(gpu);
  batch.dispatch(increment, grid(count), values, count, 1U);
  batch.copy(result, std::span(values, count));

  for (std::uint32_t round = 0; round < 20; ++round) {
    const SharedSignal stream_arrived(1);
    const SharedSignal batch_done(1);
    // The queue's packets are submitted first, so that only the signals make them wait.
    queue.submit(encode(BarrierAnd{.signals = {stream_arrived.handle()}}));
    queue.submit(batch);
    queue.submit(encode(BarrierAnd{.completion_signal = batch_done.handle()}));

    ASSERT_HIP(hipMemsetD32Async(values, static_cast<int>(round), count, stream));
    increment_in_stream(values, 1000);
    ASSERT_HIP(hipStreamWriteValue64(stream, stream_arrived.value(), 0, 0));
    ASSERT_HIP(hipStreamWaitValue64(stream, batch_done.value(), 0, hipStreamWaitValueEq, ~std::uint64_t{0}));
    increment_in_stream(values, 10);
    ASSERT_HIP(hipStreamSynchronize(stream));

    std::vector<std::uint32_t> downloaded(count);
    ASSERT_HIP(hipMemcpy(downloaded.data(), values, bytes, hipMemcpyDeviceToHost));
    ASSERT_EQ(downloaded, std::vector<std::uint32_t>(count, round + 1011));
    ASSERT_EQ(std::vector<std::uint32_t>(result.begin(), result.end()),
              std::vector<std::uint32_t>(count, round + 1001));
    queue.wait(limit);
  }
  ASSERT_HIP(hipFree(values));
}

}  // namespace
}  // namespace fastdispatch::test
