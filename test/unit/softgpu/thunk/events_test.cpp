// hsakmt packs its structures: a unary + makes an aligned value of a field, which EXPECT binds a reference to.
#include "softgpu/thunk/events.hpp"

#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace softgpu::thunk {
namespace {

using namespace std::chrono_literals;

class EventsTest : public ::testing::Test {
protected:
  HsaEvent* make(Reset reset, bool set = false, HSA_EVENTTYPE type = HSA_EVENTTYPE_SIGNAL) {
    HsaEventDescriptor descriptor{};
    descriptor.EventType = type;
    return events.create(descriptor, reset, set);
  }
  [[nodiscard]] bool wait(HsaEvent* event, std::chrono::milliseconds limit) {
    return events.wait(std::span(&event, 1), WaitFor::all, limit);
  }
  /// As a GPU does before it interrupts the host.
  static void write_mailbox(const HsaEvent& event) {
    *reinterpret_cast<std::uint64_t*>(event.EventData.HWData2) = event.EventId;
  }

  Events events;
};

TEST_F(EventsTest, AWaitEndsWhenItsTimeIsUp) {
  HsaEvent* event = make(Reset::automatic);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(wait(event, 20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
}

TEST_F(EventsTest, AnAutomaticEventIsConsumedByAWait) {
  HsaEvent* event = make(Reset::automatic);
  events.raise(event);
  EXPECT_TRUE(wait(event, 0ms));
  EXPECT_FALSE(wait(event, 0ms));
}

TEST_F(EventsTest, AnAutomaticEventThatOneThreadConsumedStillReleasesEachOtherOnce) {
  HsaEvent* event = make(Reset::automatic);
  events.raise(event);
  EXPECT_TRUE(wait(event, 0ms));
  std::thread([&] {
    EXPECT_TRUE(wait(event, 0ms));
    EXPECT_FALSE(wait(event, 0ms));
  }).join();
  EXPECT_FALSE(wait(event, 0ms));
  events.clear(event);
  std::thread([&] { EXPECT_FALSE(wait(event, 0ms)); }).join();
}

TEST_F(EventsTest, AThreadAboutToWaitForAnEventIsReleasedThoughAnotherOneWasWaiting) {
  HsaEvent* event = make(Reset::automatic);
  bool woke = false;
  std::thread waiter([&] { woke = wait(event, 10s); });
  std::this_thread::sleep_for(5ms);
  events.raise(event);
  waiter.join();
  EXPECT_TRUE(woke);
  EXPECT_TRUE(wait(event, 0ms));
}

TEST_F(EventsTest, AManualEventStaysSetUntilItIsCleared) {
  HsaEvent* event = make(Reset::manual, true);
  EXPECT_TRUE(wait(event, 0ms));
  EXPECT_TRUE(wait(event, 0ms));
  events.clear(event);
  EXPECT_FALSE(wait(event, 0ms));
}

TEST_F(EventsTest, AnInterruptRaisesTheEventOfItsId) {
  HsaEvent* one = make(Reset::automatic);
  HsaEvent* other = make(Reset::automatic);
  events.raise(one->EventId);
  events.raise(12345);  // nobody's
  EXPECT_TRUE(wait(one, 0ms));
  EXPECT_FALSE(wait(other, 0ms));
}

TEST_F(EventsTest, EveryoneWhoWaitsForAnAutomaticEventWakes) {
  HsaEvent* event = make(Reset::automatic);
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i)
    threads.emplace_back([&] {
      while (!wait(event, 5ms)) {
      }
      ++woken;
    });
  while (woken.load() != 3) {
    events.raise(event);
    std::this_thread::sleep_for(1ms);
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(EventsTest, OnlyWaitersOfTheRaisedEventWake) {
  HsaEvent* raised = make(Reset::automatic);
  HsaEvent* other = make(Reset::automatic);
  std::atomic<bool> other_woke{false};
  std::thread waiter([&] { other_woke = wait(other, 30ms); });
  std::this_thread::sleep_for(5ms);
  events.raise(raised);
  waiter.join();
  EXPECT_FALSE(other_woke.load());
}

TEST_F(EventsTest, AWaitForAnyEndsWithOneOfThem) {
  const std::array<HsaEvent*, 3> several = {make(Reset::automatic), make(Reset::automatic), make(Reset::automatic)};
  std::thread raiser([&] {
    std::this_thread::sleep_for(5ms);
    events.raise(several[1]);
  });
  EXPECT_TRUE(events.wait(several, WaitFor::any, std::nullopt));
  raiser.join();
}

TEST_F(EventsTest, AWaitForAllEndsWithTheLastOfThem) {
  const std::array<HsaEvent*, 2> both = {make(Reset::automatic), make(Reset::automatic)};
  events.raise(both[0]);
  EXPECT_FALSE(events.wait(both, WaitFor::all, 5ms));
  events.raise(both[0]);
  std::thread raiser([&] {
    std::this_thread::sleep_for(5ms);
    events.raise(both[1]);
  });
  EXPECT_TRUE(events.wait(both, WaitFor::all, std::nullopt));
  raiser.join();
}

TEST_F(EventsTest, EachEventHasAMailboxOfItsOwn) {
  HsaEvent* one = make(Reset::automatic);
  HsaEvent* other = make(Reset::automatic);
  EXPECT_NE(+one->EventData.HWData2, 0U);
  EXPECT_NE(+one->EventData.HWData2, +other->EventData.HWData2);
}

TEST_F(EventsTest, AKernelsInterruptRaisesTheEventWhoseMailboxItWrote) {
  HsaEvent* one = make(Reset::automatic);
  HsaEvent* other = make(Reset::automatic);
  write_mailbox(*one);
  write_mailbox(*other);
  events.raise_signalled(one->EventId);
  EXPECT_TRUE(wait(one, 0ms));
  EXPECT_FALSE(wait(other, 0ms));
}

TEST_F(EventsTest, AKernelsInterruptMayCarryAPartOfTheIdOnly) {
  HsaEvent* first = make(Reset::automatic);
  HsaEvent* late = nullptr;
  while (late == nullptr || (late->EventId & 0xff) != first->EventId) late = make(Reset::automatic);
  write_mailbox(*late);
  events.raise_signalled(late->EventId & 0xff);
  EXPECT_FALSE(wait(first, 0ms));
  EXPECT_TRUE(wait(late, 0ms));
  events.raise_signalled(late->EventId & 0xff);  // the mailbox is empty now
  EXPECT_FALSE(wait(late, 0ms));
}

TEST_F(EventsTest, IdsAreUsedAgainSoThatTheyDoNotRunOut) {
  for (int i = 0; i != 200000; ++i) {
    HsaEvent* event = make(Reset::automatic);
    ASSERT_NE(event, nullptr);
    events.destroy(event);
  }
}

TEST_F(EventsTest, AnEventThatWasDestroyedIsRaisedInVain) {
  HsaEvent* destroyed = make(Reset::automatic);
  const auto id = +destroyed->EventId;
  events.destroy(destroyed);
  HsaEvent* next = make(Reset::automatic);
  EXPECT_EQ(+next->EventId, id);
  events.raise(destroyed);
  EXPECT_FALSE(wait(next, 0ms));
  events.raise(next);
  events.clear(destroyed);
  events.destroy(destroyed);
  EXPECT_TRUE(wait(next, 0ms));
}

TEST_F(EventsTest, AMemoryFaultIsReportedOnce) {
  HsaEvent* event = make(Reset::manual, false, HSA_EVENTTYPE_MEMORY);
  HsaMemoryAccessFault fault{};
  fault.NodeId = 1;
  fault.VirtualAddress = 0xdead000;
  fault.Failure.NotPresent = 1;
  EXPECT_TRUE(events.report_memory_fault(fault));
  EXPECT_TRUE(wait(event, 0ms));
  EXPECT_EQ(+event->EventData.EventData.MemoryAccessFault.VirtualAddress, 0xdead000U);
  EXPECT_EQ(event->EventData.EventData.MemoryAccessFault.Failure.NotPresent, 1U);
  EXPECT_FALSE(events.report_memory_fault(fault));
}

TEST_F(EventsTest, AMemoryFaultWithoutAMemoryEventIsNotReported) {
  EXPECT_NE(make(Reset::manual), nullptr);
  EXPECT_FALSE(events.report_memory_fault({}));
}

}  // namespace
}  // namespace softgpu::thunk
