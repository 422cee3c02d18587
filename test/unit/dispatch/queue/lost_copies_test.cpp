// Copies of batches whose queue fails or is destroyed before it gets to them. HSA was given them and keeps them: while
// one waits for a signal, later copies of the process wait behind it.
#include <optional>

#include <gtest/gtest.h>

#include "dispatch/hsa/amd_signal.hpp"
#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/streams.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

class LostCopies : public testing::Test {
protected:
  LostCopies() {
    batch.copy(to, from);
    batch.copy(from, to);
  }
  [[nodiscard]] bool may_start(std::size_t copy) const {
    for (const hsa_signal_t signal : hsa.copies()[copy].depends_on)
      if (detail::load_acquire(signal) != 0) return false;
    return true;
  }

  MockHsa hsa;
  PinnedBuffer<unsigned> from{hsa.agent(), 16};
  PinnedBuffer<unsigned> to{hsa.agent(), 16};
  Batch batch{hsa.agent()};
};

TEST_F(LostCopies, start_when_their_queue_is_destroyed) {
  std::optional<Queue> queue(hsa.agent());
  queue->submit(batch);
  ASSERT_EQ(hsa.copies().size(), 2U);
  EXPECT_FALSE(may_start(0));
  queue.reset();
  EXPECT_TRUE(may_start(0));
  EXPECT_TRUE(hsa.copies()[1].ended) << "the second one waits for the first one";
}

TEST_F(LostCopies, start_when_their_queue_fails_although_a_packet_still_completes) {
  Queue queue(hsa.agent());
  const Submission submission = queue.submit(batch);
  MockHsa::report_error(hsa.queue(), HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_TRUE(may_start(0));
  EXPECT_FALSE(error_of([&] { submission.wait(); }).empty());
  EXPECT_TRUE(hsa.copies()[1].ended) << "before the waiter is told, and frees the memory";
}

TEST_F(LostCopies, are_waited_for_by_their_queues_destructor_where_their_packet_came_late) {
  std::optional<Queue> queue(hsa.agent());
  queue->submit(batch);
  queue->submit(batch);
  ASSERT_EQ(hsa.copies().size(), 4U);
  MockHsa::report_error(hsa.queue(), HSA_STATUS_ERROR_EXCEPTION);
  // As when the copy engine has not looked yet, and the packet completes all the same.
  const hsa_signal_t start = hsa.copies()[2].depends_on.front();
  hsa.reopen_copy(2);
  const_cast<std::int64_t&>(detail::amd_signal(start).value) = -1;
  queue.reset();
  EXPECT_TRUE(hsa.copies()[2].ended);
}

TEST_F(LostCopies, behind_one_that_failed_start) {
  Queue queue(hsa.agent());
  hsa.end_copies({-1});
  const Submission submission = queue.submit(batch);
  EXPECT_FALSE(may_start(1));
  EXPECT_FALSE(error_of([&] { submission.wait(); }).empty());
  EXPECT_TRUE(may_start(1));
}

TEST_F(LostCopies, take_signals_without_interrupts) {
  Queue queue(hsa.agent());
  const int before = hsa.calls("signal_create");
  queue.submit(batch);
  EXPECT_EQ(hsa.calls("signal_create"), before);
  EXPECT_EQ(hsa.calls("amd_signal_create"), 3) << "a packet's and two copies'";
}

}  // namespace
}  // namespace fastdispatch::test
