// The driver in a child process.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "softgpu/thunk/entry_points.hpp"

namespace softgpu::thunk {
namespace {

using testing::StartsWith;

int exit_code_of_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);  // the parent's driver is a leak here
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

HSAKMT_STATUS use() {
  return with_driver([](SoftGpu&) { return HSAKMT_STATUS_SUCCESS; });
}

/// Whether a queue of the open driver carries out a packet.
bool works() {
  alignas(64) std::array<std::uint32_t, 1024> ring{};
  std::uint32_t target = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&target);
  command_processor::CommandProcessor& processor = soft_gpu()->command_processor;
  const auto queue = processor.create(command_processor::SdmaQueueMemory{
      .gpu = 0, .ring = reinterpret_cast<std::byte*>(ring.data()), .ring_bytes = sizeof(ring)});
  constexpr std::uint32_t fence = 5;
  ring[0] = fence;
  ring[1] = static_cast<std::uint32_t>(address);
  ring[2] = static_cast<std::uint32_t>(address >> 32);
  ring[3] = 7;
  __atomic_store_n(queue.write_index, std::uint64_t{16}, __ATOMIC_RELEASE);
  processor.kick();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (__atomic_load_n(queue.read_index, __ATOMIC_ACQUIRE) != 16 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  processor.destroy(queue.id);
  return target == 7;
}

class Fork : public ::testing::Test {
protected:
  Fork() {
    setenv("SOFTGPU_THREADS", "2", 1);
    EXPECT_TRUE(open());
  }
  ~Fork() override { EXPECT_TRUE(close()); }
};

TEST_F(Fork, ADriverThatWasOpenIsClosedInTheChildWhichIsToldOnce) {
  EXPECT_EQ(exit_code_of_child([] {
              testing::internal::CaptureStderr();
              EXPECT_EQ(use(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
              EXPECT_THAT(testing::internal::GetCapturedStderr(), StartsWith("softgpu: this process was forked"));
              testing::internal::CaptureStderr();
              EXPECT_EQ(use(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
              EXPECT_FALSE(close());
              EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
            }),
            0);
  EXPECT_TRUE(works());
}

TEST_F(Fork, TheChildMayOpenItAnew) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer lets no child of a process with threads start some";
#endif
  EXPECT_EQ(exit_code_of_child([] {
              testing::internal::CaptureStderr();
              EXPECT_TRUE(open());
              EXPECT_EQ(use(), HSAKMT_STATUS_SUCCESS);
              EXPECT_TRUE(works());
              EXPECT_TRUE(close());
              EXPECT_EQ(use(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
              EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
            }),
            0);
  EXPECT_TRUE(works());
}

TEST(ForkWithoutDriver, IsNothingToTellTheChildOf) {
  EXPECT_TRUE(open());
  EXPECT_TRUE(close());
  EXPECT_EQ(exit_code_of_child([] {
              testing::internal::CaptureStderr();
              EXPECT_EQ(use(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
              EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
            }),
            0);
}

}  // namespace
}  // namespace softgpu::thunk
