// Two GPUs of one runtime, whose queues wait for each other.
#include <algorithm>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t count = 1000;
using Increment = void(std::uint32_t*, std::uint32_t, std::uint32_t);

class SeveralGpus : public Device {
protected:
  void SetUp() override {
    if (runtime.gpus().size() < 2) GTEST_SKIP() << "for two GPUs, such as soft GPUs with SOFTGPU_GPUS=2";
  }
};

TEST_F(SeveralGpus, pass_on_what_the_other_computed) {
  const Agent other = runtime.gpu(1);
  const Module other_module = Module::load(other, DEVICE_TEST_KERNELS);
  Queue other_queue(other);
  DeviceBuffer<std::uint32_t> here = upload(numbers(count));
  DeviceBuffer<std::uint32_t> there(other, count);
  Batch increments(gpu);
  for (int i = 0; i < 100; ++i) increments.dispatch(module.kernel<Increment>("increment"), grid(count), here, count, 1);
  Batch takes_over(other);
  takes_over.copy(there, here);
  takes_over.dispatch(other_module.kernel<Increment>("increment"), grid(count), there, count, 5);
  for (int round = 0; round < 20; ++round) {
    copy(here, std::span<const std::uint32_t>(numbers(count, 7)));
    other_queue.start_after(queue.submit(increments));
    other_queue.submit(takes_over).wait(limit);
    ASSERT_EQ(download(there), numbers(count, 7 + 100 + 5)) << round;
  }
}

TEST_F(SeveralGpus, share_the_hosts_memory_and_copy_from_one_to_the_other) {
  const Agent other = runtime.gpu(1);
  const Module other_module = Module::load(other, DEVICE_TEST_KERNELS);
  const auto increment = other_module.kernel<Increment>("increment");
  Queue other_queue(other);
  PinnedBuffer<std::uint32_t> pinned(gpu, count);
  std::ranges::copy(numbers(count), pinned.begin());
  other_queue.dispatch(increment, grid(count), pinned, count, 3).wait(limit);
  EXPECT_TRUE(std::ranges::equal(pinned, numbers(count, 3)));
  DeviceBuffer<std::uint32_t> here = upload(numbers(count));
  DeviceBuffer<std::uint32_t> there(other, count);
  copy(there, here);
  other_queue.dispatch(increment, grid(count), there, count, 5).wait(limit);
  copy(here, there);
  EXPECT_EQ(download(here), numbers(count, 5));
}

// As an integrated GPU beside a discrete one, which the program has code for.
TEST_F(SeveralGpus, of_which_one_has_no_code_load_modules_for_the_others) {
  const Agent other = runtime.gpu(1);
  if (gpu.isa().find("gfx90a") == std::string::npos || other.isa().find("gfx90a") != std::string::npos)
    GTEST_SKIP() << "for a gfx90a and another GPU, not " << gpu.isa() << " and " << other.isa();
  const Module for_gfx90a = Module::load(gpu, DEVICE_TEST_KERNELS_V5);
  DeviceBuffer<std::uint32_t> data = upload(numbers(count));
  queue.dispatch(for_gfx90a.kernel<Increment>("increment"), grid(count), data, count, 2).wait(limit);
  EXPECT_EQ(download(data), numbers(count, 2));
  EXPECT_THAT(error_of([&] { static_cast<void>(Module::load(other, DEVICE_TEST_KERNELS_V5)); }),
              HasSubstr("no code object for this device, which is " + std::string(other.isa())));
  EXPECT_EQ(Module::load(other, DEVICE_TEST_KERNELS).target(), other.name());
}

TEST_F(SeveralGpus, take_no_kernels_of_each_other) {
  Queue other_queue(runtime.gpu(1));
  DeviceBuffer<std::uint32_t> data(gpu, count);
  EXPECT_THAT(
      error_of([&] { other_queue.dispatch(module.kernel<Increment>("increment"), grid(count), data, count, 1); }),
      HasSubstr("kernel increment is not loaded on the gfx"));
}

}  // namespace
}  // namespace fastdispatch::test
