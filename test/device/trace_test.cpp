// What is in a trace. CheckedTrace checks what must hold of every trace: its format, names, nesting, arrows, and that
// kernels take time and lie within their submissions.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "device.hpp"
#include "temporary_folder.hpp"
#include "trace_check.hpp"

namespace {

bool ends_in_the_middle = false;  // of the process: what it leaves behind is no leak

}  // namespace

// The leak checker asks.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return ends_in_the_middle ? 1 : 0; }  // NOLINT

namespace fastdispatch::test {
namespace {

class Traces : public Device {
protected:
  [[nodiscard]] CheckedTrace ended(Trace& trace) const {
    trace.stop();
    CheckedTrace checked(path);
    check_submissions(checked);
    return checked;
  }

  static constexpr std::uint32_t n = 1000;
  using Increment = Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>;
  const Increment increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "trace.json";
};

TEST_F(Traces, of_a_batch_have_each_kernel_and_copy_in_order_within_its_submission) {
  for (const Fences fences : {Fences::conservative, Fences::minimal, Fences::derived}) {
    PinnedBuffer<std::uint32_t> numbers(gpu, n, "numbers");
    DeviceBuffer<std::uint32_t> data(gpu, n, "data");
    Batch batch(gpu, {.fences = fences});
    batch.copy(data, numbers);
    for (std::uint32_t i = 0; i != 20; ++i) batch.dispatch(increment, grid(n).group(100), read_write(data), n, 1U);
    batch.copy(numbers, data);
    std::fill(numbers.begin(), numbers.end(), 0);
    queue.submit(batch).wait(limit);  // not in the trace
    Trace trace(path);
    for (int i = 0; i != 3; ++i) queue.submit(batch).wait(limit);
    const CheckedTrace checked = ended(trace);
    EXPECT_THAT(std::vector(numbers.begin(), numbers.end()), testing::Each(80U));

    check_order_of_kernels(checked);
    const std::vector<TraceSpan> kernels = checked.of("kernel");
    const std::vector<TraceSpan> copies = checked.of("copy");
    const std::vector<TraceSpan> submissions = checked.submissions_of_queues();
    const std::vector<TraceSpan> waits = checked.of("wait");
    ASSERT_EQ(kernels.size(), 60U);
    ASSERT_EQ(copies.size(), 6U);
    ASSERT_EQ(submissions.size(), 3U);
    ASSERT_EQ(waits.size(), 3U);
    for (std::size_t i = 0; i != 3; ++i) {
      EXPECT_EQ(submissions[i].name, "batch: 20 kernels, 2 copies");
      const TraceSpan& to_device = copies[2 * i];
      const TraceSpan& to_host = copies[2 * i + 1];
      EXPECT_EQ(to_device.name, "copy host to device");
      EXPECT_EQ(to_host.name, "copy device to host");
      EXPECT_EQ(to_device.args.at("from"), "numbers");
      EXPECT_EQ(to_device.args.at("to"), "data");
      EXPECT_EQ(to_host.args.at("bytes"), n * sizeof(std::uint32_t));
      EXPECT_TRUE(submissions[i].holds(to_device) && submissions[i].holds(to_host));
      for (std::size_t j = 0; j != 20; ++j) {
        const TraceSpan& kernel = kernels[20 * i + j];
        EXPECT_EQ(kernel.name, "increment");
        EXPECT_EQ(kernel.args.at("grid"), "1000");
        EXPECT_EQ(kernel.args.at("group"), "100");
        EXPECT_LE(to_device.end, kernel.begin);
        EXPECT_LE(kernel.end, to_host.begin);
      }
      EXPECT_LE(to_host.end, waits[i].end);
    }
    for (const auto& [counter, value] : checked.counters()) EXPECT_EQ(value, 0) << counter;
  }
}

TEST_F(Traces, of_batches_in_flight_together_and_in_parts_have_all_kernels) {
  Queue small(gpu, {.size = 64});
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  DeviceBuffer<std::uint32_t> other(gpu, n);
  Batch batch(gpu);
  for (int i = 0; i != 150; ++i) {
    batch.dispatch(increment, grid(n), data, n, 1);
    if (i % 50 == 49) batch.copy(other, data);
  }
  Trace trace(path);
  for (int i = 0; i != 3; ++i) small.submit(batch);
  small.wait(limit);
  const CheckedTrace checked = ended(trace);
  EXPECT_THAT(download(other), testing::Each(450U));
  EXPECT_EQ(checked.of("kernel").size(), 450U);
  EXPECT_EQ(checked.of("copy").size(), 9U);
  EXPECT_FALSE(checked.of("barrier").empty());
  check_order_of_kernels(checked);
}

TEST_F(Traces, of_streams_have_the_kernels_of_all_queues_and_their_waits_for_one_another) {
  std::array<DeviceBuffer<std::uint32_t>, 3> data{
      DeviceBuffer<std::uint32_t>(gpu, n), DeviceBuffer<std::uint32_t>(gpu, n), DeviceBuffer<std::uint32_t>(gpu, n)};
  const auto add =
      module.kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)>("add");
  Batch batch(gpu, {.fences = Fences::derived});
  for (int i = 0; i != 12; ++i)
    for (int chain = 0; chain != 2; ++chain) batch.dispatch(increment, grid(n), read_write(data[chain]), n, 1U);
  batch.dispatch(add, grid(n), read(data[0]), read(data[1]), write(data[2]), n);
  Streams streams(gpu, {.queues = 2});
  ASSERT_EQ(streams.layout(batch).queues, 2U);
  Trace trace(path);
  for (int i = 0; i != 4; ++i) streams.submit(batch);
  streams.wait(limit);
  const CheckedTrace checked = ended(trace);
  std::set<int> queues;
  for (const TraceSpan& kernel : checked.of("kernel")) queues.insert(kernel.args.at("queue").get<int>());
  EXPECT_EQ(queues.size(), 2U);
  EXPECT_EQ(checked.of("kernel").size(), 4U * 25);
  EXPECT_FALSE(checked.of("barrier").empty());
}

TEST_F(Traces, have_dispatches_one_by_one_with_and_without_signals_of_the_programs) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  Signal signal(gpu);
  Trace trace(path);
  for (int i = 0; i != 10; ++i) {
    signal.store(1);
    queue.dispatch(increment, grid(n), {.completion = &signal}, data, n, 1);
    signal.wait(limit);
    queue.dispatch(increment, grid(n), data, n, 1);
  }
  queue.wait(limit);
  const CheckedTrace checked = ended(trace);
  EXPECT_THAT(download(data), testing::Each(20U));
  EXPECT_EQ(checked.of("kernel").size(), 20U);
  EXPECT_EQ(checked.of("wait").size(), 11U);
  check_order_of_kernels(checked);
}

TEST_F(Traces, tell_the_times_of_timed_submissions) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  Batch batch(gpu);
  for (int i = 0; i != 5; ++i) batch.dispatch(increment, grid(n), data, n, 1);
  Trace trace(path);
  const TimedSubmission timed = queue.submit_timed(batch);
  timed.wait(limit);
  const std::vector<TraceSpan> kernels = ended(trace).of("kernel");
  ASSERT_EQ(kernels.size(), 5U);
  for (std::size_t i = 0; i != 5; ++i)
    EXPECT_EQ(kernels[i].end - kernels[i].begin, timed.dispatches()[i].duration().count()) << i;
}

TEST_F(Traces, have_the_copies_that_the_host_waits_for) {
  constexpr std::size_t length = 500'000;  // of several staging blocks
  std::vector<std::uint32_t> values(length);
  DeviceBuffer<std::uint32_t> data(gpu, length);
  Trace trace(path);
  copy(data, std::span(values), {.lock_from = ~std::size_t{0}});
  copy(std::span(values), data, {.lock_from = ~std::size_t{0}});
  const CheckedTrace checked = ended(trace);
  std::size_t to_device = 0;
  std::size_t to_host = 0;
  std::size_t by_host = 0;
  for (const TraceSpan& span : checked.of("copy")) {
    const std::size_t bytes = span.args.at("bytes");
    (span.name == "copy" ? by_host : span.name == "copy host to device" ? to_device : to_host) += bytes;
  }
  EXPECT_EQ(to_device, length * sizeof(std::uint32_t));
  EXPECT_EQ(to_host, length * sizeof(std::uint32_t));
  EXPECT_EQ(by_host, 2 * length * sizeof(std::uint32_t)) << "the two calls";
}

TEST_F(Traces, have_a_track_for_each_thread) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  Batch batch(gpu);
  batch.dispatch(increment, grid(n), data, n, 1);
  Trace trace(path);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 3; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j != 50; ++j) queue.submit(batch).wait(limit);
      });
  }
  const CheckedTrace checked = ended(trace);
  EXPECT_EQ(checked.of("kernel").size(), 150U);
  std::set<std::pair<int, int>> tracks;
  for (const TraceSpan& wait : checked.of("wait")) tracks.insert(wait.track);
  EXPECT_EQ(tracks.size(), 3U);
}

TEST_F(Traces, follow_one_another) {
  DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
  Batch batch(gpu);
  batch.dispatch(increment, grid(n), data, n, 1);
  for (std::size_t kernels = 1; kernels != 4; ++kernels) {
    queue.submit(batch);
    Trace trace(path);
    for (std::size_t i = 0; i != kernels; ++i) queue.submit(batch);
    queue.wait(limit);
    EXPECT_EQ(ended(trace).of("kernel").size(), kernels);
  }
}

// The process ends in the middle, with a queue that is not destroyed. It runs this test from its beginning, with a
// folder of its own, and is told this one's by the environment.
TEST_F(Traces, that_are_never_stopped_end_with_the_process) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  constexpr const char* variable = "TRACE_TEST_FILE";
  ::setenv(variable, path.c_str(), 0);
  EXPECT_EXIT(
      {
        DeviceBuffer<std::uint32_t> data = upload(std::vector<std::uint32_t>(n));
        Batch batch(gpu);
        for (int i = 0; i != 7; ++i) batch.dispatch(increment, grid(n), data, n, 1);
        const Trace trace(std::getenv(variable));
        const Submission submission = queue.submit(batch);
        while (!submission.done()) std::this_thread::yield();
        ends_in_the_middle = true;
        std::filesystem::remove(folder.path());
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
  ::unsetenv(variable);
  EXPECT_EQ(CheckedTrace(path).of("kernel").size(), 7U);
}

}  // namespace
}  // namespace fastdispatch::test
