#include <atomic>
#include <thread>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

class Batches : public Device {
protected:
  using Increment = Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>;
  const Increment increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  static constexpr std::uint32_t n = 1000;
};

TEST_F(Batches, run_their_steps_in_order_and_again_at_every_submission) {
  for (const Fences fences : {Fences::conservative, Fences::minimal, Fences::derived}) {
    PinnedBuffer<std::uint32_t> input(gpu, n);
    PinnedBuffer<std::uint32_t> output(gpu, n);
    DeviceBuffer<std::uint32_t> data(gpu, n);
    Batch batch(gpu, {.fences = fences});
    batch.copy(data, input);
    for (std::uint32_t i = 1; i <= 20; ++i) batch.dispatch(increment, grid(n), data, n, i);
    batch.copy(output, data);
    for (std::uint32_t round = 0; round < 5; ++round) {
      std::fill(input.begin(), input.end(), round);
      queue.submit(batch).wait(limit);
      ASSERT_THAT(std::vector(output.begin(), output.end()), ::testing::Each(round + 210)) << round;
    }
  }
}

TEST_F(Batches, in_flight_together_run_one_after_the_other) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  DeviceBuffer<std::uint32_t> other(gpu, n);
  Batch batch(gpu);
  batch.copy(other, data);  // back and forth: a submission that overtakes would lose increments
  batch.dispatch(increment, grid(n), other, n, 1);
  batch.copy(data, other);
  Submission last = queue.submit(batch);
  for (int i = 1; i < 50; ++i) last = queue.submit(batch);
  last.wait(limit);
  EXPECT_THAT(download(data), ::testing::Each(50U));
}

TEST_F(Batches, with_parameters_run_with_what_each_submission_set_while_others_are_in_flight) {
  std::vector<DeviceBuffer<std::uint32_t>> outputs;
  for (std::uint32_t i = 0; i < 40; ++i) outputs.push_back(upload(std::vector<std::uint32_t>(n)));
  Batch batch(gpu);
  const auto output = batch.parameter<std::uint32_t*>("output");
  const auto by = batch.parameter<std::uint32_t>("by");
  const auto size = batch.parameter<Grid>("size");
  batch.dispatch(increment, size, output, n, by);
  batch.dispatch(increment, grid(n), output, n, 1);
  for (std::uint32_t i = 0; i < 40; ++i)
    queue.submit(batch, set(output, outputs[i]), set(by, i), set(size, grid(n / 2 + i)));
  queue.wait(limit);
  for (std::uint32_t i = 0; i < 40; ++i) {
    std::vector<std::uint32_t> expected(n, 1);
    std::fill_n(expected.begin(), n / 2 + i, 1 + i);
    ASSERT_EQ(download(outputs[i]), expected) << i;
  }
}

TEST_F(Batches, longer_than_the_ring_run_to_the_end) {
  Queue small(gpu, {.size = 64});
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  DeviceBuffer<std::uint32_t> other(gpu, n);
  Batch batch(gpu);
  for (int i = 0; i < 500; ++i) {
    batch.dispatch(increment, grid(n), data, n, 1);
    if (i % 100 == 99) batch.copy(other, data);
  }
  small.submit(batch);
  small.submit(batch).wait(limit);
  EXPECT_THAT(download(other), ::testing::Each(1000U));
}

TEST_F(Batches, are_timed_kernel_by_kernel) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  DeviceBuffer<std::uint32_t> other(gpu, n);
  Batch batch(gpu);
  for (int i = 0; i < 200; ++i) {
    batch.dispatch(increment, grid(n), data, n, 1);
    if (i == 99) batch.copy(other, data);
  }
  Queue small(gpu, {.size = 64});  // so that it goes in parts
  small.submit(batch);
  const TimedSubmission timed = small.submit_timed(batch);
  small.submit(batch).wait(limit);
  EXPECT_THAT(download(data), ::testing::Each(600U));
  const std::vector<DeviceTime> times = timed.dispatches();
  ASSERT_EQ(times.size(), 200U);
  for (std::size_t i = 0; i != times.size(); ++i) {
    EXPECT_GT(times[i].duration().count(), 0) << i;
    if (i != 0) {
      EXPECT_GE(times[i].start, times[i - 1].end) << i << ": kernels in turn";
    }
  }
  EXPECT_LE(timed.kernel_time(), timed.elapsed());
}

TEST_F(Batches, outlive_the_batch_object) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  {
    Batch batch(gpu);
    for (int i = 0; i < 100; ++i) batch.dispatch(increment, grid(n), data, n, 1);
    queue.submit(batch);
    batch.clear();
    batch.dispatch(increment, grid(n), data, n, 1000);
    queue.submit(batch);
  }
  queue.wait(limit);
  EXPECT_THAT(download(data), ::testing::Each(1100U));
}

TEST_F(Batches, of_two_queues_run_beside_each_other) {
  const auto wait_for = module.kernel<void(const std::uint32_t*, std::uint32_t*)>("wait_for");
  PinnedBuffer<std::uint32_t> flags(gpu, 2);
  flags[0] = flags[1] = 0;
  Queue other(gpu);
  const Submission waiting = queue.dispatch(wait_for, grid(1), flags.data(), flags.data() + 1);
  // The first queue's kernel ends only after the second queue's has run.
  Batch batch(gpu);
  batch.dispatch(increment, grid(1), flags, 1, 9);
  other.submit(batch).wait(limit);
  waiting.wait(limit);
  EXPECT_EQ(flags[1], 9U);
}

TEST_F(Batches, of_two_queues_wait_for_each_other_where_told) {
  const auto wait_for = module.kernel<void(const std::uint32_t*, std::uint32_t*)>("wait_for");
  PinnedBuffer<std::uint32_t> flag(gpu, 1);
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(1));
  flag[0] = 0;
  Queue other(gpu);
  Batch first(gpu);
  first.dispatch(wait_for, grid(1), flag, data);
  Batch second(gpu);
  second.dispatch(increment, grid(1), data, 1, 5);

  other.start_after(queue.submit(first));
  const Submission incremented = other.submit(second);
  queue.start_after(incremented);
  const Submission again = queue.submit(second);
  EXPECT_FALSE(incremented.done());
  std::atomic_ref(flag[0]).store(10);
  again.wait(limit);
  EXPECT_THAT(download(data), ::testing::Each(20U));
}

TEST_F(Batches, with_derived_fences_overlap_where_nothing_conflicts) {
  const auto wait_for = module.kernel<void(const std::uint32_t*, std::uint32_t*)>("wait_for");
  const auto write_to = module.kernel<void(std::uint32_t*)>("write_to");
  PinnedBuffer<std::uint32_t> flag(gpu, 1);
  PinnedBuffer<std::uint32_t> woken(gpu, 1);
  flag[0] = woken[0] = 0;
  Batch batch(gpu, {.fences = Fences::derived});
  // The first kernel ends only after the second has run. The batch does not know that they share the flag.
  constexpr ElementRange nothing{};
  batch.dispatch(wait_for, grid(1), read(flag, nothing), woken);
  batch.dispatch(write_to, grid(1), write(flag, nothing));
  queue.submit(batch).wait(limit);
  EXPECT_EQ(woken[0], 42U);
}

TEST_F(Batches, with_derived_fences_begin_beside_the_end_of_the_one_before_where_nothing_conflicts) {
  const auto wait_for = module.kernel<void(const std::uint32_t*, std::uint32_t*)>("wait_for");
  const auto write_to = module.kernel<void(std::uint32_t*)>("write_to");
  PinnedBuffer<std::uint32_t> flag(gpu, 1);
  PinnedBuffer<std::uint32_t> woken(gpu, 1);
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  flag[0] = woken[0] = 0;
  // The first batch ends only after the second has begun. The batches do not know that they share the flag.
  constexpr ElementRange nothing{};
  Batch first(gpu, {.fences = Fences::derived});
  first.dispatch(increment, grid(1), woken, 1, 1);
  first.dispatch(wait_for, grid(1), read(flag, nothing), woken);
  Batch second(gpu, {.fences = Fences::derived});
  second.dispatch(write_to, grid(1), write(flag, nothing));
  second.dispatch(increment, grid(n), data, n, 1);
  queue.submit(first);
  queue.submit(second).wait(limit);
  EXPECT_EQ(woken[0], 42U);
  EXPECT_THAT(download(data), ::testing::Each(1U));
}

TEST_F(Batches, with_derived_fences_copy_beside_kernels_where_nothing_conflicts) {
  const auto wait_for = module.kernel<void(const std::uint32_t*, std::uint32_t*)>("wait_for");
  DeviceBuffer<std::uint32_t> ones = upload(std::vector<std::uint32_t>(n, 1));
  PinnedBuffer<std::uint32_t> output(gpu, n);
  PinnedBuffer<std::uint32_t> flag(gpu, 1);
  PinnedBuffer<std::uint32_t> woken(gpu, 1);
  flag[0] = woken[0] = 0;
  Batch batch(gpu, {.fences = Fences::derived});
  batch.copy(output, ones);
  // The kernel ends only after the copy behind it has run.
  batch.dispatch(wait_for, grid(1), read(flag, ElementRange{}), woken);
  batch.copy(flag, ones.subspan(0, 1));
  queue.submit(batch).wait(limit);
  EXPECT_EQ(woken[0], 1U);
  EXPECT_THAT(std::vector(output.begin(), output.end()), ::testing::Each(1U));
}

TEST_F(Batches, submitted_by_many_threads_all_run) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  Queue small(gpu, {.size = 64});
  Batch batch(gpu);
  for (int i = 0; i < 7; ++i) batch.dispatch(increment, grid(n), data, n, 1);
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 25; ++j) small.submit(batch);
      });
    }
  }
  small.wait(limit);
  EXPECT_THAT(download(data), ::testing::Each(700U));
}

}  // namespace
}  // namespace fastdispatch::test
