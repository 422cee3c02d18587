// Seeded disorder: legal orders only, the same for the same seed, and different enough to show a missing barrier bit.
#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "memory_queue.hpp"

namespace softgpu::command_processor {
namespace {

class ShuffleTest : public ::testing::Test {
protected:
  /// The order in which one worker starts eight kernels, submitted with the given flags.
  std::vector<int> run_order(std::uint64_t seed, std::uint16_t flags) {
    std::mutex mutex;
    std::vector<int> order;
    std::vector<FakeKernel> kernels(8);
    for (int i = 0; i != 8; ++i)
      kernels[static_cast<std::size_t>(i)].body = [&, i](std::uint32_t, std::uint64_t) {
        const std::lock_guard lock(mutex);
        order.push_back(i);
        return std::nullopt;
      };
    Scheduler one_worker(1);
    MemoryQueue queue(one_worker, grids, host, {.shuffle_seed = seed});
    Signal done(8);
    std::uint64_t last = 0;
    for (const FakeKernel& kernel : kernels) {
      last = queue.reserve();
      queue.publish(last, MemoryQueue::dispatch_packet(kernel, {.completion = &done}),
                    static_cast<std::uint16_t>(HSA_PACKET_TYPE_KERNEL_DISPATCH | flags));
    }
    queue.ring(last);
    EXPECT_TRUE(done.reaches(0));
    return order;
  }

  FakeHost host;
  FakeGrids grids;
};

TEST_F(ShuffleTest, KernelsWithoutBarrierBitsRunInAnotherOrder) {
  const std::vector<int> in_order = {0, 1, 2, 3, 4, 5, 6, 7};
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed != 4; ++seed) {
    std::vector<int> order = run_order(seed, 0);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, in_order);
  }
  EXPECT_GT(orders.size(), 2U);
}

TEST_F(ShuffleTest, TheSameSeedGivesTheSameOrder) { EXPECT_EQ(run_order(7, 0), run_order(7, 0)); }

TEST_F(ShuffleTest, BarrierBitsAreKept) {
  const std::vector<int> in_order = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(run_order(7, barrier_bit), in_order);
}

TEST_F(ShuffleTest, NothingIsLostBetweenBarrierBits) {
  const FakeKernel kernel;
  Scheduler scheduler(4);
  MemoryQueue queue(scheduler, grids, host, {.shuffle_seed = 1});
  Signal left(300);
  for (int i = 0; i != 300; ++i)
    queue.dispatch(kernel, {.groups = 3, .flags = i % 5 == 0 ? barrier_bit : std::uint16_t{0}, .completion = &left});
  EXPECT_TRUE(left.reaches(0));
}

TEST_F(ShuffleTest, WorkGroupsRunInAnotherOrderButEachOnce) {
  std::vector<std::uint64_t> order;
  const FakeKernel kernel{.body = [&](std::uint32_t, std::uint64_t group) {
    order.push_back(group);
    return std::nullopt;
  }};
  Scheduler one_worker(1);
  MemoryQueue queue(one_worker, grids, host, {.shuffle_seed = 3});
  Signal done;
  queue.dispatch(kernel, {.groups = 1000, .completion = &done});
  ASSERT_TRUE(done.reaches(0));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::uint64_t i = 0; i != 1000; ++i) ASSERT_EQ(order[i], i);
}

TEST(IndexPermutation, IsAPermutationForEveryCount) {
  std::mt19937_64 random(1);
  for (const std::uint64_t count : {1U, 2U, 3U, 4U, 12U, 97U, 1000U}) {
    const IndexPermutation permutation(count, random);
    std::set<std::uint64_t> images;
    for (std::uint64_t i = 0; i != count; ++i) images.insert(permutation(i));
    EXPECT_EQ(images.size(), count);
    EXPECT_LT(*images.rbegin(), count);
  }
}

}  // namespace
}  // namespace softgpu::command_processor
