// What the log and a trace see of a queue, and what they change in its ring.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "capture.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/hsa/watching.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/batch_parameter.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/trace.hpp"
#include "mock_hsa.hpp"
#include "number_kernel.hpp"
#include "temporary_folder.hpp"

namespace fastdispatch::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::vector<Packet> packets_in(const MockHsa::MadeQueue& queue) {
  return {queue.ring.begin(), queue.ring.begin() + static_cast<std::ptrdiff_t>(queue.amd.write_dispatch_id)};
}

class LoggedPackets : public testing::Test {
protected:
  LoggedPackets() {
    detail::state_of(hsa.agent()).kernels.add(number_kernel_info.object, "space::count(unsigned int)");
  }
  ~LoggedPackets() override { detail::set_log_level(spdlog::level::off); }

  template <class Action>
  static std::vector<std::string> lines_of(Action action) {
    detail::set_log_level(detail::packets_level);
    std::istringstream text(captured(STDERR_FILENO, action));
    detail::set_log_level(spdlog::level::off);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  MockHsa hsa;
  Queue queue{hsa.agent()};
  const Kernel<void(unsigned)> kernel = number_kernel();
};

TEST_F(LoggedPackets, are_a_line_each_in_the_order_of_the_ring) {
  Batch batch(hsa.agent());
  for (unsigned i = 0; i != 3; ++i) batch.dispatch(kernel, grid(64).group(32), i);
  queue.submit(batch);
  const std::vector<std::string> lines = lines_of([&] {
    queue.submit(batch);
    queue.dispatch(kernel, grid(128).group(32), 1U);
    queue.barrier();
  });
  ASSERT_EQ(lines.size(), 5U);
  const auto signal_of = [&](std::size_t index) {
    return fmt::format("completes {:#x}", packets_in(hsa.queue())[index].completion_signal().handle);
  };
  for (std::size_t i = 0; i != 3; ++i)
    EXPECT_THAT(lines[i], AllOf(HasSubstr(fmt::format("packet {}: kernel dispatch, barrier", 3 + i)),
                                HasSubstr("space::count(unsigned int), grid 64, group 32")));
  EXPECT_THAT(lines[1], HasSubstr("no completion signal"));
  EXPECT_THAT(lines[2], HasSubstr(signal_of(5))) << "the epoch signal";
  EXPECT_THAT(lines[3], HasSubstr("packet 6: kernel dispatch"));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("packet 7: barrier-AND"), HasSubstr(signal_of(7))));
}

TEST_F(LoggedPackets, are_those_that_would_be_published_without_the_log) {
  Batch batch(hsa.agent());
  for (unsigned i = 0; i != 3; ++i) batch.dispatch(kernel, grid(64).group(32), i);
  queue.submit(batch);
  static_cast<void>(lines_of([&] { queue.submit(batch); }));
  const std::vector<Packet> published = packets_in(hsa.queue());
  ASSERT_EQ(published.size(), 6U);
  EXPECT_TRUE(std::equal(published.begin(), published.begin() + 3, published.begin() + 3));
}

TEST_F(LoggedPackets, of_a_batch_that_begins_beside_the_last_one_have_the_barrier_bit_that_is_published) {
  DeviceBuffer<unsigned> buffers(hsa.agent(), 2);
  const detail::KernelInfo reader_info{.name = "reader",
                                       .object = 0x2000,
                                       .kernarg_size = 8,
                                       .max_group_size = 1024,
                                       .max_group_segment_size = 65536,
                                       .arguments = {{0, 8}},
                                       .implicit_arguments = {}};
  const Kernel<void(unsigned*)> reader{reader_info};
  Batch first(hsa.agent(), {.fences = Fences::derived});
  Batch second(hsa.agent(), {.fences = Fences::derived});
  for (int i = 0; i != 2; ++i) {
    first.dispatch(reader, grid(64).group(64), read_write(buffers, {.first = 0, .count = 1}));
    second.dispatch(reader, grid(64).group(64), read_write(buffers, {.first = 1, .count = 1}));
  }
  const std::vector<std::string> lines = lines_of([&] {
    queue.submit(first);
    queue.submit(second);
  });
  ASSERT_EQ(lines.size(), 4U);
  ASSERT_EQ(packets_in(hsa.queue())[2].header().ordering.barrier, BarrierBit::clear);
  EXPECT_THAT(lines[2], HasSubstr("kernel dispatch, no barrier"));
  EXPECT_THAT(lines[2], HasSubstr("kernel object 0x2000")) << "it is of no module";
}

class TracedQueue : public testing::Test {
protected:
  TracedQueue() {
    detail::state_of(hsa.agent()).kernels.add(number_kernel_info.object, "space::count(unsigned int)");
    trace.emplace(path);
  }

  std::vector<Packet> packets() { return packets_in(hsa.queue()); }
  /// The events with this value of `key` when the trace has ended.
  [[nodiscard]] std::vector<json> events(const char* key, const char* value) {
    trace.reset();
    std::vector<json> found;
    const json all = json::parse(std::ifstream(path))["traceEvents"];
    for (const json& event : all)
      if (event.value(key, "") == value) found.push_back(event);
    return found;
  }
  static bool is_barrier_behind_all(const Packet& packet) {
    return packet.header() ==
           PacketHeader{PacketType::barrier_and, {BarrierBit::set, FenceScope::none, FenceScope::none}};
  }

  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "trace.json";
  MockHsa hsa;
  Queue queue{hsa.agent()};
  const Kernel<void(unsigned)> kernel = number_kernel();
  std::optional<Trace> trace;
};

TEST_F(TracedQueue, gives_each_packet_of_a_batch_a_signal_and_ends_with_a_barrier) {
  Batch batch(hsa.agent());
  for (unsigned i = 0; i != 3; ++i) batch.dispatch(kernel, grid(64).group(64), i);
  queue.submit(batch);
  const std::vector<Packet> published = packets();
  ASSERT_EQ(published.size(), 4U);
  for (std::size_t i = 0; i != 4; ++i)
    for (std::size_t j = i + 1; j != 4; ++j)
      EXPECT_NE(published[i].completion_signal().handle, published[j].completion_signal().handle);
  EXPECT_TRUE(is_barrier_behind_all(published[3]));
  MockHsa::complete(hsa.queue());
  const std::vector<json> kernels = events("cat", "kernel");
  ASSERT_EQ(kernels.size(), 3U);
  for (std::size_t i = 0; i != 3; ++i) {
    EXPECT_EQ(kernels[i]["name"], "space::count(unsigned int)");
    EXPECT_EQ(kernels[i]["dur"], 2.0);
    EXPECT_EQ(kernels[i]["args"]["packet"], i);
    EXPECT_EQ(kernels[i]["args"]["grid"], "64");
    for (std::size_t j = i + 1; j != 3; ++j) EXPECT_NE(kernels[i]["tid"], kernels[j]["tid"]) << "they overlap";
  }
}

TEST_F(TracedQueue, shows_the_values_of_parameters) {
  Batch batch(hsa.agent());
  const auto size = batch.parameter<Grid>("size");
  batch.dispatch(kernel, size, 1U);
  queue.submit(batch, set(size, grid(96).group(32)));
  MockHsa::complete(hsa.queue());
  EXPECT_EQ(events("cat", "kernel")[0]["args"]["grid"], "96");
}

TEST_F(TracedQueue, lets_a_barrier_packet_complete_the_users_signal) {
  const Signal users(hsa.agent());
  queue.dispatch(kernel, grid(64).group(64), {.completion = &users}, 1U);
  const std::vector<Packet> published = packets();
  ASSERT_EQ(published.size(), 2U);
  const hsa_signal_t own = published[0].completion_signal();
  EXPECT_NE(own.handle, users.handle().handle);
  EXPECT_EQ(published[1].header().type, PacketType::barrier_and);
  EXPECT_EQ(published[1].word64(2), own.handle);
  EXPECT_EQ(published[1].completion_signal().handle, users.handle().handle);
  MockHsa::complete(hsa.queue());
  EXPECT_EQ(users.load(), 0);
  EXPECT_EQ(events("cat", "kernel").size(), 1U);
}

TEST_F(TracedQueue, ends_the_epoch_of_packets_behind_them) {
  const Submission submission = queue.dispatch(kernel, grid(64).group(64), 1U);
  ASSERT_EQ(packets().size(), 2U);
  EXPECT_TRUE(is_barrier_behind_all(packets()[1]));
  EXPECT_EQ(MockHsa::complete(hsa.queue(), 1), 1U);
  EXPECT_FALSE(submission.done());
  MockHsa::complete(hsa.queue());
  EXPECT_TRUE(submission.done());
}

TEST_F(TracedQueue, shows_copies_barriers_and_waits) {
  Batch batch(hsa.agent());
  const DeviceBuffer<int> from(hsa.agent(), 4);
  DeviceBuffer<int> to(hsa.agent(), 4);
  batch.dispatch(kernel, grid(64).group(64), 1U);
  batch.copy(to, from);
  hsa.end_copies({0});
  const Submission submission = queue.submit(batch);
  MockHsa::complete(hsa.queue());
  submission.wait();
  EXPECT_EQ(hsa.calls("amd_profiling_async_copy_enable"), 1);
  trace->flush();
  const json all = json::parse(std::ifstream(path))["traceEvents"];
  const auto count = [&](const char* category) {
    return std::count_if(all.begin(), all.end(),
                         [&](const json& event) { return event["ph"] == "X" && event["cat"] == category; });
  };
  EXPECT_EQ(count("kernel"), 1);
  EXPECT_EQ(count("copy"), 1);
  EXPECT_EQ(count("barrier"), 1);
  EXPECT_EQ(count("wait"), 1);
  EXPECT_EQ(count("submission"), 2) << "the host's call, and what the queue had in flight";
}

TEST_F(TracedQueue, forgets_what_has_not_completed) {
  queue.dispatch(kernel, grid(64).group(64), 1U);
  EXPECT_TRUE(events("cat", "kernel").empty());
  EXPECT_FALSE(detail::is_watched());
}

TEST_F(TracedQueue, that_goes_leaves_what_has_completed) {
  {
    Queue passing(hsa.agent());
    passing.dispatch(kernel, grid(64).group(64), 1U);
    MockHsa::complete(*hsa.queues().back());
  }
  EXPECT_EQ(events("cat", "kernel").size(), 1U);
}

TEST_F(TracedQueue, submits_as_before_where_hsa_refuses_to_profile) {
  hsa.fail("amd_profiling_set_profiler_enabled", HSA_STATUS_ERROR_INVALID_QUEUE);
  Batch batch(hsa.agent());
  batch.dispatch(kernel, grid(64).group(64), 1U);
  queue.submit(batch);
  queue.dispatch(kernel, grid(64).group(64), 1U);
  EXPECT_EQ(packets().size(), 2U);
  EXPECT_EQ(hsa.calls("amd_profiling_set_profiler_enabled"), 1) << "once a queue";
  MockHsa::complete(hsa.queue());
  EXPECT_TRUE(events("cat", "kernel").empty());
}

TEST_F(TracedQueue, submits_as_before_when_the_trace_has_ended) {
  Batch batch(hsa.agent());
  batch.dispatch(kernel, grid(64).group(64), 1U);
  queue.submit(batch);
  MockHsa::complete(hsa.queue());
  trace->stop();
  queue.submit(batch);
  queue.submit(batch);
  EXPECT_EQ(packets().size(), 4U) << "two, and then one each";
}

}  // namespace
}  // namespace fastdispatch::test
