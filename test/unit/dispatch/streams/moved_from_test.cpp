// Handles that were moved from: each use is an error that says so, and assigning to them makes them good again.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/packets.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/streams.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using testing::HasSubstr;

// NOLINTBEGIN(bugprone-use-after-move)
class MovedFrom : public testing::Test {
protected:
  template <class Use>
  static void expect_error(const std::string& what, Use use) {
    EXPECT_THAT(error_of(use), HasSubstr(what + " that was moved from"));
  }

  MockHsa hsa;
};

TEST_F(MovedFrom, queues_throw) {
  Queue queue(hsa.agent());
  const Queue owner = std::move(queue);
  const Packet packet = encode(BarrierAnd{});
  expect_error("a queue", [&] { queue.submit(packet); });
  expect_error("a queue", [&] { queue.submit(Batch(hsa.agent())); });
  expect_error("a queue", [&] { queue.barrier(); });
  expect_error("a queue", [&] { queue.wait(); });
  expect_error("a queue", [&] { static_cast<void>(queue.acquire_kernargs(64)); });
  expect_error("a queue", [&] { static_cast<void>(queue.agent()); });
  expect_error("a queue", [&] { static_cast<void>(queue.size()); });
  expect_error("a queue", [&] { static_cast<void>(queue.handle()); });
}

TEST_F(MovedFrom, queues_leave_their_submissions_good) {
  Queue queue(hsa.agent());
  const Submission submission = queue.barrier();
  const Queue owner = std::move(queue);
  MockHsa::complete(hsa.queue());
  EXPECT_TRUE(submission.done());
}

TEST_F(MovedFrom, queues_may_be_assigned_to) {
  Queue queue(hsa.agent(), {.size = 64});
  const Queue owner = std::move(queue);
  queue = Queue(hsa.agent(), {.size = 128});
  EXPECT_EQ(queue.size(), 128U);
}

TEST_F(MovedFrom, batches_throw) {
  Queue queue(hsa.agent());
  Streams streams(hsa.agent(), {.queues = 2});
  Batch batch(hsa.agent());
  const Batch owner = std::move(batch);
  expect_error("a batch", [&] { queue.submit(batch); });
  expect_error("a batch", [&] { streams.submit(batch); });
  expect_error("a batch", [&] { static_cast<void>(batch.parameter<int>()); });
  expect_error("a batch", [&] { batch.clear(); });
  expect_error("a batch", [&] { static_cast<void>(batch.dispatches()); });
  expect_error("a batch", [&] { static_cast<void>(batch.agent()); });
}

TEST_F(MovedFrom, streams_throw) {
  Streams streams(hsa.agent(), {.queues = 2});
  const Streams owner = std::move(streams);
  expect_error("a Streams", [&] { streams.submit(Batch(hsa.agent())); });
  expect_error("a Streams", [&] { streams.wait(); });
  expect_error("a Streams", [&] { static_cast<void>(streams.agent()); });
  expect_error("a Streams", [&] { static_cast<void>(streams.queues()); });
}

TEST_F(MovedFrom, signals_throw) {
  Signal signal(hsa.agent(), 0);
  const Signal owner = std::move(signal);
  expect_error("a signal", [&] { static_cast<void>(signal.load()); });
  expect_error("a signal", [&] { signal.store(1); });
  expect_error("a signal", [&] { signal.wait(); });
  expect_error("a signal", [&] { static_cast<void>(signal.handle()); });
}

TEST_F(MovedFrom, pooled_signals_throw) {
  SignalPool pool(hsa.agent());
  PooledSignal signal = pool.acquire();
  const PooledSignal owner = std::move(signal);
  expect_error("a pooled signal", [&] { signal->store(1); });
}
// NOLINTEND(bugprone-use-after-move)

}  // namespace
}  // namespace fastdispatch::test
