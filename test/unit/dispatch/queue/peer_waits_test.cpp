#include "dispatch/queue/peer_waits.hpp"

#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/kernel.hpp"
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
                                              .value = 0});
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

}  // namespace
}  // namespace fastdispatch::test
