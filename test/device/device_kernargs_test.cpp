// Kernel arguments in the memory of the GPU, which the host writes.
#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

class DeviceKernargs : public Device {
protected:
  void SetUp() override {
    if (!gpu.properties().host_visible_memory) GTEST_SKIP() << "the host does not see the memory of this GPU";
    const bool is_over_xgmi = gpu.name() == "gfx90a" && gpu.properties().xgmi_to_host;
    if (!is_over_xgmi && !gpu.name().starts_with("gfx94")) GTEST_SKIP() << "not on " << gpu.name();
  }
  Queue device_queue(std::size_t bytes = std::size_t{1} << 20U) {
    return Queue(gpu, {.kernarg_bytes = bytes, .kernarg_memory = KernargMemory::device});
  }

  Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)> increment =
      module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  static constexpr std::uint32_t count = 64;
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(count));
};

TEST_F(DeviceKernargs, lie_in_memory_that_the_gpu_owns) {
  const KernargBlock block(gpu, 64, KernargMemory::device);
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  ASSERT_EQ(gpu.api().amd_pointer_info(block.bytes().data(), &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.agentOwner.handle, gpu.handle().handle);
}

TEST_F(DeviceKernargs, reach_every_dispatch_though_few_of_them_fit_at_once) {
  Queue own = device_queue(4096);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    own.dispatch(increment, grid(count), data, count, i);
    sum += i;
  }
  own.wait(limit);
  EXPECT_THAT(download(data), Each(sum));
}

TEST_F(DeviceKernargs, reach_a_dispatch_from_a_block_of_its_callers) {
  const KernargBlock block(gpu, increment.kernarg_size(), KernargMemory::device);
  for (std::uint32_t i = 1; i <= 10; ++i)
    queue.dispatch(increment, grid(count), {.kernargs = &block}, data, count, i).wait(limit);
  EXPECT_THAT(download(data), Each(55U));
}

TEST_F(DeviceKernargs, of_a_batch_serve_every_replay) {
  Queue own = device_queue();
  for (const Fences fences : {Fences::conservative, Fences::minimal, Fences::derived}) {
    copy(data, std::span<const std::uint32_t>(std::vector<std::uint32_t>(count)));
    Batch batch(gpu, {.fences = fences});
    for (std::uint32_t i = 1; i <= 20; ++i) batch.dispatch(increment, grid(count), data, count, i);
    for (int i = 0; i < 5; ++i) own.submit(batch);
    own.wait(limit);
    EXPECT_THAT(download(data), Each(5 * 210U));
  }
}

TEST_F(DeviceKernargs, that_are_parameters_are_those_of_their_submission) {
  Queue own = device_queue();
  Batch batch(gpu);
  const auto by = batch.parameter<std::uint32_t>("by");
  const auto size = batch.parameter<Grid>("size");
  batch.dispatch(increment, size, data, count, by);
  batch.dispatch(increment, grid(count), data, count, by);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    own.submit(batch, set(by, i), set(size, grid(count).group(1 + i % count)));
    sum += 2 * i;
  }
  own.wait(limit);
  EXPECT_THAT(download(data), Each(sum));
}

TEST_F(DeviceKernargs, of_several_producers_are_not_mixed_up) {
  Queue own = device_queue(8192);
  constexpr std::uint32_t producers = 4;
  std::vector<DeviceBuffer<std::uint32_t>> buffers;
  for (std::uint32_t i = 0; i < producers; ++i) buffers.push_back(upload(std::vector<std::uint32_t>(count)));
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < producers; ++i)
      threads.emplace_back([&, i] {
        for (std::uint32_t k = 0; k < 200; ++k) own.dispatch(increment, grid(count), buffers[i], count, i + 1);
      });
  }
  own.wait(limit);
  for (std::uint32_t i = 0; i < producers; ++i) EXPECT_THAT(download(buffers[i]), Each(200 * (i + 1)));
}

// ---- a GPU whose memory the host does not see

class WithoutLargeBar : public Device {
protected:
  void SetUp() override {
    const char* large_bar = std::getenv("SOFTGPU_LARGE_BAR");
    if (!runtime.on_softgpu() || large_bar == nullptr || std::string_view(large_bar) != "0")
      GTEST_SKIP() << "for a soft GPU with SOFTGPU_LARGE_BAR=0";
  }
};

TEST_F(WithoutLargeBar, kernel_arguments_in_device_memory_are_refused) {
  EXPECT_FALSE(gpu.properties().host_visible_memory);
  EXPECT_THAT(error_of([&] { Queue(gpu, {.kernarg_memory = KernargMemory::device}); }),
              AllOf(HasSubstr("gfx90a"), HasSubstr("the host does not see that memory"), HasSubstr("resizable BAR")));
}

TEST_F(WithoutLargeBar, everything_else_works) {
  const auto increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(100));
  queue.dispatch(increment, grid(100), data, 100, 3).wait(limit);
  EXPECT_THAT(download(data), Each(3U));
}

// ---- a GPU that the host reaches over PCI Express

class OverPciExpress : public Device {
protected:
  void SetUp() override {
    if (!gpu.properties().host_visible_memory || gpu.properties().xgmi_to_host || gpu.name() != "gfx90a")
      GTEST_SKIP() << "for gfx90a over PCI Express: a soft GPU with SOFTGPU_STRICT=1 and SOFTGPU_LARGE_BAR=1";
  }
};

TEST_F(OverPciExpress, kernel_arguments_in_device_memory_are_refused) {
  EXPECT_THAT(error_of([&] { KernargBlock(gpu, 64, KernargMemory::device); }),
              AllOf(HasSubstr("gfx90a"), HasSubstr("over PCI Express"), HasSubstr("KernargMemory::host")));
}

}  // namespace
}  // namespace fastdispatch::test
