#include "fastdispatch/signal.hpp"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

class SignalWait : public testing::TestWithParam<WaitPolicy> {};

TEST_P(SignalWait, returns_at_once_when_the_value_is_reached) {
  MockHsa hsa;
  const Signal signal(hsa.agent(), 0);
  signal.wait({.policy = GetParam(), .timeout = milliseconds(0)});
  EXPECT_EQ(hsa.calls("signal_wait_scacquire"), 0);
}

TEST_P(SignalWait, sees_what_another_thread_stores) {
  MockHsa hsa;
  Signal signal(hsa.agent());
  int result = 0;
  const std::jthread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    result = 42;
    signal.store(0);
  });
  signal.wait({.policy = GetParam()});
  EXPECT_EQ(result, 42);
}

TEST_P(SignalWait, ends_in_an_error_when_the_time_is_up_and_can_be_repeated) {
  MockHsa hsa;
  Signal signal(hsa.agent(), 3);
  const auto start = steady_clock::now();
  EXPECT_THAT(error_of<TimeoutError>([&] { signal.wait({.policy = GetParam(), .timeout = milliseconds(30)}); }),
              HasSubstr("its value is 3"));
  EXPECT_GE(steady_clock::now() - start, milliseconds(30));
  signal.store(0);
  EXPECT_NO_THROW(signal.wait({.policy = GetParam(), .timeout = milliseconds(30)}));
}

INSTANTIATE_TEST_SUITE_P(Policies, SignalWait,
                         testing::Values(WaitPolicy::spin, WaitPolicy::spin_then_block, WaitPolicy::block),
                         [](const auto& policy) {
                           return policy.param == WaitPolicy::spin    ? "spin"
                                  : policy.param == WaitPolicy::block ? "block"
                                                                      : "spin_then_block";
                         });

TEST(Signal, never_blocks_in_hsa_while_it_spins) {
  MockHsa hsa;
  const Signal signal(hsa.agent());
  EXPECT_THROW(signal.wait({.policy = WaitPolicy::spin, .timeout = milliseconds(5)}), TimeoutError);
  EXPECT_EQ(hsa.calls("signal_wait_scacquire"), 0);
}

TEST(Signal, says_why_it_could_not_be_made) {
  MockHsa hsa;
  hsa.fail("signal_create", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { Signal(hsa.agent()); }), HasSubstr("making a signal: hsa_signal_create failed"));
}

TEST(Signal, is_destroyed_once_however_it_is_moved) {
  MockHsa hsa;
  {
    Signal first(hsa.agent());
    Signal second(std::move(first));
    Signal third(hsa.agent());
    third = std::move(second);
    EXPECT_EQ(hsa.signals(), 2U);
  }
  EXPECT_EQ(hsa.signals(), 0U);
}

TEST(SignalPool, reuses_signals_that_completed) {
  MockHsa hsa;
  SignalPool pool(hsa.agent(), 1);
  for (int i = 0; i < 100; ++i) {
    PooledSignal signal = pool.acquire(2);
    EXPECT_EQ(signal->load(), 2);
    signal->store(0);
  }
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(hsa.calls("signal_create"), 1);
}

TEST(SignalPool, does_not_reuse_a_signal_that_a_packet_may_still_write) {
  MockHsa hsa;
  SignalPool pool(hsa.agent());
  hsa_signal_t pending{};
  { pending = pool.acquire()->handle(); }
  EXPECT_NE(pool.acquire()->handle().handle, pending.handle);
  hsa.api().signal_store_screlease(pending, 0);
  EXPECT_EQ(pool.acquire()->handle().handle, pending.handle);
}

TEST(SignalPool, makes_no_more_signals_than_threads_use_at_once) {
  MockHsa hsa;
  SignalPool pool(hsa.agent());
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) pool.acquire()->store(0);
      });
  }
  EXPECT_LE(pool.size(), 4U);
  EXPECT_EQ(hsa.signals(), pool.size());
}

}  // namespace
}  // namespace fastdispatch::test
