// The host's half of hostcall, with threads in the place of wavefronts.
#include "dispatch/hostcall/hostcall.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "capture.hpp"
#include "dispatch/hostcall/abi.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "expect_error.hpp"
#include "fastdispatch/queue.hpp"
#include "hostcall_message.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::detail {
namespace {

using namespace hostcall;
using test::error_of;
using test::MockHsa;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Slots = std::vector<std::array<std::uint64_t, words_per_lane>>;  // of the lanes 0, 1, ...

/// What a wavefront does: the device library's part of the protocol.
class Wavefront {
public:
  explicit Wavefront(std::uint64_t buffer) : buffer_(*std::bit_cast<BufferHeader*>(buffer)) {}

  /// Returns the packet.
  std::uint64_t send(std::uint32_t service, const Slots& slots, std::uint64_t active_lanes) {
    const std::uint64_t packet = pop();
    PacketHeader& header = buffer_.headers[packet & buffer_.index_mask];
    Payload& payload = buffer_.payloads[packet & buffer_.index_mask];
    header.service = service;
    header.active_lanes = active_lanes;
    header.control = waits_for_host;
    for (std::size_t lane = 0; lane < slots.size(); ++lane)
      std::copy(slots[lane].begin(), slots[lane].end(), payload.slots[lane]);
    push(buffer_.ready_stack, packet);
    std::atomic_ref(const_cast<std::int64_t&>(amd_signal(buffer_.doorbell).value)).fetch_add(1);
    return packet;
  }

  /// The slots as the host left them.
  Slots call(std::uint32_t service, const Slots& slots, std::uint64_t active_lanes) {
    const std::uint64_t packet = send(service, slots, active_lanes);
    PacketHeader& header = buffer_.headers[packet & buffer_.index_mask];
    while ((std::atomic_ref(header.control).load() & waits_for_host) != 0) std::this_thread::yield();
    const Payload& payload = buffer_.payloads[packet & buffer_.index_mask];
    Slots answers(slots.size());
    for (std::size_t lane = 0; lane < slots.size(); ++lane)
      std::copy_n(payload.slots[lane], words_per_lane, answers[lane].begin());
    push(buffer_.free_stack, packet + buffer_.index_mask + 1);
    return answers;
  }

  /// Sends a message a lane, in pieces of seven words; returns what printf returns to each.
  std::vector<std::int64_t> print(std::vector<std::vector<std::uint64_t>> messages) {
    Slots slots(messages.size(), {begins_message});
    std::vector<std::size_t> sent(messages.size());
    while (true) {
      std::uint64_t active = 0;
      for (std::size_t lane = 0; lane < messages.size(); ++lane) {
        const std::size_t left = messages[lane].size() - sent[lane];
        if (left == 0) continue;
        active |= std::uint64_t{1} << lane;
        const std::size_t count = std::min<std::size_t>(left, 7);
        slots[lane][0] = (slots[lane][0] & ~std::uint64_t{0xe2}) | count << length_shift |
                         (count == left ? ends_message : std::uint64_t{0});
        std::copy_n(messages[lane].begin() + static_cast<std::ptrdiff_t>(sent[lane]), count, slots[lane].begin() + 1);
        sent[lane] += count;
      }
      if (active == 0) break;
      const Slots answers = call(hostcall::print, slots, active);
      for (std::size_t lane = 0; lane < messages.size(); ++lane)
        if ((active >> lane & 1) != 0) slots[lane] = answers[lane];
    }
    std::vector<std::int64_t> results;
    for (const auto& slot : slots) results.push_back(static_cast<std::int64_t>(slot[0]));
    return results;
  }

private:
  std::uint64_t pop() {
    std::atomic_ref top(buffer_.free_stack);
    std::uint64_t first = top.load();
    while (true) {
      EXPECT_NE(first, 0U);
      const std::uint64_t next = std::atomic_ref(buffer_.headers[first & buffer_.index_mask].next).load();
      if (top.compare_exchange_strong(first, next)) return first;
    }
  }
  void push(std::uint64_t& stack, std::uint64_t packet) {
    std::atomic_ref top(stack);
    std::uint64_t next = top.load();
    do std::atomic_ref(buffer_.headers[packet & buffer_.index_mask].next).store(next);
    while (!top.compare_exchange_strong(next, packet));
  }

  BufferHeader& buffer_;
};

std::size_t free_packets(std::uint64_t buffer) {
  const auto& header = *std::bit_cast<BufferHeader*>(buffer);
  std::set<std::uint64_t> seen;
  for (std::uint64_t at = header.free_stack; at != 0; at = header.headers[at & header.index_mask].next)
    if (!seen.insert(at & header.index_mask).second) return 0;
  return seen.size();
}

class HostcallTest : public ::testing::Test {
protected:
  /// Waits for the queue's failure.
  std::string failure() {
    while (true) {
      try {
        MockHsa::complete(hsa.queue());
        queue.barrier();
      } catch (const Error& error) {
        return error.what();
      }
    }
  }

  MockHsa hsa;
  Queue queue{hsa.agent(), {.size = 64}};
  Hostcall& hostcall = hostcall_of(hsa.agent());
  Wavefront wavefront{hostcall.buffer_of(queue.handle())};
};

TEST_F(HostcallTest, has_a_packet_for_each_wavefront_that_can_be_resident) {
  EXPECT_EQ(free_packets(hostcall.buffer_of(queue.handle())), 32U * 104U);
}

TEST_F(HostcallTest, prints_the_lanes_in_order_and_returns_the_count_of_characters) {
  std::vector<std::int64_t> counts;
  const std::string text = test::captured(STDOUT_FILENO, [&] {
    counts = wavefront.print(
        {test::printf_message(0, "%d\n", -1), test::printf_message(0, "%.2f\n", 1.5), test::printf_message(0, "x")});
  });
  EXPECT_EQ(text, "-1\n1.50\nx");
  EXPECT_EQ(counts, (std::vector<std::int64_t>{3, 5, 1}));
}

TEST_F(HostcallTest, prints_messages_of_several_pieces) {
  constexpr const char* words = "a text that needs more than one piece of seven words, and more than two of them";
  std::vector<std::int64_t> counts;
  const std::string text = test::captured(STDOUT_FILENO, [&] {
    counts = wavefront.print({test::printf_message(0, "%s", words), test::printf_message(0, "short\n")});
  });
  EXPECT_EQ(text, std::string("short\n") + words);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{static_cast<std::int64_t>(std::string_view(words).size()), 6}));
}

TEST_F(HostcallTest, prints_to_the_stream_of_errors) {
  EXPECT_EQ(test::captured(STDERR_FILENO, [&] { wavefront.print({test::printf_message(1, "no")}); }), "no");
}

TEST_F(HostcallTest, returns_a_negative_count_when_the_stream_takes_nothing) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  std::setvbuf(full, nullptr, _IONBF, 0);
  std::swap(stderr, full);
  const auto counts = wavefront.print({test::printf_message(1, "lost")});
  std::swap(stderr, full);
  std::fclose(full);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{-1}));
}

TEST_F(HostcallTest, serves_many_wavefronts_of_several_queues) {
  constexpr int threads = 8;
  constexpr int rounds = 50;
  Queue other(hsa.agent(), {.size = 64});
  const std::uint64_t buffers[] = {hostcall.buffer_of(queue.handle()), hostcall.buffer_of(other.handle())};
  ASSERT_NE(buffers[0], buffers[1]);
  std::string text = test::captured(STDOUT_FILENO, [&] {
    std::vector<std::jthread> waves;
    for (int i = 0; i < threads; ++i)
      waves.emplace_back([&, i] {
        Wavefront mine(buffers[i % 2]);
        for (int round = 0; round < rounds; ++round)
          mine.print({test::printf_message(0, "%d %d %s\n", i, round, "and more words than one piece has, so two")});
      });
  });
  std::set<std::string> lines;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
    EXPECT_TRUE(lines.insert(text.substr(0, end)).second);
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(threads) * rounds);
  EXPECT_EQ(free_packets(buffers[0]), 32U * 104U);
}

TEST_F(HostcallTest, gives_memory_and_takes_it_back) {
  const std::size_t before = hsa.allocations();
  const auto given = wavefront.call(device_memory, {{0, slab_bytes}, {0, 100}}, 3);
  EXPECT_EQ(given[0][0] % slab_bytes, 0U);
  EXPECT_NE(given[1][0], 0U);
  EXPECT_EQ(hsa.last_allocation().pool.handle, hsa.agent().pools().coarse_grained.handle);
  EXPECT_EQ(hsa.allocations(), before + 2);
  wavefront.call(device_memory, {{given[0][0]}, {given[1][0]}}, 3);
  EXPECT_EQ(hsa.allocations(), before);

  hsa.fail("amd_memory_pool_allocate", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_EQ(wavefront.call(device_memory, {{0, 100}}, 1)[0][0], 0U);
}

TEST_F(HostcallTest, fails_the_queue_of_a_kernel_that_frees_what_it_was_not_given) {
  wavefront.send(device_memory, {{0x1234}}, 1);
  EXPECT_THAT(failure(), HasSubstr("freed 0x1234"));
}

TEST_F(HostcallTest, fails_the_queue_of_a_kernel_that_asks_for_another_service) {
  wavefront.send(call_function, {{0x1000}}, 1);
  EXPECT_THAT(failure(),
              AllOf(HasSubstr("service 1"), HasSubstr("host function"), HasSubstr("printf, assert and malloc")));
  Queue other(hsa.agent(), {.size = 64});
  EXPECT_NO_THROW(other.barrier());
}

// It must not end as if nothing were wrong.
TEST_F(HostcallTest, does_not_answer_a_kernel_whose_queue_failed) {
  wavefront.send(call_function, {{0x1000}}, 1);
  EXPECT_NE(failure(), "");
  wavefront.send(hostcall::print, {{begins_message}}, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(free_packets(hostcall.buffer_of(queue.handle())), 32U * 104U - 2);
}

TEST_F(HostcallTest, fails_the_queue_of_a_kernel_that_sends_no_printf) {
  wavefront.send(hostcall::print, {{begins_message | ends_message | 2U << length_shift, 2, 0}}, 1);
  EXPECT_THAT(failure(), HasSubstr("printf without a format"));
}

TEST_F(HostcallTest, fails_the_queue_of_a_kernel_that_writes_over_the_buffer) {
  auto& header = *std::bit_cast<BufferHeader*>(hostcall.buffer_of(queue.handle()));
  std::atomic_ref(header.ready_stack).store(header.index_mask);  // there are fewer packets
  std::atomic_ref(const_cast<std::int64_t&>(amd_signal(header.doorbell).value)).fetch_add(1);
  EXPECT_THAT(failure(), HasSubstr("wrote over"));

  Queue other(hsa.agent(), {.size = 64});
  Wavefront wave(hostcall.buffer_of(other.handle()));
  EXPECT_EQ(test::captured(STDOUT_FILENO, [&] { wave.print({test::printf_message(0, "served")}); }), "served");
}

TEST_F(HostcallTest, gives_a_queue_at_the_same_address_a_buffer_of_its_own) {
  const auto* fake = reinterpret_cast<const hsa_queue_t*>(&hsa);
  auto& first = *std::bit_cast<BufferHeader*>(hostcall.buffer_of(fake));
  first.free_stack = 0;  // kernels died with all packets
  const auto old = hostcall.end_for(fake);
  EXPECT_NE(old, nullptr);
  EXPECT_EQ(free_packets(hostcall.buffer_of(fake)), 32U * 104U);
}

TEST_F(HostcallTest, frees_the_buffer_with_its_queue) {
  const std::size_t before = hsa.allocations();
  {
    Queue other(hsa.agent(), {.size = 64});
    static_cast<void>(hostcall.buffer_of(other.handle()));
    EXPECT_GT(hsa.allocations(), before);
  }
  EXPECT_EQ(hsa.allocations(), before);
}

TEST_F(HostcallTest, has_one_heap_for_all_kernels) {
  hsa.end_copies({0, 0});
  const std::uint64_t heap = hostcall.heap_state();
  EXPECT_NE(heap, 0U);
  EXPECT_EQ(hostcall.heap_state(), heap);
}

TEST(HostcallWithoutMemory, is_an_error_where_a_buffer_or_the_signal_is_made) {
  MockHsa hsa;
  hsa.fail("signal_create", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { static_cast<void>(hostcall_of(hsa.agent())); }), HasSubstr("making a signal"));
  hsa.fail("signal_create", HSA_STATUS_SUCCESS);
  Hostcall& hostcall = hostcall_of(hsa.agent());
  const auto* queue = reinterpret_cast<const hsa_queue_t*>(&hsa);
  hsa.fail("amd_memory_pool_allocate", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { static_cast<void>(hostcall.buffer_of(queue)); }), HasSubstr("pinned host memory"));
  EXPECT_EQ(hostcall.end_for(queue), nullptr);
  hsa.fail("amd_memory_pool_allocate", HSA_STATUS_SUCCESS);
  EXPECT_NE(hostcall.buffer_of(queue), 0U);
}

}  // namespace
}  // namespace fastdispatch::detail
