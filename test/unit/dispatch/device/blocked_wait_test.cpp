// Which threads block in HSA while several wait for a queue.
#include <array>
#include <chrono>
#include <future>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dispatch/device/agent_state.hpp"
#include "fastdispatch/queue.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using std::chrono::milliseconds;

constexpr WaitOptions blocked{.policy = WaitPolicy::block, .timeout = std::chrono::minutes(10)};

class BlockedWaits : public testing::Test {
protected:
  BlockedWaits() {
    for (int i = 0; i != 4; ++i) submissions.push_back(queue.submit(encode(BarrierAnd{})));
  }
  ~BlockedWaits() override { MockHsa::complete(made); }

  /// The queue's epoch signal.
  [[nodiscard]] hsa_signal_t epochs() const { return made.ring.front().completion_signal(); }
  /// Returns when a thread waits for the queue in HSA, whatever for.
  void await_thread_in_hsa() const {
    while (hsa.most_waiters(epochs()) == 0) std::this_thread::yield();
  }
  /// Blocks until the submission completed, on a thread of its own.
  [[nodiscard]] static std::future<void> wait(const Submission& submission) {
    return std::async(std::launch::async, [submission] { submission.wait(blocked); });
  }
  [[nodiscard]] static std::future<void> wait_for_any(std::vector<Submission> of) {
    return std::async(std::launch::async, [of = std::move(of)] { static_cast<void>(wait_any(of, blocked)); });
  }
  [[nodiscard]] static bool is_waiting(const std::future<void>& wait) {
    return wait.wait_for(milliseconds(0)) == std::future_status::timeout;
  }

  MockHsa hsa;
  Queue queue{hsa.agent()};
  MockHsa::MadeQueue& made = hsa.queue();
  std::vector<Submission> submissions;
};

TEST_F(BlockedWaits, the_thread_in_hsa_makes_way_for_an_earlier_submission) {
  const auto last = wait(submissions[3]);
  await_thread_in_hsa();
  for (int i = 0; i != 3; ++i) {
    const int calls = hsa.calls("amd_signal_wait_any");
    auto earlier = wait(submissions[i]);
    while (hsa.calls("amd_signal_wait_any") == calls) std::this_thread::yield();
    MockHsa::complete(made, 1);
    earlier.get();
    EXPECT_TRUE(is_waiting(last));
  }
  EXPECT_EQ(hsa.most_waiters(epochs()), 1);
  MockHsa::complete(made);
}

TEST_F(BlockedWaits, one_thread_of_many_is_in_hsa_whatever_they_wait_for) {
  Queue other(hsa.agent());
  MockHsa::MadeQueue& other_made = hsa.queue();
  const Submission others = other.submit(encode(BarrierAnd{}));
  std::promise<void> called;
  std::vector<std::future<void>> waits;
  waits.push_back(wait(submissions[3]));
  await_thread_in_hsa();
  submissions[2].on_complete([&](const Error*) { called.set_value(); });
  waits.push_back(wait_for_any({submissions[1], submissions[2], others}));
  waits.push_back(wait_for_any({submissions[3], others}));
  for (const Submission& one : submissions) waits.push_back(wait(one));
  waits.push_back(wait(others));
  for (int i = 0; i != 4; ++i) {
    std::this_thread::sleep_for(milliseconds(5));  // for more orders in which they meet
    MockHsa::complete(made, 1);
    submissions[i].wait(blocked);
  }
  MockHsa::complete(other_made);
  for (std::future<void>& one : waits) one.get();
  called.get_future().get();
  EXPECT_EQ(hsa.most_waiters(epochs()), 1);
  EXPECT_EQ(hsa.most_waiters(other_made.ring.front().completion_signal()), 1);
}

TEST_F(BlockedWaits, the_thread_that_waits_for_any_is_woken_by_the_one_in_hsa) {
  const auto single = wait(submissions[0]);
  await_thread_in_hsa();
  Queue other(hsa.agent());
  const Submission others = other.submit(encode(BarrierAnd{}));
  MockHsa::MadeQueue& other_made = hsa.queue();
  auto any = wait_for_any({others, submissions[0]});
  while (hsa.most_waiters(other_made.ring.front().completion_signal()) == 0) std::this_thread::yield();
  MockHsa::complete(made, 1);
  any.get();
  MockHsa::complete(other_made);
}

// The thread in HSA cannot be woken where HSA cannot wait for two signals: the earlier one goes there, too.
TEST_F(BlockedWaits, without_waits_for_several_signals_earlier_submissions_are_waited_for_beside) {
  hsa.break_time_limits_of_wait_any();
  const auto last = wait(submissions[3]);
  await_thread_in_hsa();
  auto any = wait_for_any({submissions[1], submissions[2]});
  auto earlier = wait(submissions[0]);
  MockHsa::complete(made, 1);
  earlier.get();
  EXPECT_TRUE(is_waiting(last));
  MockHsa::complete(made, 1);
  any.get();
  EXPECT_EQ(hsa.calls("amd_signal_wait_any"), 0);
  MockHsa::complete(made);
}

TEST_F(BlockedWaits, without_events_threads_that_cannot_be_woken_look_for_themselves) {
  hsa.fail("signal_create", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  const auto last = wait(submissions[3]);
  await_thread_in_hsa();
  auto any = wait_for_any({submissions[3], submissions[0]});
  auto covered = wait_for_any({submissions[3]});
  MockHsa::complete(made, 1);
  any.get();
  EXPECT_TRUE(is_waiting(last));
  MockHsa::complete(made);
  covered.get();
  hsa.fail("signal_create", HSA_STATUS_SUCCESS);
}

TEST_F(BlockedWaits, wake_signals_are_lent_again) {
  MockHsa::complete(made, 1);
  const std::size_t before = hsa.signals();
  for (int i = 1; i != 4; ++i) {
    auto one = wait(submissions[i]);
    auto any = wait_for_any({submissions[i]});
    std::this_thread::sleep_for(milliseconds(1));
    MockHsa::complete(made, 1);
    one.get();
    any.get();
  }
  EXPECT_LE(hsa.signals(), before + 2);
}

}  // namespace
}  // namespace fastdispatch::test
