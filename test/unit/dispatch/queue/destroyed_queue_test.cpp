// What a queue handed out, used after the queue was destroyed.
#include <array>
#include <optional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/packets.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/streams.hpp"
#include "mock_hsa.hpp"
#include "number_kernel.hpp"

namespace fastdispatch::test {
namespace {

using testing::HasSubstr;

class DestroyedQueue : public testing::Test {
protected:
  [[nodiscard]] Submission submission() {
    Queue queue(hsa.agent());
    return queue.barrier();
  }
  template <class Use>
  static void expect_error(Use use) {
    EXPECT_THAT(error_of(use), HasSubstr("a queue that was destroyed"));
  }

  MockHsa hsa;
  const Kernel<void(unsigned)> kernel = number_kernel();
};

TEST_F(DestroyedQueue, leaves_submissions_that_throw) {
  const Submission late = submission();
  Queue other(hsa.agent());
  const std::array submissions{other.barrier(), late};
  expect_error([&] { late.wait(); });
  expect_error([&] { static_cast<void>(late.done()); });
  expect_error([&] { late.on_complete([](const Error*) {}); });
  expect_error([&] { static_cast<void>(wait_any(submissions)); });
  expect_error([&] { wait_all(submissions); });
  expect_error([&] { other.start_after(late); });
  EXPECT_EQ(late.epoch(), 1U);
}

TEST_F(DestroyedQueue, of_streams_leaves_submissions_that_throw) {
  std::optional<Submission> late;
  {
    Streams streams(hsa.agent());
    Batch batch(hsa.agent());
    batch.dispatch(kernel, grid(64).group(64), 1U);
    late = streams.submit(batch);
  }
  expect_error([&] { late->wait(); });
}

TEST_F(DestroyedQueue, is_not_taken_for_a_later_queue) {
  const Submission first = submission();
  const Submission second = submission();
  Queue queue(hsa.agent());
  const Submission third = queue.barrier();
  MockHsa::complete(hsa.queue());
  EXPECT_TRUE(third.done());
  expect_error([&] { static_cast<void>(first.done()); });
  expect_error([&] { static_cast<void>(second.done()); });
}

TEST_F(DestroyedQueue, leaves_slots_that_no_other_queue_takes) {
  std::optional<Queue> queue(std::in_place, hsa.agent());
  KernargSlot submitted = queue->acquire_kernargs(64);
  const KernargSlot dropped = queue->acquire_kernargs(64);
  queue.emplace(hsa.agent());  // its state may lie where that of the first was
  EXPECT_THAT(error_of([&] { queue->submit(encode(BarrierAnd{}), std::move(submitted)); }), HasSubstr("another queue"));
}

}  // namespace
}  // namespace fastdispatch::test
