#include "fastdispatch/batch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "fill_ring.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch {
namespace {

using detail::KernelInfo;
using test::error_of;
using test::fill_ring;
using test::MockHsa;
using ::testing::HasSubstr;

constexpr Ordering everything{BarrierBit::set, FenceScope::system, FenceScope::system};

// One pointer and one number.
KernelInfo kernel_info(std::uint64_t object) {
  return {.name = "kernel",
          .object = object,
          .kernarg_size = 12,
          .group_segment_size = 256,
          .private_segment_size = 16,
          .max_group_size = 1024,
          .max_group_segment_size = 65536,
          .needs_queue = false,
          .arguments = {{0, 8}, {8, 4}},
          .implicit_arguments = {}};
}
using TestKernel = Kernel<void(unsigned*, unsigned)>;

// A kernel, two copies of what it wrote, and a copy back, which waits for all of them.
struct CopiesAfterCopies {
  CopiesAfterCopies(Agent agent, const KernelInfo& kernel)
      : data(agent, 16), host(agent, 16), other(agent, 16), batch(agent, {.fences = Fences::derived}) {
    batch.dispatch(TestKernel(kernel), grid(128).group(64), data, 1);
    batch.copy(host, data);
    batch.copy(other, data);
    batch.copy(data, host);
  }

  DeviceBuffer<unsigned> data;
  PinnedBuffer<unsigned> host, other;
  Batch batch;
};

class BatchSubmission : public ::testing::Test {
protected:
  void record(Batch& batch, unsigned count) {
    for (unsigned i = 0; i < count; ++i) batch.dispatch(TestKernel(info), grid(128).group(64), nullptr, i);
  }
  static const Packet& slot(MockHsa& hsa, std::size_t i) { return hsa.queue().ring[i % hsa.queue().ring.size()]; }

  // The oldest packet in the ring; waits until there is one.
  static const Packet& next_published(MockHsa& hsa) {
    Packet& packet = hsa.queue().ring[hsa.queue().amd.read_dispatch_id % hsa.queue().ring.size()];
    while ((std::atomic_ref(packet.words[0]).load(std::memory_order_acquire) & 0xffU) == HSA_PACKET_TYPE_INVALID)
      std::this_thread::yield();
    return packet;
  }
  static const std::byte* kernargs(const Packet& packet) {
    return reinterpret_cast<const std::byte*>(packet.word64(10));  // NOLINT(performance-no-int-to-ptr)
  }

  MockHsa hsa;
  KernelInfo info = kernel_info(0x1000);
};

TEST_F(BatchSubmission, rings_one_doorbell_and_replays_the_same_packets) {
  hsa.count_rings();
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  record(batch, 10);
  const Submission first = queue.submit(batch);
  EXPECT_EQ(hsa.rings(), 1);
  EXPECT_EQ(hsa.queue().doorbell_value, 9U);
  const std::size_t allocations = hsa.allocations();
  const Submission second = queue.submit(batch);
  EXPECT_EQ(hsa.rings(), 2);
  EXPECT_EQ(hsa.queue().doorbell_value, 19U);
  EXPECT_EQ(hsa.allocations(), allocations);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(slot(hsa, i), slot(hsa, i + 10)) << i;
  const std::byte* kernarg = kernargs(slot(hsa, 13));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kernarg) % 64, 0U);
  EXPECT_EQ(*reinterpret_cast<const unsigned*>(kernarg + 8), 3U);

  EXPECT_EQ(MockHsa::complete(hsa.queue(), 10), 10U);
  EXPECT_TRUE(first.done());
  EXPECT_FALSE(second.done());
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 10U);
  EXPECT_TRUE(second.done());
}

TEST_F(BatchSubmission, keeps_kernargs_until_it_completed) {
  Queue queue(hsa.agent());
  const std::size_t before = hsa.allocations();
  constexpr unsigned many = 300;  // their arguments are an allocation of their own
  {
    Batch batch(hsa.agent());
    record(batch, many);
    queue.submit(batch);
    record(batch, many);  // makes the next submission one of another image
    queue.submit(batch);
  }
  EXPECT_EQ(hsa.allocations(), before + 2);
  MockHsa::complete(hsa.queue());
  Batch other(hsa.agent());
  record(other, 1);
  queue.submit(other);
  EXPECT_EQ(hsa.allocations(), before + 3);
  record(other, many);
  queue.submit(other);
  EXPECT_EQ(hsa.allocations(), before + 3) << "those of a submission that completed are used again";
}

TEST_F(BatchSubmission, longer_than_the_ring_goes_in_parts) {
  Queue queue(hsa.agent(), {.size = 64});
  Batch batch(hsa.agent());
  record(batch, 300);
  std::jthread command_processor([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) MockHsa::complete(hsa.queue());
  });
  const Submission submission = queue.submit(batch);
  submission.wait({.timeout = std::chrono::minutes(10)});
  EXPECT_EQ(hsa.queue().doorbell_value, 299U);
}

TEST_F(BatchSubmission, whose_later_parts_find_no_room_fails_the_queue_so_that_nobody_takes_its_results) {
  Queue queue(hsa.agent(), {.size = 64, .full_timeout = std::chrono::milliseconds(5)});
  Batch batch(hsa.agent());
  record(batch, 100);
  const Submission before = queue.barrier();
  EXPECT_THAT(error_of<TimeoutError>([&] { queue.submit(batch); }), HasSubstr("no room"));
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 1U + 32U);
  EXPECT_TRUE(before.done());
  const auto because = HasSubstr("only 32 of a batch's 100 packets");
  EXPECT_THAT(error_of([&] { queue.wait(); }), because);
  EXPECT_THAT(error_of([&] { queue.submit(batch); }), because);
}

TEST_F(BatchSubmission, whose_first_part_finds_no_room_leaves_no_trace) {
  Queue queue(hsa.agent(), {.size = 64, .full_timeout = std::chrono::milliseconds(5)});
  Batch filling(hsa.agent());
  record(filling, 40);
  Batch batch(hsa.agent());
  record(batch, 100);
  queue.submit(filling);
  EXPECT_THAT(error_of<TimeoutError>([&] { queue.submit(batch); }), HasSubstr("no room"));
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 40U);
  queue.submit(filling);
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 40U);
}

TEST_F(BatchSubmission, in_parts_is_not_interrupted_by_other_producers) {
  constexpr unsigned threads = 4;
  constexpr unsigned length = 150;
  constexpr unsigned repetitions = 50;
  Queue queue(hsa.agent(), {.size = 64});
  std::vector<Batch> batches;
  for (unsigned i = 0; i < threads; ++i) record(batches.emplace_back(hsa.agent()), length);
  std::vector<std::jthread> producers;
  for (Batch& batch : batches)
    producers.emplace_back([&] {
      for (unsigned k = 0; k < repetitions; ++k) queue.submit(batch);
    });
  const std::byte* first = nullptr;  // the kernel arguments of a batch follow each other
  for (unsigned i = 0; i < threads * repetitions * length; ++i) {
    const Packet& packet = next_published(hsa);
    if (i % length == 0) first = kernargs(packet);
    ASSERT_EQ(kernargs(packet), first + i % length * 64) << "packet " << i;
    MockHsa::complete(hsa.queue(), 1);
  }
}

TEST_F(BatchSubmission, longer_than_the_ring_is_refused_where_the_queue_reports) {
  Queue queue(hsa.agent(), {.size = 64, .when_full = WhenFull::report});
  Batch batch(hsa.agent());
  record(batch, 65);
  EXPECT_THAT(error_of([&] { queue.submit(batch); }), HasSubstr("65 packets"));
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 0U);
}

TEST_F(BatchSubmission, without_steps_completes_behind_what_was_before) {
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  const Submission submission = queue.submit(batch);
  EXPECT_FALSE(submission.done());
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 1U);
  EXPECT_TRUE(submission.done());
}

TEST_F(BatchSubmission, hangs_copies_between_packets_by_signals_of_its_own) {
  Queue queue(hsa.agent());
  DeviceBuffer<unsigned> data(hsa.agent(), 16);
  PinnedBuffer<unsigned> host(hsa.agent(), 16);
  Batch batch(hsa.agent());
  batch.copy(data, host);
  record(batch, 1);
  batch.copy(host, data);
  queue.submit(batch);
  queue.submit(batch);
  ASSERT_EQ(hsa.copies().size(), 4U);
  for (std::size_t submission = 0; submission < 2; ++submission) {
    const auto packet = [&](std::size_t i) { return slot(hsa, 4 * submission + i); };
    const auto& up = hsa.copies()[2 * submission];
    const auto& down = hsa.copies()[2 * submission + 1];
    EXPECT_EQ(up.destination, data.data());
    EXPECT_EQ(down.destination, host.data());
    EXPECT_EQ(down.bytes, 64U);
    ASSERT_EQ(up.depends_on.size(), 1U);
    ASSERT_EQ(down.depends_on.size(), 1U);
    EXPECT_EQ(up.depends_on[0].handle, packet(0).completion_signal().handle);
    EXPECT_EQ(up.completion.handle, packet(1).word64(2));
    EXPECT_EQ(down.depends_on[0].handle, packet(2).completion_signal().handle);
    EXPECT_EQ(down.completion.handle, packet(3).word64(2));
    EXPECT_NE(packet(3).completion_signal().handle, 0U);  // the epoch
  }
  EXPECT_NE(hsa.copies()[0].completion.handle, hsa.copies()[2].completion.handle);
}

TEST_F(BatchSubmission, with_derived_fences_starts_copies_by_the_packets_and_copies_that_they_wait_for) {
  Queue queue(hsa.agent());
  const CopiesAfterCopies recorded(hsa.agent(), info);
  const Batch& batch = recorded.batch;
  queue.submit(batch);
  queue.submit(batch);
  ASSERT_EQ(hsa.copies().size(), 6U);
  for (std::size_t submission = 0; submission < 2; ++submission) {
    const Packet& dispatch = slot(hsa, 2 * submission);
    const Packet& end = slot(hsa, 2 * submission + 1);
    const auto* copies = &hsa.copies()[3 * submission];
    EXPECT_EQ(copies[0].depends_on.at(0).handle, dispatch.completion_signal().handle);
    EXPECT_EQ(copies[1].depends_on.at(0).handle, dispatch.completion_signal().handle);
    ASSERT_EQ(copies[2].depends_on.size(), 3U);
    EXPECT_EQ(copies[2].depends_on[1].handle, copies[0].completion.handle);
    EXPECT_EQ(copies[2].depends_on[2].handle, copies[1].completion.handle);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(end.word64(2 + 2 * i), copies[i].completion.handle);
  }
  EXPECT_NE(hsa.copies()[0].completion.handle, hsa.copies()[3].completion.handle);
}

TEST_F(BatchSubmission, waits_itself_for_copies_beyond_those_that_hsa_lets_a_copy_wait_for) {
  hsa.limit_copy_dependencies(2);
  Queue queue(hsa.agent());
  const CopiesAfterCopies recorded(hsa.agent(), info);
  const int waits = hsa.calls("signal_wait_scacquire");
  auto submitted = std::async(std::launch::async, [&] { queue.submit(recorded.batch); });
  while (hsa.calls("signal_wait_scacquire") == waits &&
         submitted.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    std::this_thread::yield();
  EXPECT_EQ(hsa.started_copies(), 2U);  // the third one waits for the packet and the first copy, and then the second
  hsa.end_copy(1);
  submitted.get();
  ASSERT_EQ(hsa.copies().size(), 3U);
  ASSERT_EQ(hsa.copies()[2].depends_on.size(), 2U);
  EXPECT_EQ(hsa.copies()[2].depends_on[1].handle, hsa.copies()[0].completion.handle);
}

TEST_F(BatchSubmission, whose_copy_cannot_start_fails_the_queue_so_that_nobody_takes_its_results) {
  Queue queue(hsa.agent());
  DeviceBuffer<unsigned> data(hsa.agent(), 16);
  PinnedBuffer<unsigned> host(hsa.agent(), 16);
  Batch batch(hsa.agent());
  batch.copy(data, host);
  record(batch, 1);
  hsa.fail("amd_memory_async_copy", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { queue.submit(batch); }), HasSubstr("hsa_amd_memory_async_copy"));
  EXPECT_THAT(error_of([&] { queue.barrier(); }), HasSubstr("hsa_amd_memory_async_copy"));
}

// An image of an earlier recording is freed while the submission waits for room; the submission must not use it.
TEST_F(BatchSubmission, of_what_was_recorded_anew_waits_for_room_and_takes_its_own_packets) {
  Queue queue(hsa.agent(), {.size = 64});
  MockHsa::MadeQueue& made = hsa.queue();
  Batch batch(hsa.agent());
  const auto record_parametrized = [&](std::uint64_t object) {
    info.object = object;
    batch.clear();
    const auto number = batch.parameter<unsigned>();
    batch.dispatch(TestKernel(info), grid(128).group(64), nullptr, number);
    return number;
  };
  queue.submit(batch, set(record_parametrized(0x1000), 7U));
  MockHsa::complete(made);
  const auto number = record_parametrized(0x2000);
  fill_ring(queue, encode(BarrierAnd{}));
  std::vector<std::uint64_t> objects;
  made.on_packet = [&](const Packet& packet) {
    if (packet.header().type == PacketType::kernel_dispatch) objects.push_back(packet.word64(8));
  };
  {
    const std::jthread command_processor([&](const std::stop_token& stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      while (!stop.stop_requested()) MockHsa::complete(made);
    });
    queue.submit(batch, set(number, 8U)).wait();
  }
  EXPECT_THAT(objects, ::testing::ElementsAre(0x2000));
}

// Packets that wait for the copy on the device then never go on.
TEST_F(BatchSubmission, whose_copy_fails_while_it_runs_fails_the_queue_for_everybody_who_waits) {
  static constexpr WaitOptions limit{.timeout = std::chrono::minutes(10)};
  const auto failure = HasSubstr("a copy of a batch failed while it ran: HSA set its completion signal to -1");
  PinnedBuffer<unsigned> from(hsa.agent(), 16);
  PinnedBuffer<unsigned> to(hsa.agent(), 16);
  Batch batch(hsa.agent());
  batch.copy(to, from);
  const auto expect_failure = [&](const auto& wait) {
    Queue queue(hsa.agent(), {.size = 64});
    hsa.end_copies({-1});
    const Submission submission = queue.submit(batch);
    EXPECT_THAT(error_of([&] { wait(queue, submission); }), failure);
    EXPECT_THAT(error_of([&] { queue.barrier(); }), failure);
  };
  for (const auto policy : {WaitPolicy::spin, WaitPolicy::block})
    expect_failure(
        [&](Queue&, const Submission& submission) { submission.wait({.policy = policy, .timeout = limit.timeout}); });
  expect_failure([](Queue&, const Submission& submission) { static_cast<void>(submission.done()); });
  expect_failure([](Queue&, const Submission& submission) { wait_all(std::span(&submission, 1), limit); });
  expect_failure([&](Queue& queue, const Submission&) {
    while (true) queue.submit(batch);  // until there is no room
  });
  expect_failure([&](Queue& queue, const Submission&) {
    Signal done(hsa.agent(), 1);
    queue.submit(encode(BarrierAnd{.completion_signal = done.handle()}));
    done.wait(limit);
  });
  expect_failure([&](Queue&, const Submission& submission) {
    Queue follower(hsa.agent(), {.size = 64});
    follower.start_after(submission);
    follower.wait(limit);
  });
  expect_failure([](Queue&, const Submission& submission) {
    std::promise<std::string> called;
    submission.on_complete([&](const Error* error) { called.set_value(error == nullptr ? "" : error->what()); });
    throw Error(called.get_future().get());
  });
}

TEST_F(BatchSubmission, of_one_batch_from_several_threads_completes) {
  constexpr unsigned threads = 4;
  info.needs_queue = true;
  std::vector<Queue> queues;
  std::vector<MockHsa::MadeQueue*> made;
  queues.reserve(threads / 2);
  made.reserve(threads / 2);
  for (unsigned i = 0; i < threads / 2; ++i) {
    queues.emplace_back(hsa.agent());
    made.push_back(&hsa.queue());
  }
  Batch batch(hsa.agent());
  record(batch, 3);
  std::atomic<unsigned> running = threads;
  std::vector<std::jthread> producers;
  producers.reserve(threads);
  for (unsigned i = 0; i < threads; ++i)
    producers.emplace_back([&, i] {
      for (int k = 0; k < 300; ++k) queues[i % 2].submit(batch);
      queues[i % 2].wait();
      --running;
    });
  while (running > 0)
    for (MockHsa::MadeQueue* queue : made) MockHsa::complete(*queue);
  for (MockHsa::MadeQueue* queue : made) EXPECT_GT(queue->amd.read_dispatch_id, 2 * 300 * 3U);
}

TEST_F(BatchSubmission, for_another_agents_queue_is_an_error) {
  detail::AgentState other = {};
  other.api = &hsa.api();
  other.pools = hsa.agent().pools();
  Queue queue(hsa.agent());
  Batch batch{Agent(other)};
  EXPECT_THAT(error_of([&] { queue.submit(batch); }), HasSubstr("another agent"));
}

TEST_F(BatchSubmission, gives_kernels_that_ask_for_it_the_queue_they_run_on) {
  info.needs_queue = true;
  info.kernarg_size = 24;
  info.implicit_arguments = {{16, 8, detail::ImplicitValue::queue_ptr}};
  Batch batch(hsa.agent());
  record(batch, 1);
  const auto queue_argument = [&] { return *reinterpret_cast<const std::uint64_t*>(kernargs(slot(hsa, 0)) + 16); };
  Queue first(hsa.agent());
  first.submit(batch);
  EXPECT_EQ(queue_argument(), reinterpret_cast<std::uintptr_t>(first.handle()));
  Queue second(hsa.agent());
  second.submit(batch);
  EXPECT_EQ(queue_argument(), reinterpret_cast<std::uintptr_t>(second.handle()));
}

TEST_F(BatchSubmission, records_nothing_that_is_wrong) {
  Batch batch(hsa.agent());
  const TestKernel kernel(info);
  EXPECT_THAT(error_of([&] { batch.dispatch(kernel, grid(4096).group(2048), nullptr, 1U); }), HasSubstr("2048"));
  DeviceBuffer<unsigned> data(hsa.agent(), 16);
  PinnedBuffer<unsigned> host(hsa.agent(), 15);
  EXPECT_THAT(error_of([&] { batch.copy(data, host); }), HasSubstr("60 bytes of pinned memory to 64 bytes of device"));
  EXPECT_THAT(error_of([&] { batch.copy(data.subspan(0, 8), data.subspan(7, 8)); }), HasSubstr("overlap"));
  EXPECT_THAT(error_of([&] { batch.copy(data.subspan(9, 8), data.subspan(0, 8)); }), HasSubstr("not inside"));
  EXPECT_EQ(batch.dispatches() + batch.copies(), 0U);
}

// The last check holds for a dispatch that is the same, and for no other.
TEST_F(BatchSubmission, records_nothing_that_is_wrong_behind_what_is_right) {
  using WithLocalMemory = Kernel<void(LocalMemory, unsigned)>;
  KernelInfo small = kernel_info(0x2000);
  small.max_group_size = 64;
  Batch batch(hsa.agent());
  const TestKernel kernel(info);
  const WithLocalMemory with_local_memory(info);
  const Grid right = grid(4096).group(256);
  const auto record_right_ones = [&] {
    batch.dispatch(kernel, right, nullptr, 1U);
    batch.dispatch(kernel, right, nullptr, 2U);
    batch.dispatch(with_local_memory, right, LocalMemory{1024}, 3U);
  };
  record_right_ones();
  EXPECT_NE(error_of([&] { batch.dispatch(with_local_memory, right, LocalMemory{65536}, 4U); }), "");
  EXPECT_NE(error_of([&] { batch.dispatch(kernel, grid(4096).group(2048), nullptr, 4U); }), "");
  EXPECT_NE(error_of([&] { batch.dispatch(kernel, Grid(right).dynamic_lds(65536), nullptr, 4U); }), "");
  EXPECT_NE(error_of([&] { batch.dispatch(TestKernel(small), right, nullptr, 4U); }), "");
  EXPECT_EQ(batch.dispatches(), 3U);
  batch.clear();
  record_right_ones();
  EXPECT_EQ(batch.dispatches(), 3U);
}

TEST_F(BatchSubmission, of_a_single_dispatch_takes_kernargs_signal_and_fences_from_its_caller) {
  Queue queue(hsa.agent());
  const Signal done(hsa.agent(), 1);
  const KernargBlock block(hsa.agent(), 64);
  queue.dispatch(TestKernel(info), grid(64).group(64),
                 {.ordering = everything, .completion = &done, .kernargs = &block}, nullptr, 5U);
  EXPECT_EQ(slot(hsa, 0).word64(10), block.address());
  EXPECT_EQ(slot(hsa, 0).completion_signal().handle, done.handle().handle);
  EXPECT_EQ(*reinterpret_cast<const unsigned*>(block.bytes().data() + 8), 5U);
  MockHsa::complete(hsa.queue());
  done.wait({.timeout = std::chrono::minutes(10)});

  const KernargBlock small(hsa.agent(), 8);
  EXPECT_THAT(
      error_of([&] { queue.dispatch(TestKernel(info), grid(64).group(64), {.kernargs = &small}, nullptr, 5U); }),
      HasSubstr("a block of 8 bytes is too small"));
}

}  // namespace
}  // namespace fastdispatch
