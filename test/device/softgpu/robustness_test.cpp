// The soft GPU with kernels that never end, and with queues and processes that go away.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fastdispatch/fastdispatch.hpp"
#include "loaded_rocr.hpp"

namespace fastdispatch::test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

constexpr WaitOptions limit{.timeout = std::chrono::minutes(10)};

struct SoftGpu {
  Runtime runtime{{.device = Device::softgpu}};
  Agent gpu = runtime.gpu();
  Module module = Module::load(gpu, SOFTGPU_TEST_KERNELS);
  PinnedBuffer<std::uint32_t> flag = zeros(1);

  [[nodiscard]] PinnedBuffer<std::uint32_t> zeros(std::size_t count) const {
    PinnedBuffer<std::uint32_t> buffer(gpu, count);
    std::fill(buffer.begin(), buffer.end(), 0U);
    return buffer;
  }
  /// Starts a kernel that runs until the flag is set, and returns once it runs.
  void occupy(Queue& queue, std::uint32_t groups = 1) {
    auto started = zeros(1);
    queue.dispatch(module.kernel<void(std::uint32_t*)>("set"), grid(1), started.data());
    queue.dispatch(module.kernel<void(std::uint32_t*)>("wait_for"), grid(groups * 64).group(64), flag.data());
    while (__atomic_load_n(started.data(), __ATOMIC_ACQUIRE) == 0) usleep(100);
    usleep(10'000);
  }
  void expect_that_work_is_done(Queue& queue) const {
    auto counter = zeros(1);
    queue.dispatch(module.kernel<void(std::uint32_t*)>("count"), grid(640).group(64), counter.data()).wait(limit);
    EXPECT_EQ(counter[0], 10U);
  }
};

/// Runs `body` in a process of its own, as a soft GPU reads its environment once.
int exit_code_of(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Polling : public testing::TestWithParam<const char*> {};

TEST_P(Polling, by_plain_loads_lets_the_other_wavefront_store) {
  SoftGpu device;
  Queue queue(device.gpu);
  constexpr std::uint32_t groups = 8;
  auto flags = device.zeros(groups);
  auto tries = device.zeros(groups * 64);
  const auto poll = device.module.kernel<void(std::uint32_t*, std::uint32_t*)>(GetParam());
  for (int round = 0; round != 3; ++round) {  // a kernel that is known as short is run in another way
    std::fill(flags.begin(), flags.end(), 0U);
    queue.dispatch(poll, grid(groups * 128).group(128), flags.data(), tries.data()).wait(limit);
    EXPECT_THAT(std::vector(flags.begin(), flags.end()), testing::Each(1U));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Polling, testing::Values("poll_plainly", "poll_by_pointer"));

TEST(Fairness, copies_and_other_queues_go_on_beside_kernels_that_never_end) {
  SoftGpu device;
  {
    std::array<Queue, 2> busy = {Queue(device.gpu), Queue(device.gpu)};
    for (Queue& queue : busy)
      queue.dispatch(device.module.kernel<void(std::uint32_t*)>("loop_forever"), grid(64 * 256).group(256),
                     device.flag.data());
    Queue other(device.gpu);
    const std::vector<std::uint32_t> values(std::size_t{1} << 20U, 7);
    DeviceBuffer<std::uint32_t> there(device.gpu, values.size());
    DeviceBuffer<std::uint32_t> again(device.gpu, values.size());
    for (int round = 0; round != 3; ++round) {
      copy(there, std::span(values));
      copy(again, there);
      device.expect_that_work_is_done(other);
      std::vector<std::uint32_t> back(values.size());
      copy(std::span(back), again);
      EXPECT_EQ(back, values);
    }
  }
  Queue later(device.gpu);  // the endless kernels ended with their queues
  device.expect_that_work_is_done(later);
}

void expect_the_time_limit_to_end(const char* kernel, std::uint32_t group_size) {
  EXPECT_EQ(exit_code_of([&] {
              setenv("SOFTGPU_TIMEOUT", "1", 1);
              testing::internal::CaptureStderr();
              SoftGpu device;
              Queue stuck(device.gpu);
              Queue other(device.gpu);
              const auto forever = device.module.kernel<void(std::uint32_t*)>(kernel);
              const auto submission =
                  stuck.dispatch(forever, grid(4 * group_size).group(group_size), device.flag.data());
              device.expect_that_work_is_done(other);
              try {
                submission.wait(limit);
                ADD_FAILURE() << "nothing was thrown";
              } catch (const Error& error) {
                EXPECT_THAT(error.what(), AllOf(HasSubstr(kernel), HasSubstr("SOFTGPU_TIMEOUT")));
              }
              EXPECT_THAT(testing::internal::GetCapturedStderr(),
                          AllOf(HasSubstr(std::string("kernel ") + kernel + ": "),
                                HasSubstr("ran for longer than SOFTGPU_TIMEOUT says")));
              device.expect_that_work_is_done(other);
            }),
            0);
}

TEST(Robustness, the_time_limit_ends_a_loop_without_end) { expect_the_time_limit_to_end("loop_forever", 64); }
TEST(Robustness, the_time_limit_ends_polling_for_memory) { expect_the_time_limit_to_end("wait_for", 256); }
TEST(Robustness, the_time_limit_ends_barriers_without_end) { expect_the_time_limit_to_end("pass_barriers", 256); }

TEST(Robustness, wavefronts_wait_for_each_other_through_lds) {
  SoftGpu device;
  Queue queue(device.gpu);
  const auto take_turns = device.module.kernel<void(std::uint32_t*, std::uint32_t)>("take_turns");
  for (std::uint32_t round = 1; round < 20; ++round) {
    auto order = device.zeros(16);
    queue.dispatch(take_turns, grid(1024).group(1024), order.data(), round * 1000).wait(limit);
    for (std::uint32_t wave = 0; wave < 16; ++wave) ASSERT_EQ(order[wave], 15 - wave);
  }
}

TEST(Robustness, a_busy_queue_is_destroyed_at_once_and_others_go_on) {
  SoftGpu device;
  Queue other(device.gpu);
  for (int round = 0; round < 5; ++round) {
    auto queue = std::make_unique<Queue>(device.gpu);
    device.occupy(*queue, 8);
    queue.reset();
    device.expect_that_work_is_done(other);
  }
}

TEST(Robustness, sixty_four_queues_work_at_once) {
  SoftGpu device;
  const auto square = device.module.kernel<void(const std::uint32_t*, std::uint32_t*, std::uint32_t)>("square");
  constexpr std::uint32_t count = 1024;
  auto in = device.zeros(count);
  std::iota(in.begin(), in.end(), 0U);
  std::vector<Queue> queues;
  std::vector<PinnedBuffer<std::uint32_t>> results;
  std::vector<Submission> submissions;
  for (int i = 0; i < 64; ++i) {
    queues.emplace_back(device.gpu, QueueOptions{.size = 64, .kernarg_bytes = 4096});
    results.push_back(device.zeros(count));
  }
  for (int round = 0; round < 10; ++round)
    for (int i = 0; i < 64; ++i)
      submissions.push_back(queues[i].dispatch(square, grid(count), in.data(), results[i].data(), count));
  for (const Submission& submission : submissions) submission.wait(limit);
  for (const auto& result : results)
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(result[i], i * i);
}

TEST(Robustness, a_process_exits_with_work_in_flight) {
  EXPECT_EQ(exit_code_of([] {
              auto& device = *new SoftGpu;
              device.occupy(*new Queue(device.gpu), 8);
            }),
            0);
}

// HIP 7 does so in programs that end without freeing what they allocated.
TEST(Robustness, work_is_done_while_a_process_exits) {
  static std::function<void()> last_work;
  EXPECT_EQ(exit_code_of([] {
              // Registered before the soft GPU's own, and so called after them.
              std::atexit([] { last_work(); });
              auto& device = *new SoftGpu;
              auto& queue = *new Queue(device.gpu);
              auto& counter = *new auto(device.zeros(1));
              const auto kernel = device.module.kernel<void(std::uint32_t*)>("count");
              queue.dispatch(kernel, grid(640).group(64), counter.data()).wait(limit);
              last_work = [&queue, &counter, kernel] {
                queue.dispatch(kernel, grid(640).group(64), counter.data()).wait(limit);
                if (counter[0] != 20) _exit(EXIT_FAILURE);
              };
            }),
            0);
}

TEST(Robustness, a_failure_is_told_while_a_process_exits) {
  static std::function<void()> last_work;
  EXPECT_EQ(exit_code_of([] {
              std::atexit([] { last_work(); });
              auto& device = *new SoftGpu;
              auto& queue = *new Queue(device.gpu);
              const auto kernel = device.module.kernel<void(std::uint32_t*)>("write_to");
              queue.dispatch(kernel, grid(1), device.flag.data()).wait(limit);
              last_work = [&queue, kernel] {
                auto* const nowhere = reinterpret_cast<std::uint32_t*>(std::uintptr_t{64});
                try {
                  queue.dispatch(kernel, grid(1), nowhere).wait({.timeout = std::chrono::minutes(1)});
                } catch (const TimeoutError&) {
                  _exit(EXIT_FAILURE);
                } catch (const Error&) {
                  return;
                }
                _exit(EXIT_FAILURE);
              };
            }),
            0);
}

TEST(Robustness, a_child_process_exits_and_leaves_the_parents_work_alone) {
  SoftGpu device;
  Queue queue(device.gpu);
  device.occupy(queue);
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code_of([] {}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  __atomic_store_n(device.flag.data(), 1U, __ATOMIC_RELEASE);
  queue.wait(limit);
  device.expect_that_work_is_done(queue);
}

/// What a program calls that does not know the library.
int open_driver() {
  auto* const open = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "hsaKmtAcquireSystemProperties"));
  std::array<std::byte, 64> properties{};
  return open(properties.data());
}

TEST(Robustness, a_child_process_is_told_once_that_the_gpu_stayed_with_its_parent) {
  SoftGpu device;
  Queue queue(device.gpu);
  device.expect_that_work_is_done(queue);
  EXPECT_EQ(exit_code_of([&] {
              testing::internal::CaptureStderr();
              for (int i = 0; i < 2; ++i) EXPECT_NE(open_driver(), 0);
              EXPECT_EQ(testing::internal::GetCapturedStderr(),
                        "softgpu: this process was forked from one that used the GPU, which it cannot use: open the "
                        "runtime after the fork\n");
            }),
            0);
  device.expect_that_work_is_done(queue);
}

TEST(Robustness, a_child_process_has_a_gpu_where_its_parent_closed_the_runtime_before) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer lets no child of a process that had threads start some";
#endif
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a thread that ends at the fork may hold the address sanitizer's allocator, for ever in the child";
#endif
  {
    SoftGpu device;
    if (!rocr_has_thunk_beside_it()) GTEST_SKIP() << "a ROCr with the thunk built in is never shut down";
    Queue queue(device.gpu);
    device.expect_that_work_is_done(queue);
  }
  EXPECT_EQ(exit_code_of([] {
              SoftGpu device;
              Queue queue(device.gpu);
              device.expect_that_work_is_done(queue);
            }),
            0);
}

TEST(Robustness, exhausted_device_memory_is_an_error_and_comes_back) {
  EXPECT_EQ(exit_code_of([] {
              setenv("SOFTGPU_MEMORY", "64M", 1);
              SoftGpu device;
              constexpr std::size_t chunk = std::size_t{16} << 20;
              for (int round = 0; round < 3; ++round) {
                std::vector<DeviceBuffer<std::byte>> chunks;
                EXPECT_THROW(
                    {
                      while (chunks.size() < 10) chunks.emplace_back(device.gpu, chunk);
                    },
                    Error);
                EXPECT_GE(chunks.size(), 2U);
                EXPECT_LE(chunks.size(), 4U);
              }
            }),
            0);
}

}  // namespace
}  // namespace fastdispatch::test
