// Kernels that call the host while they run.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "capture.hpp"
#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  EXPECT_EQ(begin, text.size());
  return lines;
}

std::string formatted(const char* format, auto... values) {
  std::array<char, 500> text{};
  const int size = std::snprintf(text.data(), text.size(), format, values...);
  return {text.data(), static_cast<std::size_t>(size)};
}

PinnedBuffer<char> text_for(Agent gpu, std::string_view text) {
  PinnedBuffer<char> buffer(gpu, text.size() + 1);
  std::copy(text.begin(), text.end(), buffer.begin());
  buffer[text.size()] = '\0';
  return buffer;
}

/// The device code of printf and malloc is long, and takes long to translate.
constexpr WaitOptions translated{.timeout = std::chrono::minutes(25)};

class HostCalls : public Device {
protected:
  static constexpr WaitOptions limit = translated;
  Module calls = Module::load(gpu, HOSTCALL_TEST_KERNELS);
};

constexpr std::uint32_t group_size = 96;  // a wavefront and a half, or three
constexpr std::uint32_t group_count = 20;

// Every line is there once, whole, with its work-item's arguments. The lines of a work-item are in order.
TEST_F(HostCalls, print_the_lines_of_many_work_items) {
  constexpr std::uint32_t rounds = 3;
  PinnedBuffer<char> name =
      text_for(gpu, "a name that is longer than one piece of fifty-six bytes to the host can hold");
  PinnedBuffer<std::int32_t> lengths(gpu, group_count * group_size);
  const auto greet = calls.kernel<void(const char*, std::uint32_t, std::int32_t*)>("greet");
  const std::vector<std::string> lines = lines_of(captured(STDOUT_FILENO, [&] {
    queue.dispatch(greet, grid(group_count * group_size).group(group_size), name, rounds, lengths).wait(limit);
  }));
  std::map<std::string, std::size_t> places;
  for (std::size_t at = 0; at < lines.size(); ++at) EXPECT_TRUE(places.try_emplace(lines[at], at).second) << lines[at];
  for (std::uint32_t i = 0; i < group_count * group_size; ++i) {
    std::size_t length = 0;
    std::size_t last = 0;
    for (std::uint32_t round = 0; round < rounds && i % 3 != 2; ++round) {
      const std::string line = formatted("%d of group %u: %s %c%% %f", -static_cast<int>(i), i / group_size,
                                         i % 3 == 0 ? name.data() : "brief", 'a' + static_cast<int>(round), i * 0.25);
      const auto found = places.find(line);
      ASSERT_NE(found, places.end()) << line;
      EXPECT_TRUE(round == 0 || found->second > last) << line;
      last = found->second;
      length += line.size() + 1;
      places.erase(found);
    }
    ASSERT_EQ(static_cast<std::size_t>(lengths[i]), length) << i;
  }
  EXPECT_TRUE(places.empty());
}

struct Values {
  std::int64_t wide;
  double real;
  float narrow;
  std::int16_t small;
  const char* text;
  void* address;
};

void expect_values(Agent gpu, Queue& queue, const Module& module) {
  const PinnedBuffer<char> text = text_for(gpu, "text");
  const Values v{-1'234'567'890'123, -2.0 / 3, 1.25F, -7, text.data(), &queue};
  const auto print = module.kernel<void(Values)>("print_values");
  const std::string text_of_kernel =
      captured(STDOUT_FILENO, [&] { queue.dispatch(print, grid(1), v).wait(translated); });
  const std::string expected =
      formatted("%ld %lx|%20lld|%hd %hhu %05d %c %%\n", v.wide, v.wide, static_cast<long long>(v.wide), v.small,
                static_cast<unsigned char>(v.small), v.small, 'x') +
      formatted("%s|%10.3s|%*d|%.*f %g %.2f %p\n", v.text, v.text, 7, v.small, 2, v.real, v.real, v.narrow, v.address);
  EXPECT_EQ(text_of_kernel, expected);
}

TEST_F(HostCalls, print_values_as_the_host_does) { expect_values(gpu, queue, calls); }

TEST_F(HostCalls, of_code_object_v5_print_values_as_the_host_does) {
  expect_values(gpu, queue, Module::load(gpu, HOSTCALL_TEST_KERNELS_V5));
}

TEST_F(HostCalls, print_texts_of_many_packets) {
  const std::string text(20'000, 't');
  const PinnedBuffer<char> name = text_for(gpu, text);
  PinnedBuffer<std::int32_t> lengths(gpu, 3);
  const auto greet = calls.kernel<void(const char*, std::uint32_t, std::int32_t*)>("greet");
  const std::string printed =
      captured(STDOUT_FILENO, [&] { queue.dispatch(greet, grid(3), name.data(), 1, lengths).wait(limit); });
  EXPECT_EQ(printed, "0 of group 0: " + text + " a% 0.000000\n-1 of group 0: brief a% 0.250000\n");
}

TEST_F(HostCalls, print_in_each_replay_of_a_batch) {
  const auto print = calls.kernel<void(std::uint32_t)>("print_number");
  Batch batch(gpu);
  const auto number = batch.parameter<std::uint32_t>("number");
  batch.dispatch(print, grid(64).group(64), number);
  batch.dispatch(print, grid(64).group(64), 7U);
  const std::string printed = captured(STDOUT_FILENO, [&] {
    for (std::uint32_t i = 0; i < 3; ++i) queue.submit(batch, set(number, i)).wait(limit);
  });
  EXPECT_EQ(printed, "number 0\nnumber 7\nnumber 1\nnumber 7\nnumber 2\nnumber 7\n");
}

TEST_F(HostCalls, of_two_queues_at_once_are_served) {
  const auto print = calls.kernel<void(std::uint32_t*)>("print_by_thousands");
  Queue other(gpu);
  constexpr std::uint32_t count = 2048;
  PinnedBuffer<std::uint32_t> printed(gpu, 1);
  printed[0] = 0;
  const std::string text = captured(STDOUT_FILENO, [&] {
    const std::array submissions{queue.dispatch(print, grid(count).group(256), printed),
                                 other.dispatch(print, grid(count).group(256), printed)};
    wait_all(submissions, limit);
  });
  EXPECT_EQ(printed[0], 2 * count);
  std::map<std::string, int> lines;
  for (const std::string& line : lines_of(text)) ++lines[line];
  EXPECT_EQ(lines.size(), count);
  for (const auto& [line, times] : lines) ASSERT_EQ(times, 2) << line;
}

// A wavefront holds a packet of its queue's buffer while it waits, and there are as many as wavefronts can be resident.
// Here all wait, because nobody reads what the host prints.
TEST_F(HostCalls, of_more_wavefronts_than_can_be_resident_are_served) {
  constexpr std::uint32_t count = 300'000;
  const auto print = calls.kernel<void(std::uint32_t*)>("print_by_thousands");
  PinnedBuffer<std::uint32_t> printed(gpu, 1);
  printed[0] = 0;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);

  const Submission submission = queue.dispatch(print, grid(count).group(256), printed);
  const auto problem_of_wait = [&](WaitOptions options) -> std::string {
    try {
      submission.wait(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  const std::string while_blocked = problem_of_wait({.timeout = std::chrono::seconds(10)});
  std::string text;
  std::thread reader([&] {
    std::array<char, 4096> block{};
    for (ssize_t size = 0; (size = ::read(ends[0], block.data(), block.size())) > 0;)
      text.append(block.data(), static_cast<std::size_t>(size));
  });
  const std::string afterwards = problem_of_wait(limit);
  dup2(before, STDOUT_FILENO);  // and there is nobody left who writes to the pipe
  close(before);
  reader.join();
  close(ends[0]);
  EXPECT_THAT(while_blocked, HasSubstr("not complete within"));
  EXPECT_EQ(afterwards, "none");
  EXPECT_EQ(printed[0], count);
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_EQ(lines.size(), count);
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), count);
}

TEST_F(HostCalls, of_a_failed_assertion_print_it_and_fail_the_queue) {
  const auto insist = calls.kernel<void(std::uint32_t)>("insist");
  EXPECT_EQ(captured(STDERR_FILENO, [&] { queue.dispatch(insist, grid(64).group(64), 64).wait(limit); }), "");
  std::string error;
  const std::string message = captured(
      STDERR_FILENO, [&] { error = error_of([&] { queue.dispatch(insist, grid(64).group(64), 63).wait(limit); }); });
  EXPECT_THAT(error, AllOf(HasSubstr("kernel insist"), HasSubstr("assertion")));
  EXPECT_THAT(message, HasSubstr("Device-side assertion `threadIdx.x < limit' failed"));

  Queue next(gpu);
  const auto print = calls.kernel<void(std::uint32_t)>("print_number");
  EXPECT_EQ(captured(STDOUT_FILENO, [&] { next.dispatch(print, grid(1), 5).wait(limit); }), "number 5\n");
}

void expect_memory(Agent gpu, Queue& queue, const Module& module) {
  constexpr std::uint32_t items = 128;
  PinnedBuffer<std::uint32_t*> blocks(gpu, std::size_t{2} * items);
  PinnedBuffer<std::uint32_t> sum(gpu, 1);
  sum[0] = 0;
  queue.dispatch(module.kernel<void(std::uint32_t**)>("allocate"), grid(items).group(items), blocks).wait(translated);
  EXPECT_EQ(std::set<std::uint32_t*>(blocks.begin(), blocks.end()).size(), 2 * items);
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
  queue.dispatch(module.kernel<void(std::uint32_t**, std::uint32_t*)>("release"), grid(items).group(items), blocks, sum)
      .wait(translated);
  EXPECT_EQ(sum[0], items * (items - 1));
}

TEST_F(HostCalls, give_kernels_memory) { expect_memory(gpu, queue, calls); }

TEST_F(HostCalls, of_code_object_v5_give_kernels_memory) {
  expect_memory(gpu, queue, Module::load(gpu, HOSTCALL_TEST_KERNELS_V5));
}

TEST_F(HostCalls, of_functions_of_the_host_are_refused) {
  const auto call = calls.kernel<void(std::uint64_t)>("call_the_host");
  const Submission failed = queue.dispatch(call, grid(1), 0x1000);
  EXPECT_THAT(error_of([&] { failed.wait(limit); }),
              AllOf(HasSubstr("a call of a host function"), HasSubstr("call_the_host")));
}

}  // namespace
}  // namespace fastdispatch::test
