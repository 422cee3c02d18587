#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

class Queues : public Device {
protected:
  Kernel<void(std::uint32_t*)> count = module.kernel<void(std::uint32_t*)>("count");
  PinnedBuffer<std::uint32_t> counter{gpu, 1};

  void SetUp() override { counter[0] = 0; }
};

TEST_F(Queues, run_every_dispatch_of_eight_threads_exactly_once) {
  Queue small(gpu, {.size = 64});
  constexpr int threads = 8;
  constexpr int dispatches = 250;
  {
    std::vector<std::jthread> producers;
    producers.reserve(threads);
    for (int thread = 0; thread < threads; ++thread)
      producers.emplace_back([&] {
        for (int i = 0; i < dispatches; ++i) small.dispatch(count, grid(64), counter);
        small.wait();
      });
  }
  EXPECT_EQ(counter[0], std::uint32_t{threads} * dispatches * 64);
}

TEST_F(Queues, run_the_dispatches_of_a_single_producer_with_arguments_reused_many_times) {
  Queue mine(gpu, {.size = 64, .producers = Producers::single, .kernarg_bytes = 4096});
  constexpr int dispatches = 1000;
  Submission last = mine.barrier();
  for (int i = 0; i < dispatches; ++i) last = mine.dispatch(count, grid(64), counter);
  last.wait();
  EXPECT_EQ(counter[0], dispatches * 64U);
}

TEST_F(Queues, run_a_dispatch_with_a_signal_and_a_kernarg_block_of_the_callers) {
  for (int i = 1; i <= 10; ++i) {
    const Signal done(gpu);
    const KernargBlock arguments(gpu, count.kernarg_size());
    queue.dispatch(count, grid(64), {.completion = &done, .kernargs = &arguments}, counter);
    done.wait();
    EXPECT_EQ(counter[0], static_cast<std::uint32_t>(i) * 64);
  }
}

TEST_F(Queues, wait_for_unordered_dispatches_by_a_barrier) {
  constexpr Ordering unordered{.barrier = BarrierBit::clear};
  for (int i = 0; i < 20; ++i) queue.dispatch(count, grid(64), {.ordering = unordered}, counter);
  const Submission last = queue.dispatch(count, grid(64), {.ordering = unordered}, counter);
  for (const auto policy : {WaitPolicy::spin, WaitPolicy::spin_then_block, WaitPolicy::block})
    last.wait({.policy = policy});
  EXPECT_EQ(counter[0], 21U * 64);
}

TEST_F(Queues, hold_packets_behind_barriers_until_their_signals_allow) {
  Signal all(gpu, 1);
  Signal any(gpu, 1);
  Signal value(gpu, 0);
  const Signal never(gpu, 1);
  const auto held = [&](const Packet& barrier, auto release) {
    const std::uint32_t before = counter[0];
    queue.submit(barrier);
    const Submission dispatch = queue.dispatch(count, grid(64), counter);
    EXPECT_THROW(dispatch.wait({.timeout = std::chrono::milliseconds(20)}), TimeoutError);
    EXPECT_EQ(counter[0], before);
    release();
    dispatch.wait();
    EXPECT_EQ(counter[0], before + 64);
  };
  held(encode(BarrierAnd{.signals = {all.handle()}}), [&] { all.store(0); });
  held(encode(BarrierOr{.signals = {never.handle(), any.handle()}}), [&] { any.store(0); });
  const Packet by_value =
      encode(BarrierValue{.signal = value.handle(), .condition = HSA_SIGNAL_CONDITION_GTE, .value = 5});
  if (gpu.properties().barrier_value_packets)
    held(by_value, [&] { value.store(7); });
  else
    EXPECT_THAT(error_of([&] { queue.submit(by_value); }), testing::HasSubstr("Queue::start_after"));
}

TEST_F(Queues, of_both_priorities_and_a_few_compute_units_run_dispatches) {
  for (const auto priority : {Priority::low, Priority::high}) {
    Queue special(gpu, {.priority = priority, .compute_unit_mask = {0xf}});
    special.dispatch(count, grid(64), counter).wait();
  }
  EXPECT_EQ(counter[0], 128U);
}

}  // namespace
}  // namespace fastdispatch::test
