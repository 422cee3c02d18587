// How a queue tells the runtime that it stopped, and why.
#include <gtest/gtest.h>

#include "memory_queue.hpp"
#include "softgpu/command_processor/queue_errors.hpp"

namespace softgpu::command_processor {
namespace {

using Kind = compute::Failure::Kind;

class QueueErrorsTest : public ::testing::Test {
protected:
  static FakeKernel failing(Kind kind, std::uint64_t address = 0) {
    return {.body = [=](std::uint32_t, std::uint64_t) {
      return std::optional(compute::Failure{.kind = kind, .address = address, .text = "this is why"});
    }};
  }

  FakeHost host;
  FakeGrids grids;
  Scheduler scheduler{4};
};

struct RefusalCase {
  Kind kind;
  std::int64_t bits;
};

class RefusalTest : public QueueErrorsTest, public ::testing::WithParamInterface<RefusalCase> {};

TEST_P(RefusalTest, ARefusedKernelStopsTheQueueWithTheFirmwaresBits) {
  const FakeKernel kernel{.refusal = compute::Failure{.kind = GetParam().kind, .address = 0, .text = "this is why"}};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.dispatch(kernel, {.completion = &done});
  ASSERT_TRUE(queue.inactive().reaches(GetParam().bits));
  EXPECT_EQ(done.load(), 1);
  EXPECT_EQ(queue.read_index(), 0U);
  ASSERT_EQ(host.errors().size(), 1U);
  EXPECT_EQ(host.errors()[0], "queue 1, packet 0: this is why");
}

INSTANTIATE_TEST_SUITE_P(Kinds, RefusalTest,
                         ::testing::Values(RefusalCase{Kind::invalid_dimensions, 2}, RefusalCase{Kind::group_memory, 4},
                                           RefusalCase{Kind::invalid_code_object, 8},
                                           RefusalCase{Kind::work_group_size, 64},
                                           RefusalCase{Kind::illegal_instruction, 0x40000000}));

TEST_F(QueueErrorsTest, ATrapStopsTheQueueAndCompletesNothing) {
  const FakeKernel kernel = failing(Kind::trap);
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.dispatch(kernel, {.groups = 50, .completion = &done});
  ASSERT_TRUE(queue.inactive().reaches(0x80000000));
  EXPECT_EQ(done.load(), 1);
}

TEST_F(QueueErrorsTest, AMemoryFaultIsReportedWithItsAddress) {
  const FakeKernel kernel = failing(Kind::memory_fault, 0xdead000);
  MemoryQueue queue(scheduler, grids, host);
  queue.dispatch(kernel, {});
  ASSERT_TRUE(eventually([&] { return host.faults().size() == 1; }));
  EXPECT_EQ(host.faults()[0].address, 0xdead000U);
  EXPECT_EQ(queue.inactive().load(), 0);
}

TEST_F(QueueErrorsTest, AMemoryFaultThatNobodyTakesStopsTheQueue) {
  host.takes_faults = false;
  const FakeKernel kernel = failing(Kind::memory_fault, 0xdead000);
  MemoryQueue queue(scheduler, grids, host);
  queue.dispatch(kernel, {});
  EXPECT_TRUE(queue.inactive().reaches(queue_error::aperture_violation));
}

TEST_F(QueueErrorsTest, OtherQueuesGoOn) {
  const FakeKernel bad = failing(Kind::trap);
  const FakeKernel good;
  MemoryQueue broken(scheduler, grids, host, {.id = 1});
  MemoryQueue healthy(scheduler, grids, host, {.id = 2});
  broken.dispatch(bad, {});
  ASSERT_TRUE(broken.inactive().reaches(0x80000000));
  Signal done;
  healthy.dispatch(good, {.completion = &done});
  EXPECT_TRUE(done.reaches(0));
}

TEST_F(QueueErrorsTest, AStoppedQueueFetchesNothingMore) {
  const FakeKernel bad = failing(Kind::trap);
  const FakeKernel good;
  MemoryQueue queue(scheduler, grids, host);
  queue.dispatch(bad, {});
  ASSERT_TRUE(queue.inactive().reaches(0x80000000));
  Signal done;
  queue.dispatch(good, {.completion = &done});
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(done.load(), 1);
}

TEST_F(QueueErrorsTest, PacketTypesThatAGpuQueueDoesNotTakeStopIt) {
  MemoryQueue queue(scheduler, grids, host);
  queue.submit(Packet{}, HSA_PACKET_TYPE_AGENT_DISPATCH);
  EXPECT_TRUE(queue.inactive().reaches(queue_error::packet_format));
}

TEST_F(QueueErrorsTest, UnknownVendorPacketsStopTheQueue) {
  MemoryQueue queue(scheduler, grids, host);
  Packet packet{};
  packet.barrier_value.header.AmdFormat = 99;
  queue.submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  EXPECT_TRUE(queue.inactive().reaches(queue_error::vendor_packet_format));
}

Packet pm4_packet(const std::vector<std::uint32_t>& commands, const Signal& done) {
  const auto address = reinterpret_cast<std::uint64_t>(commands.data());
  Packet packet{};
  packet.pm4.format = 1;
  packet.pm4.indirect_buffer[0] = 0xc0023f00;
  packet.pm4.indirect_buffer[1] = static_cast<std::uint32_t>(address);
  packet.pm4.indirect_buffer[2] = static_cast<std::uint32_t>(address >> 32);
  packet.pm4.indirect_buffer[3] = static_cast<std::uint32_t>(commands.size()) | 1U << 23;
  packet.pm4.completion_signal = done.handle();
  return packet;
}

TEST_F(QueueErrorsTest, Pm4CacheMaintenancePasses) {
  const std::vector<std::uint32_t> acquire_mem = {0xc0055800, 0x28c40000, ~0U, 0xff, 0, 0, 0};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.submit(pm4_packet(acquire_mem, done), HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  EXPECT_TRUE(done.reaches(0));
}

TEST_F(QueueErrorsTest, OtherPm4CommandsAreRefused) {
  const std::vector<std::uint32_t> write_data = {0xc0033700, 0, 0, 0, 0};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.submit(pm4_packet(write_data, done), HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  EXPECT_TRUE(queue.inactive().reaches(queue_error::vendor_packet_format));
  EXPECT_EQ(done.load(), 1);
}

}  // namespace
}  // namespace softgpu::command_processor
