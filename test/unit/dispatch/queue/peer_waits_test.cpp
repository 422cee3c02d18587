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
