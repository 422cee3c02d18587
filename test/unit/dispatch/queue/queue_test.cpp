#include "fastdispatch/queue.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "barrier_packet.hpp"
#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/failure_messages.hpp"
#include "dispatch/queue/queue_state.hpp"
#include "expect_error.hpp"
#include "fill_ring.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr WaitOptions briefly{.timeout = milliseconds(20)};

Packet dispatch_of(std::uint64_t kernel_object) {
  return encode(KernelDispatch{.grid = grid(64), .kernel_object = kernel_object});
}

TEST(QueueOptions, outside_the_limits_are_refused_with_the_limits) {
  MockHsa hsa;
  for (const std::uint32_t size : {0U, 3U, 32U, 100U, 262144U})
    EXPECT_THAT(error_of([&] { Queue(hsa.agent(), {.size = size}); }),
                HasSubstr("power of two from 64 to 131072 on gfx90a"))
        << size;
  EXPECT_THAT(error_of([&] { Queue(hsa.agent(), {.compute_unit_mask = {0, 0}}); }), HasSubstr("no compute unit"));
  EXPECT_THAT(error_of([&] {
                Queue(hsa.agent(), {.compute_unit_mask = {1, 1, 1, 1, 1}});
              }),
              HasSubstr("104 compute units"));
  EXPECT_EQ(hsa.calls("queue_create"), 0);
}

TEST(QueueOptions, reach_hsa) {
  MockHsa hsa;
  {
    const Queue plain(hsa.agent(), {.producers = Producers::single});
    EXPECT_EQ(hsa.queue().type, HSA_QUEUE_TYPE_SINGLE);
    EXPECT_EQ(hsa.calls("amd_queue_set_priority") + hsa.calls("amd_queue_cu_set_mask"), 0);
  }
  const Queue queue(hsa.agent(), {.size = 128, .priority = Priority::high, .compute_unit_mask = {0xff}});
  EXPECT_EQ(hsa.queue().type, HSA_QUEUE_TYPE_MULTI);
  EXPECT_EQ(queue.size(), 128U);
  EXPECT_EQ(hsa.calls("amd_queue_set_priority"), 1);
  EXPECT_EQ(hsa.calls("amd_queue_cu_set_mask"), 1);
}

TEST(Queue, says_why_it_could_not_be_made_and_leaks_nothing) {
  MockHsa hsa;
  for (const char* function : {"queue_create", "signal_create", "amd_queue_set_priority", "amd_memory_pool_allocate"}) {
    hsa.fail(function, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    EXPECT_THAT(error_of([&] { Queue(hsa.agent(), {.priority = Priority::low}); }),
                HasSubstr(std::string("hsa_") + function + " failed: OUT_OF_RESOURCES"));
    hsa.fail(function, HSA_STATUS_SUCCESS);
  }
  EXPECT_EQ(hsa.signals(), 0U);
  EXPECT_EQ(hsa.allocations(), 0U);
}

TEST(Queue, submits_packets_and_waits_for_what_is_complete_without_a_call_into_hsa) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  const int calls = hsa.calls();
  const std::vector<Packet> packets(10, barrier_packet);
  const Submission submission = queue.submit(packets);
  EXPECT_EQ(hsa.queue().doorbell_value, 9U);
  EXPECT_FALSE(submission.done());
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 10U);
  EXPECT_TRUE(submission.done());
  submission.wait();
  EXPECT_EQ(hsa.calls(), calls);
}

TEST(Queue, refuses_what_can_never_be_submitted_before_it_reserves_anything) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.size = 64, .kernarg_bytes = 64});
  EXPECT_THAT(error_of([&] { queue.submit(std::vector<Packet>(33, barrier_packet)); }),
              HasSubstr("more than half of a queue of 64"));
  EXPECT_THAT(error_of([&] { queue.submit(std::span<const Packet>()); }), HasSubstr("no packets"));
  Packet invalid;
  invalid.words[0] = HSA_PACKET_TYPE_INVALID;
  EXPECT_THAT(error_of([&] { queue.submit(invalid); }), HasSubstr("type invalid"));
  KernargSlot slot = queue.acquire_kernargs(64);
  const std::uint64_t address = slot.address();
  EXPECT_THAT(error_of([&] { queue.submit(invalid, std::move(slot)); }), HasSubstr("type invalid"));
  EXPECT_EQ(queue.acquire_kernargs(64).address(), address) << "it came back";
  EXPECT_EQ(hsa.queue().amd.write_dispatch_id, 0U);
}

TEST(Queue, reports_that_it_is_full_where_it_was_asked_to) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.size = 64, .when_full = WhenFull::report});
  for (int i = 0; i < 2; ++i) queue.submit(std::vector<Packet>(30, barrier_packet));
  EXPECT_THAT(error_of<QueueFullError>([&] { queue.submit(std::vector<Packet>(5, barrier_packet)); }),
              HasSubstr("no room"));
  MockHsa::complete(hsa.queue(), 1);
  EXPECT_NO_THROW(queue.submit(std::vector<Packet>(5, barrier_packet)));
}

TEST(Queue, waits_for_room_up_to_a_time_limit) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.size = 64, .full_timeout = milliseconds(20)});
  fill_ring(queue, barrier_packet);
  EXPECT_THAT(error_of<TimeoutError>([&] { queue.submit(barrier_packet); }),
              AllOf(HasSubstr("no room for 1 packets within 20 ms"), HasSubstr("read index is 0, its write index 64")));
}

TEST(Queue, goes_on_when_there_is_room_before_the_time_limit) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.size = 64, .full_timeout = std::chrono::minutes(5)});
  fill_ring(queue, barrier_packet);
  const std::jthread consumer([&] { MockHsa::complete(hsa.queue()); });
  EXPECT_NO_THROW(queue.submit(barrier_packet));
}

TEST(Submission, that_carries_no_epoch_signal_is_completed_by_a_barrier_when_it_is_waited_for) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  const Signal own(hsa.agent());
  const Submission unordered = queue.submit(barrier_packet_without_bit);
  Packet packet = barrier_packet;
  packet.set_completion_signal(own.handle());
  const Submission signalled = queue.submit(packet);
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 2U);
  EXPECT_EQ(own.load(), 0);
  EXPECT_FALSE(unordered.done());
  EXPECT_FALSE(signalled.done());
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 1U) << "one barrier covers both";
  EXPECT_TRUE(unordered.done());
  EXPECT_TRUE(signalled.done());
}

TEST(Submission, that_needs_a_barrier_keeps_to_time_limits_where_the_ring_has_no_room_for_it) {
  MockHsa hsa;
  for (const WhenFull when_full : {WhenFull::wait, WhenFull::report}) {
    Queue queue(hsa.agent(), {.size = 64, .when_full = when_full, .full_timeout = std::chrono::hours(1)});
    const Submission submission = fill_ring(queue, barrier_packet_without_bit);
    EXPECT_FALSE(submission.done());
    EXPECT_THROW(submission.wait(briefly), TimeoutError);
    EXPECT_THROW(queue.wait(briefly), TimeoutError);
    const std::jthread command_processor([&] {
      for (std::size_t packets = 0; packets < 65; std::this_thread::yield()) packets += MockHsa::complete(hsa.queue());
    });
    EXPECT_NO_THROW(submission.wait({.timeout = std::chrono::minutes(5)}));
  }
}

TEST(Submission, wait_that_times_out_says_what_the_queue_is_at) {
  MockHsa hsa;
  detail::state_of(hsa.agent()).kernels.add(0x1000, "bitonic_pass");
  Queue queue(hsa.agent());
  queue.submit(barrier_packet);
  MockHsa::complete(hsa.queue());
  const Submission submission = queue.submit(dispatch_of(0x1000));
  EXPECT_THAT(error_of<TimeoutError>([&] { submission.wait(briefly); }),
              AllOf(HasSubstr("within 20 ms"), HasSubstr("read index is 1, its write index 2"),
                    HasSubstr("1 of 2 epochs"), HasSubstr("kernel bitonic_pass")));
  MockHsa::complete(hsa.queue());
  EXPECT_NO_THROW(submission.wait(briefly));
}

TEST(QueueError, reaches_waiters_and_producers_with_the_kernel_and_advice) {
  MockHsa hsa;
  detail::state_of(hsa.agent()).kernels.add(0x1000, "innocent");
  detail::state_of(hsa.agent()).kernels.add(0x2000, "greedy");
  Queue queue(hsa.agent());
  const Submission first = queue.submit(dispatch_of(0x1000));
  MockHsa::complete(hsa.queue());
  const Submission second = queue.submit(dispatch_of(0x2000));
  const std::jthread command_processor([&] {
    std::this_thread::sleep_for(milliseconds(10));
    MockHsa::report_error(hsa.queue(), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  });
  try {
    second.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("text of the mock"), HasSubstr("kernel greedy"), HasSubstr("LDS"),
                                    Not(HasSubstr("innocent"))));
  }
  EXPECT_THAT(error_of([&] { queue.submit(barrier_packet); }), HasSubstr("greedy"));
  EXPECT_THAT(error_of([&] { static_cast<void>(second.done()); }), HasSubstr("greedy"));
  EXPECT_NO_THROW(first.wait()) << "what completed before is complete";
}

TEST(QueueError, reaches_who_waits_for_a_signal_of_one_of_its_packets) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  const Signal lost(hsa.agent());
  const Signal other(hsa.agent());
  Packet packet = dispatch_of(0x1000);
  packet.set_completion_signal(lost.handle());
  queue.submit(packet);
  MockHsa::report_error(hsa.queue(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { lost.wait(); }), HasSubstr("the queue stopped"));
  EXPECT_THROW(other.wait(briefly), TimeoutError) << "no packet of the queue was to complete it";
}

TEST(MemoryFault, reaches_the_waiters_of_every_queue_of_the_agent_but_not_of_later_queues) {
  MockHsa hsa;
  detail::state_of(hsa.agent()).kernels.add(0x1000, "wild");
  detail::state_of(hsa.agent()).kernels.add(0x2000, "not_started");
  Queue idle(hsa.agent());
  Queue queue(hsa.agent());
  queue.submit(std::vector{dispatch_of(0x1000), dispatch_of(0x2000)});
  hsa_amd_gpu_memory_fault_info_t fault{};
  fault.agent = hsa.agent().handle();
  fault.virtual_address = 0xdead000;
  fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  detail::state_of(hsa.agent()).queues.fail_all([&](auto suspects) {
    return detail::memory_fault_error(fault, "gfx90a", {}, suspects);
  });
  for (Queue* failed : {&queue, &idle})
    EXPECT_THAT(error_of([&] { failed->wait(); }),
                AllOf(HasSubstr("memory fault on gfx90a at address 0xdead000"), HasSubstr("no page is mapped"),
                      HasSubstr("kernel wild"), Not(HasSubstr("not_started"))));
  Queue later(hsa.agent());
  EXPECT_NO_THROW(later.submit(barrier_packet));
}

TEST(MemoryFault, ends_waits_for_signals_that_were_set_before_it_and_no_others) {
  MockHsa hsa;
  const Signal done(hsa.agent(), 0);
  Signal lost(hsa.agent());
  detail::state_of(hsa.agent()).queues.fail_all([](auto suspects) {
    return detail::memory_fault_error({}, "gfx90a", {}, suspects);
  });
  EXPECT_NO_THROW(done.wait(briefly));
  EXPECT_THAT(error_of([&] { lost.wait(); }), HasSubstr("memory fault"));
  lost.store(1);
  EXPECT_THROW(lost.wait(briefly), TimeoutError);
  EXPECT_THROW(Signal(hsa.agent()).wait(briefly), TimeoutError);
}

TEST(MemoryFault, names_every_kernel_that_may_still_run) {
  MockHsa hsa;
  detail::state_of(hsa.agent()).kernels.add(0x1000, "first");
  detail::state_of(hsa.agent()).kernels.add(0x2000, "second");
  Queue queue(hsa.agent());
  // Both are off the ring; no epoch says that the first completed.
  queue.submit(std::vector{dispatch_of(0x1000), dispatch_of(0x2000), dispatch_of(0x1000)});
  MockHsa::complete(hsa.queue(), 2);
  MockHsa::report_error(hsa.queue(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { queue.wait(); }), HasSubstr("one of the kernels that were running: first, second"));
}

TEST(Kernargs, come_back_when_their_dispatch_completed) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.full_timeout = milliseconds(20), .kernarg_bytes = 128});
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < 2; ++k) queue.submit(barrier_packet, queue.acquire_kernargs(64));
    EXPECT_THAT(error_of<TimeoutError>([&] { static_cast<void>(queue.acquire_kernargs(64)); }),
                HasSubstr("kernarg pool"));
    MockHsa::complete(hsa.queue());
  }
}

TEST(Kernargs, of_dispatches_without_an_epoch_come_back_by_a_barrier) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.kernarg_bytes = 64});
  queue.submit(barrier_packet_without_bit, queue.acquire_kernargs(64));
  std::atomic<bool> stop = false;
  std::jthread command_processor([&] {
    for (; !stop; std::this_thread::yield()) MockHsa::complete(hsa.queue());
  });
  EXPECT_EQ(queue.acquire_kernargs(64).bytes().size(), 64U);
  stop = true;
}

TEST(Kernargs, of_dispatches_without_an_epoch_come_back_where_the_queue_reports) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.when_full = WhenFull::report, .kernarg_bytes = 64});
  queue.submit(barrier_packet_without_bit, queue.acquire_kernargs(64));
  EXPECT_THROW(static_cast<void>(queue.acquire_kernargs(64)), QueueFullError);
  MockHsa::complete(hsa.queue());
  EXPECT_EQ(queue.acquire_kernargs(64).bytes().size(), 64U);
}

TEST(Kernargs, live_until_the_queue_has_stopped) {
  MockHsa hsa;
  { const Queue queue(hsa.agent()); }
  EXPECT_EQ(hsa.allocations_of_last_queue(), 1U);
  EXPECT_EQ(hsa.allocations(), 0U);
}

TEST(Kernargs, that_were_never_submitted_are_no_deadlock) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.producers = Producers::single, .kernarg_bytes = 64});
  KernargSlot held = queue.acquire_kernargs(64);
  const std::uint64_t address = held.address();
  EXPECT_THAT(error_of([&] { static_cast<void>(queue.acquire_kernargs(1)); }), HasSubstr("never submitted"));
  queue.submit(barrier_packet, std::move(held));
  MockHsa::complete(hsa.queue());
  EXPECT_EQ(queue.acquire_kernargs(1).address(), address);
}

TEST(Kernargs, come_back_when_their_submission_fails) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.size = 64, .when_full = WhenFull::report, .kernarg_bytes = 64});
  fill_ring(queue, barrier_packet);
  KernargSlot slot = queue.acquire_kernargs(64);
  const std::uint64_t address = slot.address();
  EXPECT_THROW(queue.submit(barrier_packet, std::move(slot)), QueueFullError);
  EXPECT_EQ(queue.acquire_kernargs(64).address(), address);
}

TEST(Kernargs, that_are_dropped_come_back) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.when_full = WhenFull::report, .kernarg_bytes = 64});
  const std::uint64_t address = queue.acquire_kernargs(64).address();
  EXPECT_EQ(queue.acquire_kernargs(64).address(), address);
}

TEST(Kernargs, of_another_queue_or_submitted_before_are_an_error) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.when_full = WhenFull::report, .kernarg_bytes = 64});
  Queue other(hsa.agent());
  KernargSlot slot = queue.acquire_kernargs(64);
  EXPECT_THAT(error_of([&] { other.submit(barrier_packet, std::move(slot)); }), HasSubstr("slot of another queue"));
  queue.submit(barrier_packet, std::move(slot));  // NOLINT(bugprone-use-after-move): it was refused
  EXPECT_THAT(error_of([&] { queue.submit(barrier_packet, std::move(slot)); }),  // NOLINT(bugprone-use-after-move)
              HasSubstr("one that was submitted"));
}

static_assert(!std::is_copy_constructible_v<KernargSlot>);

// Eight producers submit to a ring of 64 slots. Each packet must come out once, and the packets of each producer in
// order. A packet's kernel object is its number, from 1 on. Waits add barrier packets, which have no number.
TEST(Queue, completes_every_packet_of_eight_threads) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.size = 64, .full_timeout = std::chrono::minutes(1)});
  constexpr std::uint64_t threads = 8;
  constexpr std::uint64_t share = 12'500;
  std::atomic<std::uint64_t> running = threads;
  const auto produce = [&](std::uint64_t thread) {
    try {
      std::vector<Packet> packets;
      for (std::uint64_t sent = 0, i = 0; sent < share; sent += packets.size(), ++i) {
        packets.clear();
        for (std::uint64_t k = 0; k < std::min(1 + i % 5, share - sent); ++k)
          packets.push_back(dispatch_of(thread * share + sent + k + 1));
        const Submission submission = queue.submit(packets);
        if (i % 64 == 0) submission.wait({.policy = WaitPolicy::block, .timeout = std::chrono::minutes(1)});
      }
      queue.wait({.timeout = std::chrono::minutes(1)});
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    --running;
  };

  std::array<std::uint64_t, threads> seen{};
  std::uint64_t misplaced = 0;
  hsa.queue().on_packet = [&](const Packet& packet) {
    const std::uint64_t number = packet.word64(8);
    if (number == 0) return;
    const std::uint64_t thread = (number - 1) / share;
    if (thread >= threads || number != thread * share + ++seen[thread]) ++misplaced;
  };
  {
    std::vector<std::jthread> producers;
    for (std::uint64_t thread = 0; thread < threads; ++thread) producers.emplace_back(produce, thread);
    while (running > 0)
      if (MockHsa::complete(hsa.queue()) == 0) std::this_thread::yield();
  }
  EXPECT_EQ(misplaced, 0U);
  EXPECT_THAT(seen, testing::Each(share));
  EXPECT_EQ(hsa.queue().amd.read_dispatch_id, hsa.queue().amd.write_dispatch_id);
}

}  // namespace
}  // namespace fastdispatch::test
