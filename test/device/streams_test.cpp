// Batches spread over several queues.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using testing::Each;
using testing::HasSubstr;

class StreamsOnDevice : public Device {
protected:
  using Increment = Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>;
  static constexpr std::uint32_t n = 300;
  static constexpr std::size_t chains = 4;

  // Copies to each chain's buffer, a chain of increments of each, and their sum in the first one, copied back.
  Batch fork_and_join() {
    Batch batch(gpu, {.fences = Fences::derived});
    batch.copy(data[0], input);
    for (std::size_t chain = 1; chain < chains; ++chain)
      batch.dispatch(add, grid(n), read(data[0]), read(data[0]), write(data[chain]), n);
    for (int step = 0; step < 12; ++step)
      for (std::size_t chain = 1; chain < chains; ++chain) batch.dispatch(increment, grid(n), data[chain], n, 1);
    for (std::size_t chain = 1; chain < chains; ++chain)
      batch.dispatch(add, grid(n), read(data[0]), read(data[chain]), read_write(data[0]), n);
    batch.copy(output, data[0]);
    return batch;
  }
  static constexpr std::uint32_t joined(std::uint32_t value) { return 7 * value + 3 * 12; }

  // Independent chains.
  Batch independent_chains() {
    Batch batch(gpu, {.fences = Fences::derived});
    for (DeviceBuffer<std::uint32_t>& buffer : data)
      for (int step = 0; step < 8; ++step) batch.dispatch(increment, grid(n), buffer, n, 1);
    return batch;
  }

  const Increment increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  const Kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)> add =
      module.kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)>("add");
  const Kernel<void(const std::uint32_t*, std::uint32_t*)> wait_for =
      module.kernel<void(const std::uint32_t*, std::uint32_t*)>("wait_for");
  PinnedBuffer<std::uint32_t> input{gpu, n};
  PinnedBuffer<std::uint32_t> output{gpu, n};
  std::array<DeviceBuffer<std::uint32_t>, chains> data{
      upload(std::vector<std::uint32_t>(n)), upload(std::vector<std::uint32_t>(n)),
      upload(std::vector<std::uint32_t>(n)), upload(std::vector<std::uint32_t>(n))};
  Streams streams{gpu, {.queues = 3}};
};

TEST_F(StreamsOnDevice, compute_what_one_queue_computes_at_every_submission) {
  Batch batch = fork_and_join();
  EXPECT_EQ(streams.layout(batch).queues, 3U);
  for (std::uint32_t round = 0; round < 20; ++round) {
    std::fill(input.begin(), input.end(), round);
    streams.submit(batch).wait(limit);
    ASSERT_THAT(std::vector(output.begin(), output.end()), Each(joined(round))) << round;
  }
}

TEST_F(StreamsOnDevice, run_submissions_in_flight_together_as_if_one_after_the_other) {
  Batch apart = independent_chains();
  Batch joining = fork_and_join();
  std::fill(input.begin(), input.end(), 5U);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 10; ++i) streams.submit(apart);
    streams.submit(joining);
    streams.submit(joining);
    streams.submit(apart);
  }
  streams.wait(limit);
  EXPECT_THAT(std::vector(output.begin(), output.end()), Each(joined(5)));
  EXPECT_THAT(download(data[0]), Each(joined(5) + 8));
  EXPECT_THAT(download(data[3]), Each(2 * 5 + 12 + 8U));
}

TEST_F(StreamsOnDevice, let_chains_go_on_while_another_one_waits) {
  PinnedBuffer<std::uint32_t> flag(gpu, 1);
  PinnedBuffer<std::uint32_t> woken(gpu, 8);
  flag[0] = 0;
  Batch batch(gpu, {.fences = Fences::derived});
  // The first chain ends only after the second has ended. The batch does not know that they share the flag.
  for (std::size_t i = 0; i < 4; ++i) {
    batch.dispatch(wait_for, grid(1), read(flag, ElementRange{}), read_write(woken));
    batch.dispatch(increment, grid(n), data[0], n, 1);
  }
  batch.dispatch(increment, grid(1), read_write(data[0]), n, 1);
  const auto write_to = module.kernel<void(std::uint32_t*)>("write_to");
  batch.dispatch(write_to, grid(1), write(flag, ElementRange{}));
  batch.touches(read(data[0]));
  ASSERT_EQ(streams.layout(batch).queues, 2U);
  streams.submit(batch).wait(limit);
  EXPECT_EQ(woken[0], 42U);
}

TEST_F(StreamsOnDevice, run_with_what_each_submission_set) {
  Batch batch(gpu, {.fences = Fences::derived});
  const auto by = batch.parameter<std::uint32_t>("by");
  const auto size = batch.parameter<Grid>("size");
  for (DeviceBuffer<std::uint32_t>& buffer : data)
    for (int step = 0; step < 5; ++step) batch.dispatch(increment, size, buffer, n, by);
  ASSERT_EQ(streams.layout(batch).queues, 3U);
  for (std::uint32_t i = 0; i < 30; ++i) streams.submit(batch, set(by, i), set(size, grid(i % 2 == 0 ? n : n / 2)));
  streams.wait(limit);
  for (const DeviceBuffer<std::uint32_t>& buffer : data) {
    const std::vector<std::uint32_t> values = download(buffer);
    EXPECT_EQ(values.front(), 5U * 435);
    EXPECT_EQ(values.back(), 5U * 210);
  }
}

TEST_F(StreamsOnDevice, are_waited_for_like_a_queue) {
  PinnedBuffer<std::uint32_t> flag(gpu, 1);
  PinnedBuffer<std::uint32_t> result(gpu, 1);
  flag[0] = 0;
  Batch gate(gpu);
  gate.dispatch(wait_for, grid(1), flag, result);
  Batch batch = independent_chains();
  streams.start_after(queue.submit(gate));
  const Submission submission = streams.submit(batch);
  Batch after(gpu);
  after.dispatch(increment, grid(n), data[0], n, 100);
  Queue other(gpu);
  other.start_after(submission);
  const std::array both{submission, other.submit(after)};
  std::promise<bool> called;
  submission.on_complete([&](const Error* failure) { called.set_value(failure == nullptr); });
  EXPECT_FALSE(submission.done());
  EXPECT_THROW(submission.wait({.timeout = std::chrono::milliseconds(5)}), TimeoutError);
  EXPECT_THROW(wait_any(both, {.timeout = std::chrono::milliseconds(5)}), TimeoutError);
  std::atomic_ref(flag[0]).store(1);
  wait_any(both, limit);
  wait_all(both, limit);
  EXPECT_TRUE(called.get_future().get());
  EXPECT_THAT(download(data[0]), Each(108U));
}

TEST_F(StreamsOnDevice, tell_every_waiter_when_one_queue_fails) {
  if (!runtime.on_softgpu()) GTEST_SKIP() << "hardware may have been reset";
  auto streams_of_this = std::optional<Streams>(std::in_place, gpu, StreamsOptions{.queues = 3});
  Batch batch(gpu, {.fences = Fences::derived});
  // The checks refuse a group that is larger than the device allows. So one chain fails by a write to an address that
  // is not mapped.
  auto* const wild = std::bit_cast<std::uint32_t*>(std::uintptr_t{0xdead000});
  for (std::size_t chain = 0; chain < 3; ++chain)
    for (int step = 0; step < 6; ++step) {
      if (chain == 1 && step == 3)
        batch.dispatch(increment, grid(1), read_write(wild, ElementRange{}), 1, 1);
      else
        batch.dispatch(increment, grid(n), data[chain], n, 1);
      if (chain == 1) batch.touches(read_write(data[1]));
    }
  ASSERT_EQ(streams_of_this->layout(batch).queues, 3U);
  // The queue may fail before the other queues have their parts: then the submission throws.
  const std::string told = error_of([&] { streams_of_this->submit(batch).wait(limit); });
  EXPECT_THAT(told, HasSubstr("kernel increment"));
  EXPECT_EQ(error_of([&] { streams_of_this->wait(limit); }), told);
  EXPECT_FALSE(error_of([&] { streams_of_this->submit(batch); }).empty());
  streams_of_this.reset();  // ends packets that still wait for the failed queue
  Streams others(gpu);
  Batch fine = independent_chains();
  others.submit(fine).wait(limit);
}

}  // namespace
}  // namespace fastdispatch::test
