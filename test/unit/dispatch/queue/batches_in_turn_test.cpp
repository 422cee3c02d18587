// Which barrier bits a queue leaves out between batches with derived fences.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fastdispatch/batch.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "mock_hsa.hpp"
#include "programs.hpp"

namespace fastdispatch::test {
namespace {

class BatchesOfMock : public testing::Test {
protected:
  static constexpr int length = 3;

  // A chain of dispatches on a buffer.
  [[nodiscard]] Batch chain(std::size_t buffer, Fences fences = Fences::derived, int dispatches = length) {
    Batch batch(hsa.agent(), {.fences = fences});
    record(batch, buffer, dispatches);
    return batch;
  }
  void record(Batch& batch, std::size_t buffer, int dispatches = length) {
    for (int i = 0; i < dispatches; ++i) batch.dispatch(kernel, grid(64).group(64), buffers[buffer]);
  }
  static bool has_barrier_bit(const Packet& packet) { return packet.header().ordering.barrier == BarrierBit::set; }
  static const void* buffer_of(const Packet& packet) {
    const void* buffer = nullptr;
    std::memcpy(&buffer, reinterpret_cast<const void*>(packet.word64(10)), sizeof buffer);  // NOLINT
    return buffer;
  }
  // Submits the batch and returns whether its first packet waits; the other packets all wait.
  static bool first_waits(MockHsa& hsa, Queue& queue, Batch& batch) {
    const MockHsa::MadeQueue& made = hsa.queue();
    const std::uint64_t first = made.amd.write_dispatch_id;
    queue.submit(batch);
    for (std::uint64_t i = first + 1; i < made.amd.write_dispatch_id; ++i)
      EXPECT_TRUE(has_barrier_bit(made.ring[i % made.ring.size()])) << i;
    return has_barrier_bit(made.ring[first % made.ring.size()]);
  }

  MockHsa hsa;
  const Kernel<void(unsigned*)> kernel{test::kernel};
  std::array<PinnedBuffer<unsigned>, 3> buffers{PinnedBuffer<unsigned>(hsa.agent(), 1),
                                                PinnedBuffer<unsigned>(hsa.agent(), 1),
                                                PinnedBuffer<unsigned>(hsa.agent(), 1)};
  Queue queue{hsa.agent()};
};

TEST_F(BatchesOfMock, wait_for_the_one_before_only_where_they_conflict) {
  Batch a = chain(0);
  Batch b = chain(1);
  EXPECT_TRUE(first_waits(hsa, queue, a)) << "behind what is not known";
  EXPECT_FALSE(first_waits(hsa, queue, b));
  EXPECT_TRUE(first_waits(hsa, queue, b));
  EXPECT_FALSE(first_waits(hsa, queue, a));
  EXPECT_FALSE(first_waits(hsa, queue, b));
  EXPECT_TRUE(first_waits(hsa, queue, b));
}

TEST_F(BatchesOfMock, wait_for_whatever_else_was_submitted_in_between) {
  Batch a = chain(0);
  Batch b = chain(1);
  queue.submit(a);
  queue.barrier();
  EXPECT_TRUE(first_waits(hsa, queue, b));
  queue.submit(a);
  queue.dispatch(kernel, grid(64).group(64), buffers[1]);
  EXPECT_TRUE(first_waits(hsa, queue, b));
}

TEST_F(BatchesOfMock, wait_where_either_does_not_say_what_it_touches) {
  Batch known = chain(0);
  for (const Fences fences : {Fences::minimal, Fences::conservative}) {
    Batch unknown = chain(1, fences);
    queue.submit(known);
    EXPECT_TRUE(first_waits(hsa, queue, unknown));
    EXPECT_TRUE(first_waits(hsa, queue, known));
  }
}

TEST_F(BatchesOfMock, wait_by_what_was_recorded_when_they_were_submitted) {
  Batch a = chain(0);
  Batch b = chain(1);
  queue.submit(a);
  EXPECT_FALSE(first_waits(hsa, queue, b));
  b.clear();
  record(b, 0);
  queue.submit(a);
  EXPECT_TRUE(first_waits(hsa, queue, b)) << "it touches the same now";
  queue.submit(a);
  a.clear();
  record(a, 2);
  EXPECT_TRUE(first_waits(hsa, queue, b)) << "what was submitted touches the same";
  EXPECT_FALSE(first_waits(hsa, queue, a));
}

TEST_F(BatchesOfMock, wait_behind_one_that_is_forgotten) {
  { queue.submit(*std::make_unique<Batch>(chain(0))); }
  MockHsa::complete(hsa.queue());
  Batch b = chain(1);
  EXPECT_TRUE(first_waits(hsa, queue, b)) << "the first submission of another batch forgets it";
}

TEST_F(BatchesOfMock, that_set_parameters_wait) {
  Batch a = chain(0);
  Batch b(hsa.agent(), {.fences = Fences::derived});
  const auto buffer = b.parameter<unsigned*>();
  for (int i = 0; i < length; ++i) b.dispatch(kernel, grid(64).group(64), buffer);
  queue.submit(a);
  const std::uint64_t first = hsa.queue().amd.write_dispatch_id;
  queue.submit(b, set(buffer, buffers[1]));
  EXPECT_TRUE(has_barrier_bit(hsa.queue().ring[first])) << "it may be any memory";
}

// From several threads, in parts or not: the packets that arrive show in which order the batches came.
TEST_F(BatchesOfMock, of_several_producers_wait_where_the_ones_before_conflict) {
  for (const int dispatches : {length, 150}) {
    Queue small(hsa.agent(), {.size = 64});
    MockHsa::MadeQueue& made = hsa.queue();
    std::array<Batch, 2> batches{chain(0, Fences::derived, dispatches), chain(1, Fences::derived, dispatches)};
    int packet = 0;  // of the batch at hand
    const void* before = nullptr;
    std::size_t beside = 0;
    std::size_t wrong = 0;
    made.on_packet = [&](const Packet& next) {
      if (next.header().type != PacketType::kernel_dispatch) return;
      const bool begins_beside = packet == 0 && before != nullptr && before != buffer_of(next);
      beside += begins_beside ? 1 : 0;
      wrong += has_barrier_bit(next) == begins_beside ? 1 : 0;
      before = buffer_of(next);
      packet = (packet + 1) % dispatches;
    };
    {
      const std::jthread command_processor([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) MockHsa::complete(made);
      });
      std::vector<std::jthread> producers;
      for (std::size_t thread = 0; thread < 4; ++thread)
        producers.emplace_back([&, thread] {
          for (std::size_t i = 0; i < 200; ++i) small.submit(batches[(thread + i / (1 + thread)) % 2]);
        });
      producers.clear();
      small.wait();
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_GT(beside, 100U);
  }
}

}  // namespace
}  // namespace fastdispatch::test
