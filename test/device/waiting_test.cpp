// Waiting without burning a core, callbacks, and waiting for several queues.
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <span>
#include <thread>
#include <vector>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::HasSubstr;

class Waiting : public Device {
protected:
  /// A submission that completes when `gate` is 0.
  Submission submit_behind_gate() { return queue.submit(encode(BarrierAnd{.signals = {gate.handle()}})); }

  /// What a thread has used of a core by when.
  struct Use {
    std::chrono::steady_clock::time_point when = std::chrono::steady_clock::now();
    nanoseconds used = thread_time();

    /// The share of a core that the same thread has used since.
    [[nodiscard]] double share_since() const {
      return std::chrono::duration<double>(thread_time() - used) / (std::chrono::steady_clock::now() - when);
    }

  private:
    static nanoseconds thread_time() {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
    }
  };
  /// The share of a core that this thread uses in `action`.
  template <class Action>
  static double core_share(Action action) {
    const Use start;
    action();
    return start.share_since();
  }

  Signal gate{gpu, 1};
};

constexpr WaitOptions blocked{.policy = WaitPolicy::block, .timeout = milliseconds(1000)};

TEST_F(Waiting, that_blocks_leaves_the_core_to_others) {
  const Submission stuck = submit_behind_gate();
  const std::array both{stuck, queue.submit(encode(BarrierAnd{}))};
  EXPECT_LT(core_share([&] { EXPECT_THROW(stuck.wait(blocked), TimeoutError); }), 0.05);
  EXPECT_LT(core_share([&] { EXPECT_THROW(static_cast<void>(wait_any(both, blocked)), TimeoutError); }), 0.05);
  EXPECT_LT(core_share([&] { EXPECT_THROW(gate.wait(blocked), TimeoutError); }), 0.05);
  constexpr WaitOptions spins_first{.policy = WaitPolicy::spin_then_block, .timeout = blocked.timeout};
  EXPECT_LT(core_share([&] { EXPECT_THROW(stuck.wait(spins_first), TimeoutError); }), 0.05);
  gate.store(0);
  queue.wait(limit);
}

// ROCr lets the first waiter of a signal sleep; a second one would spin.
TEST_F(Waiting, of_several_threads_for_one_queue_leaves_the_cores_to_others) {
  const Submission stuck = submit_behind_gate();
  std::promise<double> share;
  Use first;
  Queue other(gpu);
  other.submit(encode(BarrierAnd{})).on_complete([&](const Error*) { first = Use(); });
  stuck.on_complete([&](const Error*) { share.set_value(first.share_since()); });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        const auto wait = [&] {
          if (i == 0)
            wait_all(std::span(&stuck, 1), blocked);
          else
            stuck.wait(blocked);
        };
        EXPECT_LT(core_share([&] { EXPECT_THROW(wait(), TimeoutError); }), 0.05);
      });
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { EXPECT_NO_THROW(stuck.wait(limit)); });
    gate.store(0);
  }
  EXPECT_LT(share.get_future().get(), 0.05);
}

// The first thread blocks for the latest submission: the others have to tell it of theirs.
TEST_F(Waiting, for_earlier_submissions_beside_later_ones_leaves_the_cores_to_others) {
  const std::array stuck{submit_behind_gate(), queue.submit(encode(BarrierAnd{})), queue.submit(encode(BarrierAnd{}))};
  Queue other(gpu);
  std::promise<double> share;
  Use start;
  other.submit(encode(BarrierAnd{})).on_complete([&](const Error*) { start = Use(); });
  other.wait(limit);
  other.wait_for_callbacks();
  const auto waits_in_vain = [](auto wait) {
    return std::jthread([wait] { EXPECT_LT(core_share([&] { EXPECT_THROW(wait(), TimeoutError); }), 0.05); });
  };
  {
    const std::jthread last = waits_in_vain([&] { stuck[2].wait(blocked); });
    std::this_thread::sleep_for(milliseconds(20));  // so that it is in HSA; if not, there is less to see
    stuck[1].on_complete([&](const Error*) { share.set_value(start.share_since()); });
    const std::jthread any = waits_in_vain([&] { static_cast<void>(wait_any(stuck, blocked)); });
    const std::jthread earlier = waits_in_vain([&] { stuck[1].wait(blocked); });
    const std::jthread first = waits_in_vain([&] { stuck[0].wait(blocked); });
  }
  std::vector<std::jthread> threads;
  for (const Submission& one : stuck) {
    threads.emplace_back([&one] { EXPECT_NO_THROW(one.wait(limit)); });
    threads.emplace_back([&one] { EXPECT_EQ(wait_any(std::span(&one, 1), limit), 0U); });
  }
  gate.store(0);
  EXPECT_LT(share.get_future().get(), 0.05);
}

TEST_F(Waiting, by_callback_needs_no_core) {
  std::promise<double> share;
  Use first;
  queue.submit(encode(BarrierAnd{})).on_complete([&](const Error*) { first = Use(); });
  submit_behind_gate().on_complete([&](const Error*) { share.set_value(first.share_since()); });
  std::this_thread::sleep_for(blocked.timeout);
  gate.store(0);
  EXPECT_LT(share.get_future().get(), 0.05);
}

TEST_F(Waiting, by_callback_sees_what_the_kernels_wrote) {
  const auto write = module.kernel<void(std::uint32_t*)>("write_to");
  PinnedBuffer<std::uint32_t> target(gpu, 1);
  for (int i = 0; i < 100; ++i) {
    target[0] = 0;
    std::promise<std::uint32_t> seen;
    queue.dispatch(write, grid(1), target).on_complete([&](const Error* failure) {
      EXPECT_EQ(failure, nullptr);
      seen.set_value(target[0]);
    });
    EXPECT_EQ(seen.get_future().get(), 42U);
  }
}

TEST_F(Waiting, by_callback_is_told_of_a_fault) {
  const auto write = module.kernel<void(std::uint32_t*)>("write_to");
  std::promise<std::string> told;
  queue.dispatch(write, grid(1), std::bit_cast<std::uint32_t*>(std::uintptr_t{0xdead000}))
      .on_complete([&](const Error* failure) { told.set_value(failure == nullptr ? "nothing" : failure->what()); });
  EXPECT_THAT(told.get_future().get(), HasSubstr("kernel write_to"));
}

TEST_F(Waiting, for_several_queues_ends_with_the_first_or_the_last) {
  const auto write = module.kernel<void(std::uint32_t*)>("write_to");
  PinnedBuffer<std::uint32_t> target(gpu, 1);
  Queue other(gpu);
  for (const WaitPolicy policy : {WaitPolicy::spin, WaitPolicy::spin_then_block, WaitPolicy::block}) {
    gate.store(1);
    const std::array submissions{submit_behind_gate(), other.dispatch(write, grid(1), target)};
    const WaitOptions options{.policy = policy, .timeout = limit.timeout};
    EXPECT_EQ(wait_any(submissions, options), 1U);
    EXPECT_EQ(target[0], 42U);
    EXPECT_THROW(wait_all(submissions, {.policy = policy, .timeout = milliseconds(20)}), TimeoutError);
    gate.store(0);
    wait_all(submissions, options);
    EXPECT_TRUE(submissions[0].done());
  }
}

TEST_F(Waiting, for_several_queues_is_told_when_one_of_them_fails) {
  Queue other(gpu);
  Packet unknown = encode(BarrierAnd{});
  unknown.words[0] = (unknown.words[0] & ~0xffU) | 0x77U;
  const std::array submissions{submit_behind_gate(), other.submit(unknown)};
  EXPECT_THAT(error_of([&] { wait_all(submissions, limit); }), HasSubstr("the queue stopped"));
  gate.store(0);
  queue.wait(limit);
}

}  // namespace
}  // namespace fastdispatch::test
