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

class PlacesTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (CPU_COUNT(&all_) < 2) GTEST_SKIP() << "one core";
  }
  cpu_set_t all_ = allowed_cores();
  Places places_;
};

TEST_F(PlacesTest, a_worker_leaves_the_core_of_another_and_may_run_anywhere_afterwards) {
  bool moved = false;
  std::thread([&] {
    Places::Own first(places_, 0);
    const Places::Own second(places_, 1);
    for (int i = 0; i != 100 && !moved; ++i) {  // the operating system may move it as well
      const auto core = static_cast<int>(first.note());
      second.settle();
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
    Places::Own first(places_, 0);
    const auto core = static_cast<int>(first.note());
    Places::Own(places_, 1).settle();
    EXPECT_EQ(sched_getcpu(), core);
    const cpu_set_t afterwards = allowed_cores();
    EXPECT_TRUE(CPU_EQUAL(&afterwards, &one));
  }).join();
}

TEST_F(PlacesTest, nobody_moves_for_a_worker_that_left) {
  Places::Own first(places_, 0);
  const Places::Own second(places_, 1);
  bool stayed = false;
  for (int i = 0; i != 100 && !stayed; ++i) {  // the operating system may move it
    const auto core = static_cast<int>(first.note());
    first.leave();
    second.settle();
    stayed = sched_getcpu() == core;
  }
  EXPECT_TRUE(stayed);
}

}  // namespace
}  // namespace softgpu::command_processor
