// How a queue tells the runtime that it stopped, and why.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_queue.hpp"
#include "softgpu/command_processor/queue_errors.hpp"

namespace softgpu::command_processor {
namespace {

using Kind = compute::Failure::Kind;
using ::testing::HasSubstr;

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

TEST_F(QueueErrorsTest, TheRuntimeHasAnsweredAnErrorBeforeTheQueueIsGone) {
  const FakeKernel kernel = failing(Kind::trap);
  MemoryQueue queue(scheduler, grids, host);
  queue.dispatch(kernel, {});
  ASSERT_TRUE(queue.inactive().reaches(0x80000000));
  std::atomic<bool> waits = false;
  std::int64_t seen = 0;
  std::thread destroyer([&] {
    waits = true;
    queue.target().wait_for_error_handler();
    seen = queue.inactive().load();
  });
  while (!waits) std::this_thread::yield();
  queue.inactive().store(-1);
  destroyer.join();
  EXPECT_EQ(seen, -1);
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

TEST_F(QueueErrorsTest, SignalsThatAreNotInMemoryAreMemoryFaults) {
  constexpr hsa_signal_t unmapped{0xdead000};
  constexpr hsa_signal_t impossible{0xdead000000000000};
  // The runtime's mailbox of a signal that was overwritten.
  Signal overwritten;
  overwritten.raw().event_mailbox_ptr = 0xdead000;
  const FakeKernel kernel;
  Packet within_a_signal{};
  within_a_signal.barrier.dep_signal[0] = {overwritten.handle().handle + 4};
  Packet waits_for_all{};
  waits_for_all.barrier.dep_signal[3] = unmapped;
  Packet waits_for_value{};
  waits_for_value.barrier_value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  waits_for_value.barrier_value.signal = unmapped;
  Packet completes{};
  completes.barrier.completion_signal = impossible;
  Packet dispatch = MemoryQueue::dispatch_packet(kernel, {});
  dispatch.dispatch.completion_signal = unmapped;
  Packet tells = dispatch;
  tells.dispatch.completion_signal = overwritten.handle();
  const std::vector<std::pair<Packet, hsa_packet_type_t>> packets = {
      {waits_for_all, HSA_PACKET_TYPE_BARRIER_AND},       {waits_for_all, HSA_PACKET_TYPE_BARRIER_OR},
      {waits_for_value, HSA_PACKET_TYPE_VENDOR_SPECIFIC}, {completes, HSA_PACKET_TYPE_BARRIER_AND},
      {dispatch, HSA_PACKET_TYPE_KERNEL_DISPATCH},        {tells, HSA_PACKET_TYPE_KERNEL_DISPATCH},
      {within_a_signal, HSA_PACKET_TYPE_BARRIER_AND},
  };
  for (std::size_t i = 0; i != packets.size(); ++i) {
    MemoryQueue queue(scheduler, grids, host);
    queue.submit(packets[i].first, packets[i].second);
    ASSERT_TRUE(eventually([&] { return host.faults().size() == i + 1; })) << i;
    EXPECT_THAT(host.errors()[i], HasSubstr("queue 1, packet 0: the packet's signal 0x")) << i;
  }
  EXPECT_EQ(host.faults()[0].address, unmapped.handle + offsetof(amd_signal_t, value));
  EXPECT_EQ(host.faults()[3].address, impossible.handle);
  EXPECT_EQ(host.faults()[5].address, overwritten.raw().event_mailbox_ptr);
  EXPECT_EQ(overwritten.load(), 1);
}

TEST_F(QueueErrorsTest, StrictHardwareRefusesBarrierValuesThatItDoesNotKnow) {
  MemoryQueue queue(scheduler, grids, host, {.strict = true, .knows_barrier_values = false});
  Packet packet{};
  packet.barrier_value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  queue.submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  ASSERT_TRUE(eventually([&] { return !host.errors().empty(); }));
  EXPECT_THAT(host.errors()[0], HasSubstr("a barrier-value packet, which AMD's runtimes never send"));
}

TEST_F(QueueErrorsTest, ADependencyBehindOneThatIsMetIsNotLookedAt) {
  const Signal met(0);
  Signal done;
  Packet packet{};
  packet.barrier.dep_signal[0] = met.handle();
  packet.barrier.dep_signal[1] = {0xdead000};
  packet.barrier.completion_signal = done.handle();
  MemoryQueue queue(scheduler, grids, host);
  queue.submit(packet, HSA_PACKET_TYPE_BARRIER_OR);
  EXPECT_TRUE(done.reaches(0));
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

TEST_F(QueueErrorsTest, Pm4CommandsThatAreNotInMemoryAreAFault) {
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  Packet packet = pm4_packet(std::vector<std::uint32_t>(1), done);
  packet.pm4.indirect_buffer[1] = 0xdead000;
  packet.pm4.indirect_buffer[2] = 0;
  queue.submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  EXPECT_TRUE(eventually([&] { return host.faults().size() == 1; }));
  EXPECT_EQ(done.load(), 1);
}

}  // namespace
}  // namespace softgpu::command_processor
