// A worker that is to execute moves away from a core where another one does.
#include "softgpu/command_processor/places.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace softgpu::command_processor {
namespace {

cpu_set_t allowed_cores() {
  cpu_set_t cores;
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

/// In a thread of its own, which ends on another core than it began.
class PlacesTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (CPU_COUNT(&all_) < 2) GTEST_SKIP() << "one core";
  }
  cpu_set_t all_ = allowed_cores();
  Places places_{2};
};

TEST_F(PlacesTest, a_worker_leaves_the_core_of_another_and_may_run_anywhere_afterwards) {
  bool moved = false;
  std::thread([&] {
    for (int i = 0; i != 100 && !moved; ++i) {  // the operating system may move it as well
      const auto core = static_cast<int>(places_.note(0));
      places_.settle();
      moved = sched_getcpu() != core;
    }
    const cpu_set_t afterwards = allowed_cores();
    EXPECT_TRUE(CPU_EQUAL(&afterwards, &all_));
  }).join();
  EXPECT_TRUE(moved);
}

TEST_F(PlacesTest, a_worker_that_was_bound_to_one_core_stays) {
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const auto core = static_cast<int>(places_.note(0));
    places_.settle();
    EXPECT_EQ(sched_getcpu(), core);
    const cpu_set_t afterwards = allowed_cores();
    EXPECT_TRUE(CPU_EQUAL(&afterwards, &one));
  }).join();
}

}  // namespace
}  // namespace softgpu::command_processor
