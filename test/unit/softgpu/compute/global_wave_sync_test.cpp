#include "softgpu/compute/run_time/global_wave_sync.hpp"

#include <gtest/gtest.h>

namespace softgpu::compute {
namespace {

using Wait = GlobalWaveSync::Wait;

TEST(GlobalWaveSync, a_barrier_opens_with_its_last_wavefront) {
  GlobalWaveSync sync;
  ASSERT_EQ(sync.carry_out(GlobalSync::init, 3, 2).kind, Wait::Kind::done);
  for (int phase = 0; phase < 3; ++phase) {
    const Wait first = sync.carry_out(GlobalSync::barrier, 3, 2);
    const Wait second = sync.carry_out(GlobalSync::barrier, 3, 2);
    EXPECT_FALSE(sync.is_over(first));
    EXPECT_FALSE(sync.is_over(second));
    EXPECT_TRUE(sync.is_over(sync.carry_out(GlobalSync::barrier, 3, 2)));
    EXPECT_TRUE(sync.is_over(first));
    EXPECT_TRUE(sync.is_over(second));
  }
}

TEST(GlobalWaveSync, the_last_wavefront_brings_the_count_of_the_next_barrier) {
  GlobalWaveSync sync;
  static_cast<void>(sync.carry_out(GlobalSync::init, 0, 0));
  EXPECT_TRUE(sync.is_over(sync.carry_out(GlobalSync::barrier, 0, 1)));
  const Wait first = sync.carry_out(GlobalSync::barrier, 0, 0);
  EXPECT_FALSE(sync.is_over(first));
  EXPECT_TRUE(sync.is_over(sync.carry_out(GlobalSync::barrier, 0, 0)));
  EXPECT_TRUE(sync.is_over(first));
}

TEST(GlobalWaveSync, resources_are_apart) {
  GlobalWaveSync sync;
  static_cast<void>(sync.carry_out(GlobalSync::init, 1, 1));
  const Wait wait = sync.carry_out(GlobalSync::barrier, 1, 1);
  EXPECT_TRUE(sync.is_over(sync.carry_out(GlobalSync::barrier, 2, 0)));
  EXPECT_FALSE(sync.is_over(wait));
}

TEST(GlobalWaveSync, a_semaphore_lets_as_many_go_on_as_it_was_raised) {
  GlobalWaveSync sync;
  static_cast<void>(sync.carry_out(GlobalSync::init, 5, 1));
  EXPECT_TRUE(sync.is_over(sync.carry_out(GlobalSync::lower, 5, 0)));
  const Wait first = sync.carry_out(GlobalSync::lower, 5, 0);
  const Wait second = sync.carry_out(GlobalSync::lower, 5, 0);
  const Wait third = sync.carry_out(GlobalSync::lower, 5, 0);
  EXPECT_FALSE(sync.is_over(first));
  static_cast<void>(sync.carry_out(GlobalSync::raise, 5, 0));
  EXPECT_TRUE(sync.is_over(second));
  EXPECT_FALSE(sync.is_over(first));
  static_cast<void>(sync.carry_out(GlobalSync::raise_by, 5, 2));
  EXPECT_TRUE(sync.is_over(first));
  EXPECT_TRUE(sync.is_over(third));
  EXPECT_EQ(sync.carry_out(GlobalSync::lower, 5, 0).kind, Wait::Kind::semaphore);
}

TEST(GlobalWaveSync, a_release_of_all_ends_every_wait) {
  GlobalWaveSync sync;
  const Wait first = sync.carry_out(GlobalSync::lower, 0, 0);
  const Wait second = sync.carry_out(GlobalSync::lower, 0, 0);
  static_cast<void>(sync.carry_out(GlobalSync::release_all, 0, 0));
  EXPECT_TRUE(sync.is_over(first));
  EXPECT_TRUE(sync.is_over(second));
  EXPECT_FALSE(sync.is_over(sync.carry_out(GlobalSync::lower, 0, 0)));
}

}  // namespace
}  // namespace softgpu::compute
