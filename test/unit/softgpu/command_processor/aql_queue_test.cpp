// The packet processing model's promises about order, completion and slots.
#include <atomic>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "memory_queue.hpp"

namespace softgpu::command_processor {
namespace {

class AqlQueueTest : public ::testing::Test {
protected:
  FakeHost host;
  FakeGrids grids;
  Scheduler scheduler{4};
};

TEST_F(AqlQueueTest, ADispatchRunsEveryWorkGroupOnceAndCompletesItsSignal) {
  std::vector<std::atomic<int>> runs(1000);
  const FakeKernel kernel{.body = [&](std::uint32_t, std::uint64_t group) {
    runs[group].fetch_add(1);
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.dispatch(kernel, {.groups = 1000, .completion = &done});
  ASSERT_TRUE(done.reaches(0));
  for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
  EXPECT_EQ(queue.read_index(), 1U);
}

TEST_F(AqlQueueTest, CompletionWritesTheMailboxAndRaisesTheEvent) {
  const FakeKernel kernel;
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  std::uint64_t mailbox = 0;
  done.raw().event_mailbox_ptr = reinterpret_cast<std::uint64_t>(&mailbox);
  done.raw().event_id = 77;
  queue.dispatch(kernel, {.completion = &done});
  ASSERT_TRUE(eventually([&] { return host.was_raised(77); }));
  EXPECT_EQ(__atomic_load_n(&mailbox, __ATOMIC_ACQUIRE), 77U);
  EXPECT_EQ(done.load(), 0);
}

TEST_F(AqlQueueTest, NothingIsFetchedBeforeTheDoorbellRings) {
  const FakeKernel kernel;
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  const std::uint64_t index = queue.reserve();
  queue.publish(index, MemoryQueue::dispatch_packet(kernel, {.completion = &done}), HSA_PACKET_TYPE_KERNEL_DISPATCH);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(done.load(), 1);
  queue.ring(index);
  EXPECT_TRUE(done.reaches(0));
}

TEST_F(AqlQueueTest, ARingOfALaterProducerDoesNotPassASlotThatIsNotPublished) {
  const FakeKernel kernel;
  MemoryQueue queue(scheduler, grids, host);
  Signal first;
  Signal second;
  const std::uint64_t early = queue.reserve();
  queue.dispatch(kernel, {.completion = &second});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(second.load(), 1);
  queue.publish(early, MemoryQueue::dispatch_packet(kernel, {.completion = &first}), HSA_PACKET_TYPE_KERNEL_DISPATCH);
  queue.ring(early);
  EXPECT_TRUE(first.reaches(0));
  EXPECT_TRUE(second.reaches(0));
}

TEST_F(AqlQueueTest, PacketsWithoutABarrierBitOverlap) {
  std::atomic<bool> second_ran{false};
  const FakeKernel waits{.body = [&](std::uint32_t, std::uint64_t) {
    EXPECT_TRUE(eventually([&] { return second_ran.load(); }));
    return std::nullopt;
  }};
  const FakeKernel sets{.body = [&](std::uint32_t, std::uint64_t) {
    second_ran = true;
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host);
  Signal first;
  Signal second;
  queue.dispatch(waits, {.completion = &first});
  queue.dispatch(sets, {.completion = &second});
  EXPECT_TRUE(second.reaches(0));
  EXPECT_TRUE(first.reaches(0));
}

TEST_F(AqlQueueTest, TheBarrierBitWaitsForEverythingLaunchedBefore) {
  std::atomic<int> running{0};
  std::atomic<int> overlaps{0};
  const FakeKernel earlier{.body = [&](std::uint32_t, std::uint64_t) {
    ++running;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --running;
    return std::nullopt;
  }};
  const FakeKernel last{.body = [&](std::uint32_t, std::uint64_t) {
    overlaps += running.load();
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host);
  for (int round = 0; round != 10; ++round) {
    Signal done;
    queue.dispatch(earlier, {.groups = 3});
    queue.dispatch(earlier, {.groups = 1});
    queue.dispatch(last, {.flags = barrier_bit, .completion = &done});
    ASSERT_TRUE(done.reaches(0));
  }
  EXPECT_EQ(overlaps.load(), 0);
}

TEST_F(AqlQueueTest, ASlotIsFreeOnceItsPacketIsLaunched) {
  std::atomic<bool> go{false};
  const FakeKernel kernel{.body = [&](std::uint32_t, std::uint64_t) {
    EXPECT_TRUE(eventually([&] { return go.load(); }));
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.dispatch(kernel, {.completion = &done});
  EXPECT_TRUE(eventually([&] { return queue.read_index() == 1; }));
  EXPECT_EQ(done.load(), 1);
  go = true;
  EXPECT_TRUE(done.reaches(0));
}

TEST_F(AqlQueueTest, TheReadIndexOfStrictHardwareMovesLateAndInSteps) {
  const FakeKernel kernel;
  MemoryQueue queue(scheduler, grids, host, {.slots = 64, .strict = true});
  const auto run = [&](int packets) {
    for (int i = 0; i < packets; ++i) {
      Signal done;
      queue.dispatch(kernel, {.completion = &done});
      ASSERT_TRUE(done.reaches(0));
    }
  };
  run(15);
  EXPECT_EQ(queue.read_index(), 0U);
  run(1);
  EXPECT_EQ(queue.read_index(), 16U);
  run(20);
  EXPECT_EQ(queue.read_index(), 32U);
}

TEST_F(AqlQueueTest, ManyMorePacketsThanSlotsAllRunInOrderBehindBarrierBits) {
  std::vector<std::uint64_t> order;
  std::uint64_t next = 0;
  const FakeKernel kernel{.body = [&](std::uint32_t, std::uint64_t) {
    order.push_back(next++);  // no lock: the barrier bit keeps others out
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  for (int i = 0; i != 9999; ++i) queue.dispatch(kernel, {.flags = barrier_bit});
  queue.dispatch(kernel, {.flags = barrier_bit, .completion = &done});
  ASSERT_TRUE(done.reaches(0));
  ASSERT_EQ(order.size(), 10000U);
  EXPECT_EQ(order.back(), 9999U);
}

TEST_F(AqlQueueTest, SeveralProducersOnOneSmallQueueLoseNothing) {
  constexpr int producers = 4;
  constexpr int packets = 2000;
  std::atomic<int> runs{0};
  const FakeKernel kernel{.body = [&](std::uint32_t, std::uint64_t) {
    runs.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host, {.slots = 16});
  Signal left(producers * packets);
  std::vector<std::thread> threads;
  for (int i = 0; i != producers; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k != packets; ++k) queue.dispatch(kernel, {.completion = &left});
    });
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(left.reaches(0));
  EXPECT_EQ(runs.load(), producers * packets);
}

TEST_F(AqlQueueTest, BarrierAndWaitsForAllOfItsSignals) {
  MemoryQueue queue(scheduler, grids, host);
  Signal first;
  Signal second;
  Signal done;
  queue.barrier(HSA_PACKET_TYPE_BARRIER_AND, {&first, &second}, &done);
  first.store(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(done.load(), 1);
  second.store(0);
  EXPECT_TRUE(done.reaches(0));
}

TEST_F(AqlQueueTest, BarrierOrWaitsForOneOfItsSignals) {
  MemoryQueue queue(scheduler, grids, host);
  Signal first;
  Signal second;
  Signal done;
  queue.barrier(HSA_PACKET_TYPE_BARRIER_OR, {&first, &second}, &done);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(done.load(), 1);
  second.store(0);
  EXPECT_TRUE(done.reaches(0));
}

TEST_F(AqlQueueTest, BarriersWithoutDependenciesPass) {
  MemoryQueue queue(scheduler, grids, host);
  Signal all;
  Signal any;
  queue.barrier(HSA_PACKET_TYPE_BARRIER_AND, {}, &all);
  queue.barrier(HSA_PACKET_TYPE_BARRIER_OR, {}, &any);
  EXPECT_TRUE(all.reaches(0));
  EXPECT_TRUE(any.reaches(0));
}

TEST_F(AqlQueueTest, ABarrierPacketHoldsBackWhatFollows) {
  const FakeKernel kernel;
  MemoryQueue queue(scheduler, grids, host);
  Signal dependency;
  Signal done;
  queue.barrier(HSA_PACKET_TYPE_BARRIER_AND, {&dependency}, nullptr);
  queue.dispatch(kernel, {.completion = &done});
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(done.load(), 1);
  dependency.store(0);
  EXPECT_TRUE(done.reaches(0));
}

struct ValueCase {
  hsa_signal_condition_t condition;
  std::int64_t blocked;
  std::int64_t passes;
};

class BarrierValueTest : public AqlQueueTest, public ::testing::WithParamInterface<ValueCase> {};

TEST_P(BarrierValueTest, WaitsUntilTheMaskedValueMeetsTheCondition) {
  MemoryQueue queue(scheduler, grids, host);
  constexpr std::int64_t outside_the_mask = 0x7000;
  Signal watched(GetParam().blocked | outside_the_mask);
  Signal done;
  Packet packet{};
  packet.barrier_value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  packet.barrier_value.signal = watched.handle();
  packet.barrier_value.mask = 0xff;
  packet.barrier_value.value = 5;
  packet.barrier_value.cond = static_cast<hsa_signal_condition32_t>(GetParam().condition);
  packet.barrier_value.completion_signal = done.handle();
  queue.submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(done.load(), 1);
  watched.store(GetParam().passes | outside_the_mask);
  EXPECT_TRUE(done.reaches(0));
}

INSTANTIATE_TEST_SUITE_P(Conditions, BarrierValueTest,
                         ::testing::Values(ValueCase{HSA_SIGNAL_CONDITION_EQ, 4, 5},
                                           ValueCase{HSA_SIGNAL_CONDITION_NE, 5, 6},
                                           ValueCase{HSA_SIGNAL_CONDITION_LT, 5, 4},
                                           ValueCase{HSA_SIGNAL_CONDITION_GTE, 4, 9}));

TEST_F(AqlQueueTest, StrictHardwareComparesBarrierValuesWithoutTheirSign) {
  MemoryQueue queue(scheduler, grids, host, {.strict = true});
  Signal watched(-1);
  Signal done;
  Packet packet{};
  packet.barrier_value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  packet.barrier_value.signal = watched.handle();
  packet.barrier_value.mask = -1;
  packet.barrier_value.value = 0;
  packet.barrier_value.cond = HSA_SIGNAL_CONDITION_GTE;
  packet.barrier_value.completion_signal = done.handle();
  queue.submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  EXPECT_TRUE(done.reaches(0)) << "-1 is the largest number of all";
}

TEST_F(AqlQueueTest, AQueueIsClosedWhileItsKernelsRun) {
  std::atomic<int> started{0};
  const FakeKernel kernel{.body = [&](std::uint32_t, std::uint64_t) {
    ++started;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host);
  Signal done;
  queue.dispatch(kernel, {.groups = 100000, .completion = &done});
  ASSERT_TRUE(eventually([&] { return started.load() > 0; }));
  queue.close();
  EXPECT_LT(started.load(), 100000);
  EXPECT_EQ(done.load(), 1);
}

TEST_F(AqlQueueTest, ProfiledDispatchesHaveTheirTimes) {
  const FakeKernel kernel{.body = [](std::uint32_t, std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return std::nullopt;
  }};
  MemoryQueue queue(scheduler, grids, host);
  queue.amd().queue_properties |= AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
  const std::uint64_t before = gpu_clock();
  Signal done;
  queue.dispatch(kernel, {.completion = &done});
  ASSERT_TRUE(done.reaches(0));
  EXPECT_GE(done.raw().start_ts, before);
  EXPECT_GE(done.raw().end_ts, done.raw().start_ts + 3'000'000);
  EXPECT_LE(done.raw().end_ts, gpu_clock());
}

TEST_F(AqlQueueTest, ProfiledBarriersHaveTheirTimes) {
  MemoryQueue queue(scheduler, grids, host);
  queue.amd().queue_properties |= AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
  const std::uint64_t before = gpu_clock();
  Signal done;
  queue.barrier(HSA_PACKET_TYPE_BARRIER_AND, {}, &done);
  ASSERT_TRUE(done.reaches(0));
  EXPECT_GE(done.raw().start_ts, before);
  EXPECT_GE(done.raw().end_ts, done.raw().start_ts);
}

}  // namespace
}  // namespace softgpu::command_processor
