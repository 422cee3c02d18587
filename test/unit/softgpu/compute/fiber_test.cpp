#include "softgpu/compute/execution/fiber.hpp"

#include <array>
#include <memory>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

namespace softgpu::compute {
namespace {

/// Sums numbers that stay on the fiber's stack while it is suspended.
struct Sum {
  std::unique_ptr<Fiber> fiber;
  int result = 0;

  static void run(void* argument) {
    auto& sum = *static_cast<Sum*>(argument);
    std::array<int, 100> numbers{};
    for (int& number : numbers) {
      number = static_cast<int>(&number - numbers.data());
      sum.fiber->suspend();
    }
    sum.result = std::accumulate(numbers.begin(), numbers.end(), 0);
  }
};

// As a worker does, whose fibers the main thread ends after it. The address sanitizer keeps frames for each thread and
// each fiber: those of a fiber must not be among its maker's.
TEST(FiberTest, OutlivesTheThreadThatMadeAndResumedIt) {
  Sum sum;
  std::thread([&] {
    sum.fiber = std::make_unique<Fiber>(&Sum::run, &sum);
    for (int i = 0; i != 50; ++i) sum.fiber->resume();
  }).join();
  for (int i = 0; i != 50; ++i) sum.fiber->resume();
  EXPECT_EQ(sum.result, 0);
  sum.fiber->resume();
  EXPECT_EQ(sum.result, 4950);
  sum.fiber.reset();
}

TEST(FiberTest, RunsItsBodyAgainAfterItsEnd) {
  Sum sum;
  sum.fiber = std::make_unique<Fiber>(&Sum::run, &sum);
  for (int run = 0; run != 2; ++run) {
    sum.result = 0;
    for (int i = 0; i != 101; ++i) sum.fiber->resume();
    EXPECT_EQ(sum.result, 4950);
  }
}

}  // namespace
}  // namespace softgpu::compute
