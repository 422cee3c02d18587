// Callbacks on completion, and waiting for several submissions.
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "barrier_packet.hpp"
#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/failure_messages.hpp"
#include "expect_error.hpp"
#include "fastdispatch/queue.hpp"
#include "fill_ring.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr WaitOptions patience{.timeout = std::chrono::minutes(10)};

/// What the callbacks did, in their order.
class Calls {
public:
  [[nodiscard]] CompletionCallback record(std::string name) {
    return [this, name = std::move(name)](const Error* failure) {
      const std::scoped_lock lock(mutex_);
      calls_.push_back(failure == nullptr ? name : name + ": " + failure->what());
      threads_.push_back(std::this_thread::get_id());
    };
  }
  /// Waits until there were `count`.
  [[nodiscard]] std::vector<std::string> await(std::size_t count) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    while (so_far().size() < count && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(1));
    return so_far();
  }
  [[nodiscard]] std::vector<std::string> so_far() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  [[nodiscard]] std::vector<std::thread::id> threads() const {
    const std::scoped_lock lock(mutex_);
    return threads_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  std::vector<std::thread::id> threads_;
};

/// A thread that completes packets until it is destroyed.
class CommandProcessor {
public:
  explicit CommandProcessor(MockHsa::MadeQueue& queue)
      : thread_([&queue](const std::stop_token& stop) {
          for (; !stop.stop_requested(); std::this_thread::yield()) MockHsa::complete(queue);
        }) {}

private:
  std::jthread thread_;
};

TEST(Callback, is_called_on_another_thread_when_its_submission_completed_and_not_before) {
  MockHsa hsa;
  Calls calls;
  Queue queue(hsa.agent());
  const Submission first = queue.submit(barrier_packet);
  const Submission second = queue.submit(barrier_packet);
  first.on_complete(calls.record("first"));
  second.on_complete(calls.record("second"));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_THAT(calls.so_far(), ElementsAre());
  MockHsa::complete(hsa.queue(), 1);
  EXPECT_THAT(calls.await(1), ElementsAre("first"));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_THAT(calls.so_far(), ElementsAre("first"));
  MockHsa::complete(hsa.queue(), 1);
  EXPECT_THAT(calls.await(2), ElementsAre("first", "second"));
  EXPECT_NE(calls.threads()[0], std::this_thread::get_id());
  EXPECT_EQ(calls.threads()[0], calls.threads()[1]);
}

TEST(Callback, of_a_submission_that_completed_before_is_called_too) {
  MockHsa hsa;
  Calls calls;
  Queue queue(hsa.agent());
  const Submission submission = queue.submit(barrier_packet);
  MockHsa::complete(hsa.queue());
  submission.on_complete(calls.record("late"));
  EXPECT_THAT(calls.await(1), ElementsAre("late"));
}

TEST(Callback, comes_in_the_order_of_submissions_then_of_registration) {
  MockHsa hsa;
  Calls calls;
  Queue queue(hsa.agent());
  const Submission first = queue.submit(barrier_packet);
  const Submission second = queue.submit(barrier_packet);
  second.on_complete(calls.record("2a"));
  first.on_complete(calls.record("1a"));
  second.on_complete(calls.record("2b"));
  first.on_complete(calls.record("1b"));
  MockHsa::complete(hsa.queue());
  EXPECT_THAT(calls.await(4), ElementsAre("1a", "1b", "2a", "2b"));
}

TEST(Callback, of_packets_without_an_epoch_lets_a_barrier_follow) {
  MockHsa hsa;
  Calls calls;
  Queue queue(hsa.agent());
  queue.submit(barrier_packet_without_bit).on_complete(calls.record("covered"));
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 2U);
  EXPECT_THAT(calls.await(1), ElementsAre("covered"));
}

TEST(Callback, that_finds_no_room_for_its_barrier_is_not_registered) {
  MockHsa hsa;
  Calls calls;
  {
    Queue queue(hsa.agent(), {.size = 64, .when_full = WhenFull::report});
    const Submission submission = fill_ring(queue, barrier_packet_without_bit);
    EXPECT_THROW(submission.on_complete(calls.record("never")), QueueFullError);
  }
  EXPECT_THAT(calls.so_far(), ElementsAre());
}

TEST(Callback, that_is_empty_is_refused) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  EXPECT_THAT(error_of([&] { queue.submit(barrier_packet).on_complete({}); }), HasSubstr("empty"));
}

TEST(Callback, is_told_why_its_queue_failed) {
  MockHsa hsa;
  Calls calls;
  Queue queue(hsa.agent());
  const Submission completed = queue.submit(barrier_packet);
  MockHsa::complete(hsa.queue());
  const Submission lost = queue.submit(barrier_packet);
  lost.on_complete(calls.record("lost"));
  completed.on_complete(calls.record("completed"));
  EXPECT_THAT(calls.await(1), ElementsAre("completed"));
  MockHsa::report_error(hsa.queue(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(calls.await(2), ElementsAre("completed", HasSubstr("lost: the queue stopped")));
  lost.on_complete(calls.record("after"));
  EXPECT_THAT(calls.await(3)[2], HasSubstr("after: the queue stopped"));
}

TEST(Callback, is_told_of_a_memory_fault_on_its_agent) {
  MockHsa hsa;
  Calls calls;
  Queue queue(hsa.agent());
  queue.submit(barrier_packet).on_complete(calls.record("lost"));
  detail::state_of(hsa.agent()).queues.fail_all([](auto suspects) {
    return detail::memory_fault_error({}, "gfx90a", {}, suspects);
  });
  EXPECT_THAT(calls.await(1), ElementsAre(HasSubstr("lost: memory fault on gfx90a")));
}

TEST(Callback, is_called_before_its_queue_is_gone) {
  MockHsa hsa;
  Calls calls;
  for (int i = 0; i < 50; ++i) {
    Queue queue(hsa.agent());
    queue.submit(barrier_packet).on_complete(calls.record("lost"));
    if (i % 2 == 0) MockHsa::complete(hsa.queue());
  }
  EXPECT_EQ(calls.so_far().size(), 50U);
  EXPECT_THAT(calls.so_far()[0], testing::StrEq("lost"));
  EXPECT_THAT(calls.so_far()[1], HasSubstr("the queue was destroyed before"));
}

TEST(Callback, may_submit_wait_and_register_another) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  const CommandProcessor command_processor(hsa.queue());
  std::promise<int> finished;
  int rounds = 0;
  CompletionCallback next = [&](const Error* failure) {
    if (failure != nullptr || rounds == 100) return finished.set_value(rounds);
    ++rounds;
    queue.submit(barrier_packet).wait(patience);
    queue.submit(barrier_packet).on_complete(next);
  };
  queue.submit(barrier_packet).on_complete(next);
  auto result = finished.get_future();
  ASSERT_EQ(result.wait_for(std::chrono::minutes(10)), std::future_status::ready);
  EXPECT_EQ(result.get(), 100);
}

TEST(Callback, may_destroy_its_queue) {
  MockHsa hsa;
  Calls calls;
  std::promise<void> destroyed;
  std::optional<Queue> queue(hsa.agent());
  queue->submit(barrier_packet).on_complete([&](const Error*) {
    queue.reset();
    destroyed.set_value();
  });
  queue->submit(barrier_packet).on_complete(calls.record("second"));
  MockHsa::complete(hsa.queue(), 1);
  ASSERT_EQ(destroyed.get_future().wait_for(std::chrono::minutes(10)), std::future_status::ready);
  EXPECT_THAT(calls.so_far(), ElementsAre(HasSubstr("second: the queue was destroyed")));
}

TEST(Callback, can_be_waited_for_with_its_captures) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  queue.wait_for_callbacks();  // of none
  const auto capture = std::make_shared<int>(0);
  for (int i = 0; i < 64; ++i)
    queue.submit(barrier_packet).on_complete([capture](const Error* /*failure*/) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      ++*capture;
    });
  MockHsa::complete(hsa.queue());
  queue.wait_for_callbacks();
  EXPECT_EQ(*capture, 64);
  EXPECT_EQ(capture.use_count(), 1);
}

TEST(Callback, that_is_not_due_ends_a_wait_with_a_time_limit) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  queue.submit(barrier_packet).on_complete([](const Error* /*failure*/) {});
  EXPECT_THAT(error_of([&] { queue.wait_for_callbacks({.timeout = milliseconds(1)}); }),
              HasSubstr("not all were called within 1"));
  MockHsa::complete(hsa.queue());
  queue.wait_for_callbacks();
}

TEST(Callback, cannot_wait_for_callbacks) {
  MockHsa hsa;
  Queue queue(hsa.agent());
  std::string error;
  queue.submit(barrier_packet).on_complete([&](const Error* /*failure*/) {
    error = error_of([&] { queue.wait_for_callbacks(); });
  });
  MockHsa::complete(hsa.queue());
  queue.wait_for_callbacks();
  EXPECT_THAT(error, HasSubstr("wait for itself"));
}

TEST(Callback, of_every_submission_of_four_threads_is_called_once) {
  MockHsa hsa;
  Queue queue(hsa.agent(), {.size = 64});
  const CommandProcessor command_processor(hsa.queue());
  constexpr int threads = 4;
  constexpr int submissions = 500;
  std::array<std::atomic<int>, threads * submissions> called{};
  {
    std::vector<std::jthread> producers;
    for (int thread = 0; thread < threads; ++thread)
      producers.emplace_back([&, thread] {
        for (int i = 0; i < submissions; ++i)
          queue.submit(barrier_packet).on_complete([&called, index = thread * submissions + i](const Error* failure) {
            called[index] += failure ? 100 : 1;
          });
      });
  }
  queue.wait(patience);
  std::promise<void> last;
  queue.submit(barrier_packet).on_complete([&](const Error*) { last.set_value(); });
  ASSERT_EQ(last.get_future().wait_for(std::chrono::minutes(10)), std::future_status::ready);
  for (const auto& count : called) EXPECT_EQ(count, 1);
}

class WaitForSeveral : public testing::TestWithParam<WaitPolicy> {
protected:
  [[nodiscard]] static WaitOptions within(std::chrono::nanoseconds time) {
    return {.policy = GetParam(), .timeout = time};
  }
  /// Completes a packet of `queue` a little later.
  [[nodiscard]] static std::jthread complete_soon(MockHsa::MadeQueue& queue) {
    return std::jthread([&queue] {
      std::this_thread::sleep_for(milliseconds(10));
      MockHsa::complete(queue, 1);
    });
  }

  MockHsa hsa;
  Queue first{hsa.agent()};
  MockHsa::MadeQueue& first_made = hsa.queue();
  Queue second{hsa.agent()};
  MockHsa::MadeQueue& second_made = hsa.queue();
};

TEST_P(WaitForSeveral, any_returns_the_index_of_the_first_that_completed) {
  const std::array submissions{first.submit(barrier_packet), second.submit(barrier_packet)};
  {
    const std::jthread soon = complete_soon(second_made);
    EXPECT_EQ(wait_any(submissions, within(patience.timeout)), 1U);
    EXPECT_FALSE(submissions[0].done());
  }
  MockHsa::complete(first_made);
  EXPECT_EQ(wait_any(submissions, within(milliseconds(0))), 0U);
}

TEST_P(WaitForSeveral, any_waits_for_the_first_in_turns_where_hsa_cannot_wait_for_several) {
  hsa.break_time_limits_of_wait_any();
  const std::array submissions{first.submit(barrier_packet), second.submit(barrier_packet)};
  EXPECT_THROW(static_cast<void>(wait_any(submissions, within(milliseconds(20)))), TimeoutError);
  {
    const std::jthread soon = complete_soon(second_made);
    EXPECT_EQ(wait_any(submissions, within(patience.timeout)), 1U);
  }
  EXPECT_EQ(hsa.calls("amd_signal_wait_any"), 0);
  EXPECT_EQ(hsa.calls("signal_wait_scacquire"), 0) << "each call begins with a spin";
  MockHsa::complete(first_made);
}

TEST_P(WaitForSeveral, all_returns_when_the_last_completed) {
  const std::array submissions{first.submit(barrier_packet), second.submit(barrier_packet)};
  MockHsa::complete(first_made);
  EXPECT_THROW(wait_all(submissions, within(milliseconds(20))), TimeoutError);
  const std::jthread soon = complete_soon(second_made);
  EXPECT_NO_THROW(wait_all(submissions, within(patience.timeout)));
  EXPECT_TRUE(submissions[1].done());
}

TEST_P(WaitForSeveral, time_limits_say_what_each_queue_that_did_not_complete_is_at) {
  detail::state_of(hsa.agent()).kernels.add(0x1000, "bitonic_pass");
  const std::array submissions{first.submit(barrier_packet),
                               second.submit(encode(KernelDispatch{.grid = grid(64), .kernel_object = 0x1000}))};
  EXPECT_THAT(error_of<TimeoutError>([&] { static_cast<void>(wait_any(submissions, within(milliseconds(20)))); }),
              AllOf(HasSubstr("2 submissions: not complete within 20 ms"), HasSubstr("submission 0: "),
                    HasSubstr("submission 1: "), HasSubstr("kernel bitonic_pass")));
  MockHsa::complete(first_made);
  EXPECT_THAT(error_of<TimeoutError>([&] { wait_all(submissions, within(milliseconds(20))); }),
              AllOf(Not(HasSubstr("submission 0: ")), HasSubstr("submission 1: ")));
}

TEST_P(WaitForSeveral, a_failure_of_one_queue_ends_the_wait_though_the_others_go_on) {
  const std::array submissions{first.submit(barrier_packet), second.submit(barrier_packet)};
  const std::jthread soon([&] {
    std::this_thread::sleep_for(milliseconds(10));
    MockHsa::report_error(second_made, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  });
  EXPECT_THAT(error_of([&] { wait_all(submissions, within(patience.timeout)); }), HasSubstr("the queue stopped"));
  EXPECT_THAT(error_of([&] { static_cast<void>(wait_any(submissions, within(patience.timeout))); }),
              HasSubstr("the queue stopped"));
  MockHsa::complete(first_made);
  EXPECT_EQ(wait_any(submissions, within(patience.timeout)), 0U) << "what completed counts first";
}

TEST_P(WaitForSeveral, submissions_without_an_epoch_are_covered_by_barriers) {
  const std::array submissions{first.submit(barrier_packet_without_bit), second.submit(barrier_packet_without_bit)};
  const CommandProcessor one(first_made);
  const CommandProcessor other(second_made);
  EXPECT_NO_THROW(wait_all(submissions, within(patience.timeout)));
  EXPECT_EQ(wait_any(submissions, within(patience.timeout)), 0U);
}

TEST_P(WaitForSeveral, submissions_that_need_barriers_keep_to_time_limits_where_the_ring_has_no_room) {
  Queue full(hsa.agent(), {.size = 64});
  const std::array submissions{fill_ring(full, barrier_packet_without_bit)};
  EXPECT_THROW(static_cast<void>(wait_any(submissions, within(milliseconds(20)))), TimeoutError);
  EXPECT_THROW(wait_all(submissions, within(milliseconds(20))), TimeoutError);
}

INSTANTIATE_TEST_SUITE_P(Policies, WaitForSeveral,
                         testing::Values(WaitPolicy::spin, WaitPolicy::spin_then_block, WaitPolicy::block),
                         [](const auto& policy) {
                           return policy.param == WaitPolicy::spin    ? "spin"
                                  : policy.param == WaitPolicy::block ? "block"
                                                                      : "spin_then_block";
                         });

TEST(WaitForNone, any_is_refused_and_all_returns) {
  EXPECT_THAT(error_of([] { static_cast<void>(wait_any({})); }), HasSubstr("never end"));
  EXPECT_NO_THROW(wait_all({}));
}

}  // namespace
}  // namespace fastdispatch::test
