#include "fastdispatch/streams.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using testing::HasSubstr;

class StreamsOfMock : public testing::Test {
protected:
  // Chains of dispatches, each on a buffer of its own.
  void record_chains(Batch& batch, std::size_t chains = 2, int length = 4) {
    for (int i = 0; i < length; ++i)
      for (std::size_t chain = 0; chain < chains; ++chain)
        batch.dispatch(kernel, grid(64).group(64), buffers[chain], 1U);
  }
  Batch independent_chains(std::size_t chains = 2) {
    Batch batch(hsa.agent(), {.fences = Fences::derived});
    record_chains(batch, chains);
    return batch;
  }
  // A chain of four on each of these buffers; the first goes to the first queue, and so on.
  Batch chains_of(const std::vector<std::size_t>& numbers) {
    Batch batch(hsa.agent(), {.fences = Fences::derived});
    for (const std::size_t number : numbers)
      for (int i = 0; i < 4; ++i) batch.dispatch(kernel, grid(64).group(64), buffers[number], 1U);
    return batch;
  }
  static std::uint64_t packets(const MockHsa::MadeQueue* queue) { return queue->amd.write_dispatch_id; }
  // Plays the command processors of all queues. It ignores their waits for one another.
  void complete_all() {
    for (MockHsa::MadeQueue* queue : made) MockHsa::complete(*queue);
  }

  MockHsa hsa;
  const detail::KernelInfo info{.name = "kernel",
                                .object = 0x1000,
                                .kernarg_size = 12,
                                .max_group_size = 1024,
                                .max_group_segment_size = 65536,
                                .arguments = {{0, 8}, {8, 4}},
                                .implicit_arguments = {}};
  const Kernel<void(unsigned*, unsigned)> kernel{info};
  std::array<PinnedBuffer<unsigned>, 4> buffers{
      PinnedBuffer<unsigned>(hsa.agent(), 1), PinnedBuffer<unsigned>(hsa.agent(), 1),
      PinnedBuffer<unsigned>(hsa.agent(), 1), PinnedBuffer<unsigned>(hsa.agent(), 1)};
  Streams streams{hsa.agent(), {.queues = 2}};
  std::vector<MockHsa::MadeQueue*> made = hsa.queues();
};

TEST_F(StreamsOfMock, submit_chains_to_queues_of_their_own) {
  Batch batch = independent_chains();
  EXPECT_EQ(streams.layout(batch), (StreamsLayout{.queues = 2, .segments = 2, .waits = 2}));
  const Submission submission = streams.submit(batch);
  for (const MockHsa::MadeQueue* queue : made) EXPECT_EQ(packets(queue), 4U);
  // A third queue waits for both, and ends the submission.
  made = hsa.queues();
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(packets(made[2]), 3U);
  complete_all();
  EXPECT_TRUE(submission.done());
}

TEST_F(StreamsOfMock, submit_what_is_one_chain_to_one_queue_and_nothing_else) {
  Batch batch = independent_chains(1);
  const Submission submission = streams.submit(batch);
  EXPECT_EQ(hsa.queues().size(), 2U);
  EXPECT_EQ(packets(made[0]), 4U);
  EXPECT_EQ(packets(made[1]), 0U);
  MockHsa::complete(*made[0]);
  EXPECT_TRUE(submission.done());
}

TEST_F(StreamsOfMock, submit_a_batch_with_other_fences_to_one_queue_as_it_is) {
  Batch batch(hsa.agent(), {.fences = Fences::minimal});
  record_chains(batch);
  EXPECT_EQ(streams.layout(batch), (StreamsLayout{.queues = 1, .segments = 1, .waits = 0}));
  streams.submit(batch);
  EXPECT_EQ(packets(made[0]), 8U);
  EXPECT_EQ(packets(made[1]), 0U);
}

TEST_F(StreamsOfMock, replay_chains_without_waits_between_them) {
  Batch batch = independent_chains();
  for (int i = 0; i < 3; ++i) streams.submit(batch);
  for (const MockHsa::MadeQueue* queue : made) EXPECT_EQ(packets(queue), 12U);
}

TEST_F(StreamsOfMock, let_batches_without_a_common_buffer_not_wait_for_each_other) {
  Batch batch = independent_chains();
  Batch other = chains_of({2, 3});
  for (int i = 0; i < 3; ++i)
    for (Batch* submitted : {&batch, &other}) streams.submit(*submitted);
  for (const MockHsa::MadeQueue* queue : made) EXPECT_EQ(packets(queue), 24U);
}

TEST_F(StreamsOfMock, let_another_batch_wait_for_the_chains_that_it_goes_on_with_in_another_queue) {
  Batch batch = independent_chains();
  Batch other = chains_of({2, 0});
  streams.submit(batch);
  streams.submit(other);
  EXPECT_EQ(packets(made[0]), 8U);
  EXPECT_EQ(packets(made[1]), 9U) << "a wait between two runs of four";
  complete_all();
  streams.submit(batch);
  EXPECT_EQ(packets(made[0]), 12U) << "no wait for what has completed";
}

TEST_F(StreamsOfMock, let_a_batch_wait_for_one_before_the_one_before) {
  Batch first = independent_chains();
  Batch between = chains_of({2, 3});
  Batch last = chains_of({1, 0});
  for (Batch* batch : {&first, &between, &last}) streams.submit(*batch);
  for (const MockHsa::MadeQueue* queue : made) EXPECT_EQ(packets(queue), 13U) << "a wait in three runs of four";
}

TEST_F(StreamsOfMock, let_a_batch_with_other_fences_wait_for_all_before_and_hold_up_all_behind) {
  Batch batch = independent_chains();
  Batch unknown(hsa.agent(), {.fences = Fences::minimal});
  unknown.dispatch(kernel, grid(64).group(64), buffers[2], 1U);
  Batch other = chains_of({2, 3});
  streams.submit(batch);
  streams.submit(unknown);
  EXPECT_EQ(packets(made[0]), 6U) << "a wait and a dispatch";
  streams.submit(other);
  EXPECT_EQ(packets(made[0]), 10U);
  EXPECT_EQ(packets(made[1]), 9U) << "a wait between two runs of four";
}

TEST_F(StreamsOfMock, let_what_comes_behind_a_batch_that_is_gone_wait_for_its_end) {
  auto gone = std::make_unique<Batch>(independent_chains());
  streams.submit(*gone);
  gone.reset();
  Batch other = chains_of({2, 3});
  streams.submit(other);
  for (const MockHsa::MadeQueue* queue : made) EXPECT_EQ(packets(queue), 9U) << "a wait between two runs of four";
  Batch third = chains_of({0, 1});
  streams.submit(third);
  for (const MockHsa::MadeQueue* queue : made) EXPECT_EQ(packets(queue), 13U) << "that wait is enough";
}

// The waits that were worked out for a destroyed batch do not hold for a new batch at the same address.
TEST_F(StreamsOfMock, let_a_batch_wait_for_what_another_one_was_recorded_to_touch_last) {
  Batch changing(hsa.agent(), {.fences = Fences::derived});
  Batch other = chains_of({1, 0});
  for (int round = 0; round < 6; ++round) {
    changing.clear();
    const std::size_t first = round < 3 ? 2 : 0;
    for (const std::size_t number : {first, first + 1})
      for (int i = 0; i < 4; ++i) changing.dispatch(kernel, grid(64).group(64), buffers[number], 1U);
    const std::uint64_t before = packets(made[0]);
    streams.submit(changing);
    streams.submit(other);
    EXPECT_EQ(packets(made[0]) - before, round < 3 ? 8U : 9U) << round;
    made = hsa.queues();
    complete_all();
  }
}

// The submission ends in a queue that has no copies.
TEST_F(StreamsOfMock, fail_with_a_copy_that_fails_while_it_runs_in_whichever_queue) {
  constexpr WaitOptions limit{.timeout = std::chrono::minutes(10)};
  for (const std::size_t chain : {0, 1}) {
    Streams fresh(hsa.agent(), {.queues = 2});
    Batch batch(hsa.agent(), {.fences = Fences::derived});
    for (const std::size_t number : {0, 1}) {
      if (number == chain) batch.copy(buffers[number], buffers[2]);
      for (int i = 0; i < 4; ++i) batch.dispatch(kernel, grid(64).group(64), buffers[number], 1U);
    }
    EXPECT_EQ(fresh.layout(batch).queues, 2U);
    hsa.end_copies({-1});
    const Submission submission = fresh.submit(batch);
    EXPECT_THAT(error_of([&] { submission.wait(limit); }), HasSubstr("a copy of a batch failed while it ran"));
    EXPECT_THAT(error_of([&] { fresh.wait(limit); }), HasSubstr("a copy of a batch failed while it ran"));
  }
}

TEST_F(StreamsOfMock, write_each_segments_arguments_and_what_submissions_set) {
  Batch batch(hsa.agent(), {.fences = Fences::derived});
  const auto value = batch.parameter<unsigned>("value");
  for (unsigned i = 0; i < 4; ++i) {
    batch.dispatch(kernel, grid(64).group(64), buffers[0], i);
    batch.dispatch(kernel, grid(64).group(64), buffers[1], value);
  }
  const auto argument = [&](std::size_t queue, std::size_t packet) {
    const auto* block = reinterpret_cast<const std::byte*>(made[queue]->ring[packet].word64(10));  // NOLINT
    unsigned result = 0;
    std::memcpy(&result, block + 8, sizeof(result));
    return result;
  };
  EXPECT_THAT(error_of([&] { streams.submit(batch); }), HasSubstr("\"value\" is not set"));
  EXPECT_EQ(packets(made[0]), 0U);
  for (unsigned run = 0; run < 3; ++run) {
    streams.submit(batch, set(value, 70 + run));
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(argument(0, 4 * run + i), i);
      EXPECT_EQ(argument(1, 4 * run + i), 70 + run);
    }
  }
}

TEST_F(StreamsOfMock, spread_anew_what_was_recorded_on) {
  Batch batch = independent_chains();
  streams.submit(batch);
  batch.clear();
  record_chains(batch, 1);
  EXPECT_EQ(streams.layout(batch).queues, 1U);
  streams.submit(batch);
  EXPECT_EQ(packets(made[0]), 9U);
  EXPECT_EQ(packets(made[1]), 4U);
}

TEST_F(StreamsOfMock, of_an_empty_batch_end_behind_everything_before) {
  Batch batch = independent_chains();
  Batch empty(hsa.agent(), {.fences = Fences::derived});
  streams.submit(batch);
  const Submission submission = streams.submit(empty);
  EXPECT_EQ(packets(made[0]), 6U) << "a wait and a barrier";
  complete_all();
  EXPECT_TRUE(submission.done());
}

TEST_F(StreamsOfMock, wait_for_what_was_submitted_elsewhere) {
  Queue other(hsa.agent());
  streams.start_after(other.barrier());
  for (const MockHsa::MadeQueue* queue : made) EXPECT_EQ(packets(queue), 1U);
}

TEST_F(StreamsOfMock, fail_together) {
  Batch batch = independent_chains();
  const Submission submission = streams.submit(batch);
  Queue unrelated(hsa.agent());
  MockHsa::report_error(*made[1], HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_THAT(error_of([&] { submission.wait(); }), HasSubstr("trapped"));
  EXPECT_THAT(error_of([&] { static_cast<void>(submission.done()); }), HasSubstr("trapped"));
  EXPECT_THAT(error_of([&] { streams.wait(); }), HasSubstr("trapped"));
  EXPECT_THAT(error_of([&] { streams.submit(batch); }), HasSubstr("trapped"));
  std::string told;
  submission.on_complete([&](const Error* failure) { told = failure == nullptr ? "nothing" : failure->what(); });
  streams = Streams(hsa.agent(), {.queues = 1});  // the old ones are gone when all callbacks were called
  EXPECT_THAT(told, HasSubstr("trapped"));
  unrelated.barrier();
}

TEST_F(StreamsOfMock, fail_where_only_a_part_can_be_submitted) {
  Streams small(hsa.agent(), {.queues = 2, .queue_size = 64, .full_timeout = std::chrono::milliseconds(1)});
  Batch batch(hsa.agent(), {.fences = Fences::derived});
  record_chains(batch, 2, 40);
  made = hsa.queues();  // the last two are these
  const Submission submission = small.submit(batch);
  MockHsa::complete(*made[2]);  // it has room again, the other one has not
  ASSERT_EQ(packets(made[3]), 40U);
  EXPECT_THAT(error_of([&] { small.submit(batch); }), HasSubstr("no room"));
  EXPECT_THAT(error_of([&] { submission.wait(); }), HasSubstr("only a part of a batch could be submitted"));
  for (MockHsa::MadeQueue* queue : hsa.queues()) MockHsa::complete(*queue);
  submission.wait();
  EXPECT_THAT(error_of([&] { small.wait(); }), HasSubstr("only a part of a batch could be submitted"));
}

TEST_F(StreamsOfMock, tell_waiters_of_a_failure_before_their_first_submission) {
  MockHsa::report_error(*made[1], HSA_STATUS_ERROR_EXCEPTION);
  Batch batch = independent_chains();
  EXPECT_THAT(error_of([&] { streams.submit(batch); }), HasSubstr("trapped"));
  EXPECT_THAT(error_of([&] { streams.wait(); }), HasSubstr("trapped"));
}

TEST_F(StreamsOfMock, refuse_wrong_numbers_of_queues) {
  EXPECT_THAT(error_of([&] { const Streams no_queues(hsa.agent(), {.queues = 0}); }), HasSubstr("from 1 to 64"));
  EXPECT_THAT(error_of([&] { const Streams many(hsa.agent(), {.queues = 65}); }), HasSubstr("from 1 to 64"));
}

}  // namespace
}  // namespace fastdispatch::test
