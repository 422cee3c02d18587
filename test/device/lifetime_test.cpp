// Objects outlive the Runtime that they were made with: each keeps what it needs.
#include <memory>
#include <optional>
#include <utility>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using testing::HasSubstr;

constexpr WaitOptions limit{.timeout = std::chrono::minutes(25)};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Lifetime, of_a_queue_and_its_kernels_and_buffers_is_their_own) {
  auto runtime = std::make_unique<Runtime>();
  const Agent gpu = runtime->gpu();
  auto module = std::make_unique<Module>(Module::load(gpu, DEVICE_TEST_KERNELS));
  const auto count = module->kernel<void(std::uint32_t*)>("count");
  Queue queue(gpu);
  PinnedBuffer<std::uint32_t> counter(gpu, 1);
  counter[0] = 0;
  Batch batch(gpu);
  batch.dispatch(count, grid(256), counter);
  runtime.reset();
  module.reset();
  queue.submit(batch).wait(limit);
  queue.dispatch(count, grid(256), counter).wait(limit);
  EXPECT_EQ(counter[0], 512U);
  EXPECT_NO_THROW(DeviceBuffer<std::uint32_t>(gpu, 16)) << "the agent's runtime is open";
}

template <class Object>
void expect_to_keep_the_runtime_open(const char* name, Object (*make)(Agent)) {
  auto runtime = std::make_unique<Runtime>();
  const Agent gpu = runtime->gpu();
  {
    const Object object = make(gpu);
    runtime.reset();
    EXPECT_EQ(gpu.host().host(), gpu.host()) << name;
  }
  EXPECT_THAT(error_of([&] { static_cast<void>(gpu.name()); }), HasSubstr("runtime was closed")) << name;
}

TEST(Lifetime, of_the_runtime_lasts_as_long_as_any_object_needs_it) {
  expect_to_keep_the_runtime_open<Signal>("Signal", [](Agent gpu) { return Signal(gpu); });
  expect_to_keep_the_runtime_open<std::unique_ptr<SignalPool>>(
      "SignalPool", [](Agent gpu) { return std::make_unique<SignalPool>(gpu, 1); });
  expect_to_keep_the_runtime_open<PooledSignal>("PooledSignal", [](Agent gpu) { return SignalPool(gpu).acquire(); });
  expect_to_keep_the_runtime_open<DeviceBuffer<int>>("DeviceBuffer",
                                                     [](Agent gpu) { return DeviceBuffer<int>(gpu, 1); });
  expect_to_keep_the_runtime_open<PinnedBuffer<int>>("PinnedBuffer",
                                                     [](Agent gpu) { return PinnedBuffer<int>(gpu, 1); });
  expect_to_keep_the_runtime_open<KernargBlock>("KernargBlock", [](Agent gpu) { return KernargBlock(gpu, 64); });
  expect_to_keep_the_runtime_open<PinnedMemoryResource>("PinnedMemoryResource",
                                                        [](Agent gpu) { return PinnedMemoryResource(gpu); });
  expect_to_keep_the_runtime_open<Module>("Module", [](Agent gpu) { return Module::load(gpu, DEVICE_TEST_KERNELS); });
  expect_to_keep_the_runtime_open<Queue>("Queue", [](Agent gpu) { return Queue(gpu); });
  expect_to_keep_the_runtime_open<Streams>("Streams", [](Agent gpu) { return Streams(gpu); });
  static int locked = 0;
  expect_to_keep_the_runtime_open<Pin>("Pin", [](Agent gpu) { return Pin(gpu, std::span(&locked, 1)); });
}

TEST(Lifetime, of_an_agents_own_copies_and_callbacks_ends_with_the_runtime) {
  std::optional<Agent> gpu;
  {
    const Runtime runtime;
    gpu = runtime.gpu();
    DeviceBuffer<int> buffer(*gpu, 1);
    int value = 3;
    copy(buffer, std::span(&value, 1));
    Queue queue(*gpu);
    queue.barrier().on_complete([](const Error*) {});
  }
  EXPECT_THAT(error_of([&] { static_cast<void>(Queue(*gpu)); }), HasSubstr("runtime was closed"));
  EXPECT_THAT(error_of([&] { static_cast<void>(Batch(*gpu)); }), HasSubstr("runtime was closed"));
  const Runtime again;
  EXPECT_NO_THROW(Queue(again.gpu()));
}

}  // namespace
}  // namespace fastdispatch::test
