#include "fastdispatch/batch_parameter.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::HasSubstr;

class BatchParameters : public ::testing::Test {
protected:
  using TestKernel = Kernel<void(const unsigned*, unsigned)>;

  static constexpr std::size_t pointer_offset = 0, number_offset = 8, group_count_offset = 16, group_size_offset = 20;

  const Packet& slot(std::size_t i) { return hsa.queue().ring[i % hsa.queue().ring.size()]; }
  template <class T>
  static T argument(const Packet& packet, std::size_t offset) {
    T value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(packet.word64(10)) + offset, sizeof(value));
    return value;
  }
  static unsigned number(const Packet& packet) { return argument<unsigned>(packet, number_offset); }

  MockHsa hsa;
  detail::KernelInfo info{.name = "kernel",
                          .object = 0x1000,
                          .kernarg_size = 24,
                          .group_segment_size = 256,
                          .max_group_size = 512,
                          .max_group_segment_size = 65536,
                          .arguments = {{pointer_offset, 8}, {number_offset, 4}},
                          .implicit_arguments = {{group_count_offset, 4, detail::ImplicitValue::block_count_x},
                                                 {group_size_offset, 2, detail::ImplicitValue::group_size_x}}};
  TestKernel kernel{info};
  DeviceBuffer<unsigned> data{hsa.agent(), 16};
  Queue queue{hsa.agent(), {.size = 64}};
  Batch batch{hsa.agent()};
};

TEST_F(BatchParameters, are_set_by_each_submission_wherever_they_are_used) {
  const auto n = batch.parameter<unsigned>();
  const auto out = batch.parameter<unsigned*>();
  batch.dispatch(kernel, grid(64), data, n);
  batch.dispatch(kernel, grid(64), out, 7U);
  batch.dispatch(kernel, grid(64), out, n);
  DeviceBuffer<unsigned> other(hsa.agent(), 16);
  queue.submit(batch, set(n, 5), set(out, data));
  queue.submit(batch, set(out, other), set(n, 6));
  for (std::size_t submission = 0; submission < 2; ++submission) {
    const std::size_t first = submission * 3;
    const unsigned* pointer = submission == 0 ? data.data() : other.data();
    EXPECT_EQ(argument<const unsigned*>(slot(first), pointer_offset), data.data());
    EXPECT_EQ(number(slot(first)), 5 + submission);
    EXPECT_EQ(argument<const unsigned*>(slot(first + 1), pointer_offset), pointer);
    EXPECT_EQ(number(slot(first + 1)), 7U);
    EXPECT_EQ(argument<const unsigned*>(slot(first + 2), pointer_offset), pointer);
    EXPECT_EQ(number(slot(first + 2)), 5 + submission);
  }
}

TEST_F(BatchParameters, of_submissions_in_flight_stay_and_their_memory_is_used_again_afterwards) {
  const auto n = batch.parameter<unsigned>();
  batch.dispatch(kernel, grid(64), data, n);
  const std::size_t before = hsa.allocations();
  for (unsigned i = 0; i < 3; ++i) queue.submit(batch, set(n, i));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(number(slot(i)), i);
  EXPECT_EQ(hsa.allocations(), before + 1) << "three small blocks in one allocation";
  MockHsa::complete(hsa.queue(), 2);
  for (unsigned i = 3; i < 5; ++i) queue.submit(batch, set(n, i));
  for (unsigned i = 2; i < 5; ++i) EXPECT_EQ(number(slot(i)), i);
  for (unsigned i = 3; i < 5; ++i) EXPECT_EQ(slot(i).word64(10), slot(i - 3).word64(10));
  EXPECT_EQ(hsa.allocations(), before + 1);
}

TEST_F(BatchParameters, of_type_grid_change_packet_and_implicit_arguments) {
  info.max_group_size = 1024;
  const auto size = batch.parameter<Grid>();
  batch.dispatch(kernel, grid(640).group(64), data, 1U);
  batch.dispatch(kernel, size, data, 2U);
  queue.submit(batch, set(size, grid(96, 3).group(32).dynamic_lds(128)));
  EXPECT_EQ(slot(0).words[3], 640U);
  const Packet& packet = slot(1);
  Packet expected = encode(KernelDispatch{.ordering = packet.header().ordering,
                                          .grid = grid(96, 3).group(32),
                                          .group_segment_bytes = 256 + 128,
                                          .kernel_object = 0x1000,
                                          .kernarg_address = packet.word64(10),
                                          .completion_signal = packet.completion_signal()});
  EXPECT_EQ(packet, expected);
  EXPECT_EQ(argument<std::uint32_t>(packet, group_count_offset), 3U);
  EXPECT_EQ(argument<std::uint16_t>(packet, group_size_offset), 32U);
  EXPECT_EQ(number(packet), 2U);
}

TEST_F(BatchParameters, that_are_wrong_are_errors_before_anything_is_published) {
  const auto n = batch.parameter<unsigned>("n");
  const auto size = batch.parameter<Grid>();
  batch.dispatch(kernel, size, data, n);
  Batch other(hsa.agent());
  const auto foreign = other.parameter<unsigned>();
  const Grid good = grid(64);
  EXPECT_THAT(error_of([&] { queue.submit(batch); }), HasSubstr("parameter \"n\" is not set"));
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(n, 1)); }), HasSubstr("parameter 2 of the batch's 2 is not set"));
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(size, good)); }), HasSubstr("parameter \"n\" is not set"));
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(n, 1), set(n, 1), set(size, good)); }),
              HasSubstr("parameter \"n\" is set twice"));
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(n, 1), set(size, good), set(foreign, 1)); }),
              HasSubstr("another batch"));
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(n, 1), set(size, grid(0))); }), HasSubstr("no work-items"));
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(n, 1), set(size, grid(1024).group(1024))); }),
              HasSubstr("512 is the most"));
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(n, 1), set(size, good.dynamic_lds(65536))); }),
              HasSubstr("group memory"));
  EXPECT_EQ(hsa.queue().amd.write_dispatch_id, 0U);
  queue.submit(batch, set(n, 1), set(size, good));
  EXPECT_EQ(MockHsa::complete(hsa.queue()), 1U);
}

TEST_F(BatchParameters, of_another_batch_or_from_before_a_clear_cannot_be_recorded) {
  Batch other(hsa.agent());
  const auto foreign = other.parameter<unsigned>();
  const auto foreign_size = other.parameter<Grid>();
  const auto stale = batch.parameter<unsigned>();
  batch.clear();
  EXPECT_THAT(error_of([&] { batch.dispatch(kernel, grid(64), data, foreign); }), HasSubstr("another batch"));
  EXPECT_THAT(error_of([&] { batch.dispatch(kernel, foreign_size, data, 1U); }), HasSubstr("another batch"));
  EXPECT_THAT(error_of([&] { batch.dispatch(kernel, grid(64), data, stale); }), HasSubstr("cleared"));
  EXPECT_EQ(batch.dispatches(), 0U);
  batch.dispatch(kernel, grid(64), data, 1U);
  EXPECT_THAT(error_of([&] { queue.submit(batch, set(stale, 1)); }), HasSubstr("cleared"));
}

TEST_F(BatchParameters, work_beside_copies_whose_signals_are_set_again) {
  DeviceBuffer<unsigned> other(hsa.agent(), 16);
  const auto n = batch.parameter<unsigned>();
  const auto size = batch.parameter<Grid>();
  batch.dispatch(kernel, size, data, n);
  batch.copy(other, data);
  hsa.end_copies({0, 0, 0});
  for (unsigned i = 0; i < 3; ++i) {
    queue.submit(batch, set(n, i), set(size, grid(64 * (i + 1))));
    ASSERT_EQ(hsa.copies().size(), i + 1U);
    const auto& copy = hsa.copies().back();
    EXPECT_EQ(number(slot(2 * i)), i);
    EXPECT_EQ(slot(2 * i).words[3], 64 * (i + 1));
    EXPECT_EQ(slot(2 * i).completion_signal().handle, copy.depends_on.at(0).handle);
    EXPECT_EQ(reinterpret_cast<amd_signal_t*>(copy.depends_on.at(0).handle)->value, 1);
    EXPECT_EQ(MockHsa::complete(hsa.queue()), 2U);
    EXPECT_EQ(copy.completion.handle, hsa.copies().front().completion.handle) << "the same ones";
  }
}

TEST_F(BatchParameters, set_by_several_threads_do_not_mix) {
  constexpr unsigned threads = 4;
  constexpr unsigned submissions = 500;
  const auto first = batch.parameter<unsigned>();
  const auto second = batch.parameter<unsigned>();
  batch.dispatch(kernel, grid(64), data, first);
  batch.dispatch(kernel, grid(64), data, second);
  std::vector<std::jthread> producers;
  for (unsigned i = 0; i < threads; ++i)
    producers.emplace_back([&, i] {
      for (unsigned k = 0; k < submissions; ++k) {
        const unsigned value = i * submissions + k;
        queue.submit(batch, set(first, value), set(second, ~value));
      }
    });
  std::vector<unsigned> times(threads * submissions);
  MockHsa::MadeQueue& made = hsa.queue();
  const auto next = [&] {
    Packet& packet = made.ring[made.amd.read_dispatch_id % made.ring.size()];
    while ((std::atomic_ref(packet.words[0]).load(std::memory_order_acquire) & 0xffU) == HSA_PACKET_TYPE_INVALID)
      std::this_thread::yield();
    const unsigned value = number(packet);
    MockHsa::complete(made, 1);
    return value;
  };
  for (unsigned i = 0; i < threads * submissions; ++i) {
    const unsigned value = next();
    ASSERT_EQ(next(), ~value);
    ++times.at(value);
  }
  EXPECT_THAT(times, ::testing::Each(1U));
}

}  // namespace
}  // namespace fastdispatch::test
