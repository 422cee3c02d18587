#include "dispatch/queue/peer_waits.hpp"

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/streams.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

class QueueWaits : public testing::Test {
protected:
  Queue make_queue() { return Queue(hsa.agent(), {.producers = Producers::single}); }
  static std::uint64_t packets(const MockHsa::MadeQueue& queue) { return queue.amd.write_dispatch_id; }

  MockHsa hsa;
  Queue peer = make_queue();
  MockHsa::MadeQueue& peer_made = hsa.queue();
  Queue queue = make_queue();
  MockHsa::MadeQueue& made = hsa.queue();
};

TEST_F(QueueWaits, are_barriers_on_the_other_queues_epoch) {
  const Submission submission = peer.barrier();
  queue.start_after(submission);
  ASSERT_EQ(packets(made), 1U);
  const Packet expected = encode(BarrierValue{.ordering = {BarrierBit::clear, FenceScope::system, FenceScope::none},
                                              .signal = peer_made.ring[0].completion_signal(),
                                              .condition = HSA_SIGNAL_CONDITION_LT,
                                              .value = detail::EpochSignal::start});
  EXPECT_EQ(made.ring[0], expected);
}

// On a GPU whose firmware does not know barrier-value packets.
class EdgeWaits : public testing::Test {
protected:
  EdgeWaits() { hsa.properties().barrier_value_packets = false; }
  static std::uint64_t packets(const MockHsa::MadeQueue& queue) { return queue.amd.write_dispatch_id; }
  static hsa_signal_value_t value(std::uint64_t signal) { return detail::load_acquire({signal}); }

  MockHsa hsa;
};

TEST_F(EdgeWaits, are_barriers_on_a_signal_that_a_packet_of_the_other_queue_completes) {
  Queue peer(hsa.agent());
  MockHsa::MadeQueue& peer_made = hsa.queue();
  Queue queue(hsa.agent());
  MockHsa::MadeQueue& made = hsa.queue();
  queue.start_after(peer.barrier());
  ASSERT_EQ(packets(peer_made), 2U);
  ASSERT_EQ(packets(made), 1U);
  const hsa_signal_t edge = peer_made.ring[1].completion_signal();
  EXPECT_EQ(peer_made.ring[1], encode(BarrierAnd{.ordering = {BarrierBit::set, FenceScope::none, FenceScope::none},
                                                 .completion_signal = edge}));
  Packet expected =
      encode(BarrierAnd{.ordering = {BarrierBit::clear, FenceScope::system, FenceScope::none}, .signals = {edge}});
  expected.set_completion_signal(made.ring[0].completion_signal());
  EXPECT_EQ(made.ring[0], expected);
  EXPECT_EQ(value(edge.handle), 1);
  MockHsa::complete(peer_made);
  EXPECT_EQ(value(edge.handle), 0);
}

TEST_F(EdgeWaits, are_ended_by_the_host_where_a_packet_would_complete_too_late) {
  Queue peer(hsa.agent());
  MockHsa::MadeQueue& peer_made = hsa.queue();
  Queue queue(hsa.agent());
  MockHsa::MadeQueue& made = hsa.queue();
  const Submission first = peer.barrier();
  const Signal never(hsa.agent());
  peer.submit(encode(BarrierAnd{.signals = {never.handle()}}));
  queue.start_after(first);
  EXPECT_EQ(packets(peer_made), 2U) << "a packet would wait for the signal, too";
  ASSERT_EQ(packets(made), 1U);
  MockHsa::complete(peer_made, 1);
  peer.wait_for_callbacks();
  EXPECT_EQ(value(made.ring[0].word64(2)), 0);
}

TEST_F(EdgeWaits, leave_a_queue_alone_whose_producer_may_be_another_thread) {
  Queue peer(hsa.agent(), {.producers = Producers::single});
  MockHsa::MadeQueue& peer_made = hsa.queue();
  Queue queue(hsa.agent());
  queue.start_after(peer.barrier());
  EXPECT_EQ(packets(peer_made), 1U);
  MockHsa::complete(peer_made);
  peer.wait_for_callbacks();
  EXPECT_EQ(value(hsa.queue().ring[0].word64(2)), 0);
}

TEST_F(EdgeWaits, use_a_signal_again_when_both_queues_are_done_with_it) {
  Queue peer(hsa.agent());
  MockHsa::MadeQueue& peer_made = hsa.queue();
  Queue queue(hsa.agent());
  MockHsa::MadeQueue& made = hsa.queue();
  for (int i = 0; i < 3; ++i) {
    queue.start_after(peer.barrier());
    queue.barrier();
    MockHsa::complete(peer_made);
    MockHsa::complete(made);
  }
  EXPECT_EQ(hsa.calls("amd_signal_create"), 1);
  queue.start_after(peer.barrier());
  queue.start_after(peer.barrier());
  EXPECT_EQ(hsa.calls("amd_signal_create"), 2);
}

TEST_F(EdgeWaits, fail_with_the_other_queue) {
  Queue peer(hsa.agent());
  MockHsa::MadeQueue& peer_made = hsa.queue();
  Queue queue(hsa.agent());
  queue.start_after(peer.barrier());
  const Submission waiting = queue.barrier();
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_FALSE(error_of([&] { waiting.wait(); }).empty());
}

TEST_F(EdgeWaits, outlive_the_queue_that_waited) {
  Queue peer(hsa.agent());
  MockHsa::MadeQueue& peer_made = hsa.queue();
  {
    Queue queue(hsa.agent());
    queue.start_after(peer.barrier());
  }
  MockHsa::complete(peer_made);  // its signal is still there
  EXPECT_EQ(value(peer_made.ring[1].completion_signal().handle), 0);
}

TEST_F(EdgeWaits, are_all_that_streams_use) {
  Streams streams(hsa.agent(), {.queues = 2});
  PinnedBuffer<unsigned> from(hsa.agent(), 16);
  PinnedBuffer<unsigned> to(hsa.agent(), 16);
  Batch batch(hsa.agent());
  batch.copy(to, from);
  Queue peer(hsa.agent());
  streams.start_after(peer.barrier());
  streams.submit(batch);
  for (const MockHsa::MadeQueue* made : hsa.queues())
    for (std::uint64_t i = 0; i < made->amd.write_dispatch_id; ++i)
      EXPECT_NE(made->ring[i].header().type, PacketType::vendor_specific);
}

TEST_F(EdgeWaits, are_what_the_user_is_told_to_use) {
  Queue queue(hsa.agent());
  const Signal signal(hsa.agent());
  Packet packet = encode(BarrierValue{.signal = signal.handle()});
  EXPECT_THAT(error_of([&] { queue.submit(packet); }), testing::HasSubstr("Queue::start_after"));
  packet.words[0] |= 1U << 24U;  // reserved: the firmware looks at the format before it
  EXPECT_THAT(error_of([&] { queue.submit(packet); }), testing::HasSubstr("Queue::start_after"));
  EXPECT_EQ(packets(hsa.queue()), 0U);
}

TEST_F(QueueWaits, that_an_earlier_one_covers_are_left_out) {
  const Submission first = peer.barrier();
  const Submission second = peer.barrier();
  queue.start_after(second);
  queue.start_after(second);
  queue.start_after(first);
  EXPECT_EQ(packets(made), 1U);
  queue.start_after(peer.barrier());
  EXPECT_EQ(packets(made), 2U);
}

TEST_F(QueueWaits, for_what_completed_are_left_out) {
  const Submission submission = peer.barrier();
  MockHsa::complete(peer_made);
  queue.start_after(submission);
  EXPECT_EQ(packets(made), 0U);
}

TEST_F(QueueWaits, let_a_barrier_follow_packets_without_the_epochs_signal) {
  const Submission submission = peer.submit(encode(BarrierAnd{.ordering = {.barrier = BarrierBit::clear}}));
  queue.start_after(submission);
  EXPECT_EQ(packets(peer_made), 2U);
  EXPECT_EQ(packets(made), 1U);
}

TEST_F(QueueWaits, for_a_queue_do_not_cover_one_that_takes_its_place) {
  std::optional<Queue> other = make_queue();
  queue.start_after(other->barrier());
  MockHsa::complete(hsa.queue());
  MockHsa::complete(made);
  other.reset();
  other = make_queue();  // likely at the same address
  queue.start_after(other->barrier());
  EXPECT_EQ(packets(made), 2U);
}

TEST_F(QueueWaits, of_several_threads_are_one) {
  const Submission submission = peer.barrier();
  Queue shared(hsa.agent(), {.producers = Producers::multiple});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { shared.start_after(submission); });
  }
  EXPECT_EQ(packets(hsa.queue()), 1U);
}

TEST_F(QueueWaits, for_a_queue_that_failed_are_errors) {
  const Submission submission = peer.barrier();
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_FALSE(error_of([&] { queue.start_after(submission); }).empty());
  EXPECT_EQ(packets(made), 0U);
}

TEST_F(QueueWaits, fail_with_the_other_queue) {
  const Submission submission = peer.barrier();
  queue.start_after(submission);
  const Submission waiting = queue.barrier();
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  const std::string reason = error_of([&] { submission.wait(); });
  EXPECT_FALSE(reason.empty());
  EXPECT_EQ(error_of([&] { waiting.wait(); }), reason);
  EXPECT_EQ(error_of([&] { queue.barrier(); }), reason);
}

TEST_F(QueueWaits, fail_with_a_queue_behind_the_other_one) {
  Queue last = make_queue();
  queue.start_after(peer.barrier());
  last.start_after(queue.barrier());
  const Submission waiting = last.barrier();
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_FALSE(error_of([&] { waiting.wait(); }).empty());
}

TEST_F(QueueWaits, of_two_queues_for_one_another_fail_together) {
  queue.start_after(peer.barrier());
  peer.start_after(queue.barrier());
  const Submission waiting = queue.barrier();
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_FALSE(error_of([&] { waiting.wait(); }).empty());
}

TEST_F(QueueWaits, that_are_over_do_not_fail_with_the_other_queue) {
  queue.start_after(peer.barrier());
  MockHsa::complete(peer_made);
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  const Submission submission = queue.barrier();
  MockHsa::complete(made);
  EXPECT_NO_THROW(submission.wait());
}

TEST_F(QueueWaits, fail_with_a_queue_of_streams_and_let_the_others_fail) {
  Streams streams(hsa.agent(), {.queues = 2});
  PinnedBuffer<unsigned> from(hsa.agent(), 16);
  PinnedBuffer<unsigned> to(hsa.agent(), 16);
  Batch batch(hsa.agent());
  batch.copy(to, from);
  streams.start_after(peer.barrier());
  const Submission waiting = streams.submit(batch);
  queue.start_after(waiting);
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_FALSE(error_of([&] { streams.wait(); }).empty());
  EXPECT_FALSE(error_of([&] { queue.wait(); }).empty());
}

TEST_F(QueueWaits, for_a_queue_that_is_destroyed_before_it_completes_fail) {
  std::optional<Queue> other = make_queue();
  queue.start_after(other->barrier());
  const Submission waiting = queue.barrier();
  other.reset();
  EXPECT_NE(error_of([&] { waiting.wait(); }).find("a queue was destroyed before a submission completed"),
            std::string::npos);
}

TEST_F(QueueWaits, for_a_queue_that_is_destroyed_keep_its_signal_until_their_packet_was_taken) {
  std::optional<Queue> other = make_queue();
  queue.start_after(other->barrier());
  const Submission waiting = queue.barrier();
  MockHsa::complete(hsa.queue());
  const std::size_t signals = hsa.signals();
  other.reset();
  MockHsa::complete(made);
  EXPECT_NO_THROW(waiting.wait());
  EXPECT_EQ(hsa.signals(), signals);
  queue.start_after(peer.barrier());  // forgets queues that are gone
  EXPECT_EQ(hsa.signals(), signals - 1);
}

// The failure comes before, while or after the wait is submitted.
TEST_F(QueueWaits, that_begin_while_the_other_queue_fails_fail_too) {
  for (int round = 0; round < 50; ++round) {
    Queue other = make_queue();
    MockHsa::MadeQueue& other_made = hsa.queue();
    Queue follower = make_queue();
    const Submission submission = other.barrier();
    {
      const std::jthread failing([&] { MockHsa::report_error(other_made, HSA_STATUS_ERROR_EXCEPTION); });
      try {
        follower.start_after(submission);
      } catch (const Error&) {
        continue;  // it was told at once
      }
    }
    EXPECT_FALSE(error_of([&] { follower.barrier(); }).empty());
  }
}

TEST_F(QueueWaits, survive_a_follower_that_is_destroyed_first) {
  std::optional<Queue> follower = make_queue();
  follower->start_after(peer.barrier());
  follower.reset();
  MockHsa::report_error(peer_made, HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_FALSE(error_of([&] { peer.wait(); }).empty());
}

}  // namespace
}  // namespace fastdispatch::test
