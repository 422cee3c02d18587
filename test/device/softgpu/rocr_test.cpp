// ROCr's unmodified runtime on the soft GPU: agents, queues, kernels, packets, scratch, profiling.
#include <chrono>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "loaded_rocr.hpp"
#include "rocr.hpp"

namespace softgpu_test {
namespace {

TEST(SoftGpu, ReportsAGfx90aAgent) {
  const Rocr rocr;
  char name[64] = {};
  char isa[64] = {};
  std::uint32_t wavefront = 0;
  std::uint32_t compute_units = 0;
  const auto get = ROCR(hsa_agent_get_info);
  get(rocr.gpus[0], HSA_AGENT_INFO_NAME, name);
  get(rocr.gpus[0], HSA_AGENT_INFO_WAVEFRONT_SIZE, &wavefront);
  get(rocr.gpus[0], static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), &compute_units);
  get(rocr.gpus[0], static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_PRODUCT_NAME), isa);
  EXPECT_STREQ(name, "gfx90a");
  EXPECT_STREQ(isa, "fastdispatch soft GPU");
  EXPECT_EQ(wavefront, 64U);
  EXPECT_EQ(compute_units, 104U);
}

// Attributes that ROCr 5.2 does not know, by the numbers of ROCr 6's header.
constexpr auto memory_available = static_cast<hsa_agent_info_t>(0xA015);
constexpr auto timestamp_frequency = static_cast<hsa_agent_info_t>(0xA016);

bool is_known(const Rocr& rocr, hsa_agent_info_t attribute) {
  std::uint64_t value = 0;
  return ROCR(hsa_agent_get_info)(rocr.gpus[0], attribute, &value) == HSA_STATUS_SUCCESS;
}

TEST(SoftGpu, TellsHowMuchMemoryIsLeft) {
  const Rocr rocr;
  if (!is_known(rocr, memory_available)) GTEST_SKIP() << "this ROCr does not ask";
  const auto left = [&] {
    std::uint64_t bytes = 0;
    CHECKED(hsa_agent_get_info, rocr.gpus[0], memory_available, &bytes);
    return bytes;
  };
  constexpr std::size_t block = std::size_t{256} << 20;  // more than ROCr keeps for small allocations
  const std::uint64_t before = left();
  const Buffer<std::byte> buffer(rocr, rocr.device, block);
  EXPECT_EQ(left(), before - block);
}

/// A kernel reads a counter: as much passes between two of its runs as on the host's clock.
void expect_rate(const Rocr& rocr, const char* kernel, double frequency) {
  const Kernels kernels(rocr);
  const Buffer<std::uint64_t> counter(rocr, rocr.device, 1);
  Queue queue(rocr);
  const auto read = [&] {
    const Signal done;
    queue.dispatch(kernels[kernel], {argument(counter.data())}, {.completion = &done});
    EXPECT_TRUE(done.completes());
    return counter[0];
  };
  read();  // translates the kernel
  const auto host_begin = std::chrono::steady_clock::now();
  const std::uint64_t begin = read();
  const auto host_inner = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto host_inner_end = std::chrono::steady_clock::now();
  const std::uint64_t end = read();
  const auto host_end = std::chrono::steady_clock::now();
  const std::chrono::duration<double> counted(static_cast<double>(end - begin) / frequency);
  const std::chrono::duration<double> tick(1 / frequency);
  EXPECT_GE(counted + tick, host_inner_end - host_inner);
  EXPECT_LE(counted - tick, host_end - host_begin);
}

TEST(SoftGpu, TellsTheFrequencyOfItsRealTimeCounter) {
  const Rocr rocr;
  if (!is_known(rocr, timestamp_frequency)) GTEST_SKIP() << "this ROCr does not ask";
  std::uint64_t frequency = 0;
  CHECKED(hsa_agent_get_info, rocr.gpus[0], timestamp_frequency, &frequency);
  expect_rate(rocr, "read_real_time", static_cast<double>(frequency));
}

TEST(SoftGpu, TellsTheFrequencyOfItsShaderClock) {
  const Rocr rocr;
  std::uint32_t megahertz = 0;
  CHECKED(hsa_agent_get_info, rocr.gpus[0], static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY),
          &megahertz);
  expect_rate(rocr, "read_shader_clock", 1e6 * megahertz);
}

TEST(SoftGpu, IsInitializedAndShutDownRepeatedly) {
  open_rocr();
  if (!fastdispatch::test::rocr_has_thunk_beside_it()) GTEST_SKIP() << "this ROCr starts once";
  for (int i = 0; i != 3; ++i) {
    const Rocr rocr;
    const Kernels kernels(rocr);
    const Buffer<unsigned> counter(rocr, rocr.device, 1);
    counter[0] = 0;
    Queue queue(rocr);
    const Signal done;
    queue.dispatch(kernels["count"], {argument(counter.data())}, {.groups = 10, .completion = &done});
    ASSERT_TRUE(done.completes());
    EXPECT_EQ(counter[0], 10U);
  }
}

class RocrTest : public ::testing::Test {
protected:
  Rocr rocr;
  Kernels kernels{rocr};
};

TEST_F(RocrTest, AKernelComputes) {
  constexpr unsigned n = 1000;
  const Buffer<unsigned> in(rocr, rocr.system, n);
  const Buffer<unsigned> out(rocr, rocr.device, n);
  std::iota(in.data(), in.data() + n, 0U);
  Queue queue(rocr);
  for (const hsa_wait_state_t how : {HSA_WAIT_STATE_ACTIVE, HSA_WAIT_STATE_BLOCKED}) {
    const Signal done;
    std::fill_n(out.data(), n, 0U);
    queue.dispatch(kernels["square"], {argument(in.data()), argument(out.data()), n},
                   {.groups = 16, .completion = &done});
    ASSERT_TRUE(done.completes(how));
    for (unsigned i = 0; i != n; ++i) ASSERT_EQ(out[i], i * i);
  }
}

TEST_F(RocrTest, ThousandsOfDispatchesOnOneQueueAllRun) {
  constexpr unsigned dispatches = 5000;
  const Buffer<unsigned> counter(rocr, rocr.device, 1);
  counter[0] = 0;
  Queue queue(rocr, 64);
  const Signal left(dispatches);
  for (unsigned i = 0; i != dispatches; ++i)
    queue.dispatch(kernels["count"], {argument(counter.data())},
                   {.groups = 3, .flags = i % 3 == 0 ? barrier_bit : std::uint16_t{0}, .completion = &left});
  ASSERT_TRUE(left.completes());
  EXPECT_EQ(counter[0], 3 * dispatches);
}

TEST_F(RocrTest, KernelsWithoutBarrierBitsOverlap) {
  const Buffer<unsigned> flag(rocr, rocr.system, 1);
  flag[0] = 0;
  Queue queue(rocr);
  const Signal waiter;
  const Signal setter;
  queue.dispatch(kernels["wait_for"], {argument(flag.data())}, {.completion = &waiter});
  queue.dispatch(kernels["set"], {argument(flag.data())}, {.completion = &setter});
  EXPECT_TRUE(setter.completes());
  EXPECT_TRUE(waiter.completes());
}

TEST_F(RocrTest, BarrierPacketsConnectQueues) {
  const Buffer<unsigned> counter(rocr, rocr.device, 1);
  counter[0] = 0;
  Queue first(rocr);
  Queue second(rocr);
  const Signal go;
  const Signal middle;
  const Signal done;
  second.barrier(HSA_PACKET_TYPE_BARRIER_AND, {&middle}, done);
  first.barrier(HSA_PACKET_TYPE_BARRIER_OR, {&go}, middle);
  EXPECT_EQ(done.load(), 1);
  go.store(0);
  EXPECT_TRUE(done.completes());
}

TEST_F(RocrTest, ScratchMemoryIsProvidedOnDemand) {
  constexpr unsigned lanes = 4 * 64;
  const Buffer<unsigned> in(rocr, rocr.system, lanes * 256);
  const Buffer<unsigned> out(rocr, rocr.system, lanes * 256);
  for (unsigned i = 0; i != in.size(); ++i) in[i] = 255 - i % 256;
  ASSERT_GE(kernels["reverse_privately"].private_bytes, 1024U);
  Queue queue(rocr);
  for (int round = 0; round != 3; ++round) {
    std::fill_n(out.data(), out.size(), 0U);
    const Signal done;
    queue.dispatch(kernels["reverse_privately"], {argument(in.data()), argument(out.data())},
                   {.groups = 4, .completion = &done});
    ASSERT_TRUE(done.completes());
    for (unsigned i = 0; i != out.size(); ++i) ASSERT_EQ(out[i], 255 - i % 256);
  }
  EXPECT_GE(queue.amd().scratch_wave64_lane_byte_size, 1024U);
}

TEST_F(RocrTest, ProfilingTimesLieWithinTheHostsOwn) {
  const Buffer<unsigned> counter(rocr, rocr.device, 1);
  Queue queue(rocr);
  CHECKED(hsa_amd_profiling_set_profiler_enabled, queue.get(), 1);
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  CHECKED(hsa_system_get_info, HSA_SYSTEM_INFO_TIMESTAMP, &before);
  const Signal done;
  queue.dispatch(kernels["count"], {argument(counter.data())}, {.groups = 100, .completion = &done});
  ASSERT_TRUE(done.completes());
  CHECKED(hsa_system_get_info, HSA_SYSTEM_INFO_TIMESTAMP, &after);
  hsa_amd_profiling_dispatch_time_t time{};
  CHECKED(hsa_amd_profiling_get_dispatch_time, rocr.gpus[0], done.get(), &time);
  EXPECT_LE(before, time.start);
  EXPECT_LT(time.start, time.end);
  EXPECT_LE(time.end, after);
}

TEST_F(RocrTest, ABusyQueueIsDestroyed) {
  const Buffer<unsigned> flag(rocr, rocr.system, 1);
  flag[0] = 0;
  const Signal done;
  {
    Queue queue(rocr);
    queue.dispatch(kernels["wait_for"], {argument(flag.data())}, {.completion = &done});
    EXPECT_TRUE(eventually([&] { return ROCR(hsa_queue_load_read_index_scacquire)(queue.get()) == 1; }));
    __atomic_store_n(flag.data(), 1U, __ATOMIC_RELEASE);
  }
  SUCCEED();
}

TEST_F(RocrTest, DeviceMemoryRunsOut) {
  std::size_t size = 0;
  CHECKED(hsa_amd_memory_pool_get_info, rocr.device, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
  void* most = nullptr;
  void* more = nullptr;
  CHECKED(hsa_amd_memory_pool_allocate, rocr.device, size / 4 * 3, 0U, &most);
  EXPECT_EQ(ROCR(hsa_amd_memory_pool_allocate)(rocr.device, size / 2, 0U, &more), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  CHECKED(hsa_amd_memory_pool_free, most);
  CHECKED(hsa_amd_memory_pool_allocate, rocr.device, size / 2, 0U, &more);
  CHECKED(hsa_amd_memory_pool_free, more);
}

/// ROCr of 6.2 and later asks for it where the driver's interface is of version 1.16; earlier ones know no such flag.
TEST_F(RocrTest, ContiguousMemoryIsThere) {
  constexpr std::uint32_t contiguous = 1U << 1;  // HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG
  void* memory = nullptr;
  const hsa_status_t status =
      ROCR(hsa_amd_memory_pool_allocate)(rocr.device, std::size_t{1} << 20, contiguous, &memory);
  if (status == HSA_STATUS_ERROR_INVALID_ARGUMENT) GTEST_SKIP() << "this ROCr does not know it";
  ASSERT_EQ(status, HSA_STATUS_SUCCESS);
  CHECKED(hsa_amd_memory_pool_free, memory);
}

}  // namespace
}  // namespace softgpu_test
