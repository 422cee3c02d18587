// The protocol by which a queue gets scratch memory from the runtime when a kernel needs it. The test is the runtime.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "memory_queue.hpp"
#include "softgpu/command_processor/queue_errors.hpp"

namespace softgpu::command_processor {
namespace {

class ScratchTest : public ::testing::Test {
protected:
  static void grant(MemoryQueue& queue, std::uint32_t lane_bytes, std::uint64_t waves) {
    queue.amd().scratch_backing_memory_location = 0x10000;
    queue.amd().scratch_wave64_lane_byte_size = lane_bytes;
    const std::uint64_t bytes = std::uint64_t{lane_bytes} * 64 * waves;
    std::memcpy(reinterpret_cast<std::byte*>(&queue.amd()) + scratch_bytes_offset, &bytes, sizeof(bytes));
    queue.inactive().store(0);
  }

  FakeHost host;
  FakeGrids grids;
  Scheduler scheduler{4};
};

TEST_F(ScratchTest, TheKernelRunsOnceTheRuntimeGrantedScratch) {
  const FakeKernel kernel{.private_bytes = 100};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.dispatch(kernel, {.private_bytes = 100, .completion = &done});
  ASSERT_TRUE(queue.inactive().reaches(queue_error::scratch_wanted));
  // ROCr reads the request from the packet at the read index.
  EXPECT_EQ(queue.read_index(), 0U);
  EXPECT_EQ(done.load(), 1);
  grant(queue, 112, 64);
  EXPECT_TRUE(done.reaches(0));
  EXPECT_EQ(grids.last_view.scratch_bytes_per_lane, 112U);
  EXPECT_EQ(grids.last_view.scratch_base, 0x10000U);
}

TEST_F(ScratchTest, ScratchOnceGrantedIsUsedAgain) {
  const FakeKernel kernel{.private_bytes = 100};
  MemoryQueue queue(scheduler, grids, host);
  grant(queue, 112, 64);
  Signal done;
  queue.dispatch(kernel, {.private_bytes = 100, .completion = &done});
  EXPECT_TRUE(done.reaches(0));
  EXPECT_EQ(queue.inactive().load(), 0);
}

TEST_F(ScratchTest, MoreScratchIsAskedForWhenNothingUsesTheOldAnyMore) {
  std::atomic<bool> go{false};
  const FakeKernel small{.body =
                             [&](std::uint32_t, std::uint64_t) {
                               EXPECT_TRUE(eventually([&] { return go.load(); }));
                               return std::nullopt;
                             },
                         .private_bytes = 16};
  const FakeKernel large{.private_bytes = 500};
  MemoryQueue queue(scheduler, grids, host);
  grant(queue, 16, 64);
  Signal done;
  queue.dispatch(small, {.private_bytes = 16});
  queue.dispatch(large, {.private_bytes = 500, .completion = &done});
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(queue.inactive().load(), 0);
  go = true;
  ASSERT_TRUE(queue.inactive().reaches(queue_error::scratch_wanted));
  grant(queue, 512, 64);
  EXPECT_TRUE(done.reaches(0));
}

TEST_F(ScratchTest, SingleUseScratchIsGivenBackAfterTheKernel) {
  const FakeKernel kernel{.private_bytes = 5000};
  const FakeKernel next;
  MemoryQueue queue(scheduler, grids, host);
  grant(queue, 5008, 64);
  queue.amd().queue_properties |= AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE;
  Signal done;
  Signal next_done;
  queue.dispatch(kernel, {.private_bytes = 5000, .completion = &done});
  queue.dispatch(next, {.completion = &next_done});
  ASSERT_TRUE(queue.inactive().reaches(queue_error::scratch_returned));
  EXPECT_EQ(done.load(), 0);
  EXPECT_EQ(next_done.load(), 1);
  queue.inactive().store(0);
  EXPECT_TRUE(next_done.reaches(0));
}

TEST_F(ScratchTest, WorkersWithoutWaveSlotsLeaveTheKernelToOthers) {
  std::atomic<std::uint32_t> highest{0};
  const FakeKernel kernel{.body =
                              [&](std::uint32_t worker, std::uint64_t) {
                                std::uint32_t seen = highest.load();
                                while (worker > seen && !highest.compare_exchange_weak(seen, worker)) {
                                }
                                std::this_thread::sleep_for(std::chrono::microseconds(100));
                                return std::nullopt;
                              },
                          .private_bytes = 100};
  MemoryQueue queue(scheduler, grids, host);
  grant(queue, 112, 17);  // waves of workers 0 and 1, as a work-group here has one wave
  Signal done(3);
  for (int i = 0; i != 3; ++i) queue.dispatch(kernel, {.groups = 100, .private_bytes = 100, .completion = &done});
  ASSERT_TRUE(done.reaches(0));
  EXPECT_LE(highest.load(), 1U);
}

TEST_F(ScratchTest, NoScratchIsAskedForByAKernelThatUsesNone) {
  const FakeKernel kernel;
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.dispatch(kernel, {.private_bytes = 5000, .completion = &done});
  EXPECT_TRUE(done.reaches(0));
  EXPECT_EQ(queue.inactive().load(), 0);
}

TEST_F(ScratchTest, APacketThatIsRefusedForSomethingElseAsksForNone) {
  const FakeKernel kernel{.private_bytes = 100,
                          .refusal = compute::Failure{compute::Failure::Kind::invalid_dimensions, 0, "sizes"}};
  MemoryQueue queue(scheduler, grids, host);
  queue.dispatch(kernel, {.private_bytes = 100});
  EXPECT_TRUE(queue.inactive().reaches(queue_error::dimensions));
}

TEST_F(ScratchTest, APacketThatHidesAKernelsPrivateMemoryIsRefused) {
  const FakeKernel kernel{.private_bytes = 100};
  MemoryQueue queue(scheduler, grids, host);
  queue.dispatch(kernel, {.private_bytes = 0});
  EXPECT_TRUE(queue.inactive().reaches(queue_error::packet_format));
}

}  // namespace
}  // namespace softgpu::command_processor
