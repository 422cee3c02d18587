#include "dispatch/device/hardware.hpp"

#include <string>

#include <gtest/gtest.h>

namespace fastdispatch::detail {
namespace {

std::string isa(const std::string& target) { return "amdgcn-amd-amdhsa--" + target; }

TEST(Hardware, has_barrier_value_packets_where_amds_runtimes_send_them) {
  for (const char* target :
       {"gfx90a:sramecc+:xnack-", "gfx90a", "gfx940", "gfx941", "gfx942:sramecc+:xnack+", "gfx950"})
    EXPECT_TRUE(has_barrier_value_packets(isa(target))) << target;
  for (const char* target : {"gfx803", "gfx900", "gfx906:sramecc+:xnack-", "gfx908", "gfx90c", "gfx1010", "gfx1030",
                             "gfx1100", "gfx1151", "gfx1201", "gfx9-generic", "gfx9", "gfx90", "gfx"})
    EXPECT_FALSE(has_barrier_value_packets(isa(target))) << target;
  EXPECT_FALSE(has_barrier_value_packets(""));
}

TEST(Hardware, keeps_kernel_arguments_out_of_device_memory_by_isa_and_link) {
  using enum KernargObstacle;
  for (const bool xgmi : {false, true}) {
    for (const char* target : {"gfx940", "gfx942:sramecc+:xnack+", "gfx950"})
      EXPECT_EQ(kernarg_obstacle(isa(target), xgmi), none) << target;
    for (const char* target : {"gfx900", "gfx908", "gfx1030", "gfx1100", "gfx9-generic"})
      EXPECT_EQ(kernarg_obstacle(isa(target), xgmi), writes_need_a_flush) << target;
  }
  EXPECT_EQ(kernarg_obstacle(isa("gfx90a:sramecc+:xnack-"), true), none);
  EXPECT_EQ(kernarg_obstacle(isa("gfx90a:sramecc+:xnack-"), false), l2_may_be_stale);
}

}  // namespace
}  // namespace fastdispatch::detail
