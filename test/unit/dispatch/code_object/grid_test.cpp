#include "fastdispatch/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using testing::HasSubstr;

TEST(Grid, counts_its_dimensions_and_keeps_its_default_group_within_the_grid) {
  static_assert(grid(100).group_size == std::array{100U, 1U, 1U});
  static_assert(grid(1000).group_size == std::array{256U, 1U, 1U});
  static_assert(grid(7).dimensions() == 1 && grid(7, 2).dimensions() == 2 && grid(1, 1, 7).dimensions() == 3);
  static_assert(grid(7, 1, 1).dimensions() == 1 && grid(7, 0, 1).dimensions() == 2);
  static_assert(grid(64, 32).group(16, 8).dynamic_lds(512) ==
                Grid{.size = {64, 32, 1}, .group_size = {16, 8, 1}, .dynamic_lds_bytes = 512});
  SUCCEED();
}

TEST(Grid, within_the_limits_of_the_agent_is_valid) {
  MockHsa hsa;
  EXPECT_NO_THROW(validate(grid(UINT32_MAX).group(1024), hsa.agent()));
  EXPECT_NO_THROW(validate(grid(64, 64, 64).group(16, 8, 8).dynamic_lds(65536), hsa.agent()));
}

TEST(Grid, outside_the_limits_of_the_agent_is_refused_with_the_limit) {
  MockHsa hsa;
  const auto refusal = [&](const Grid& shape) { return error_of([&] { validate(shape, hsa.agent()); }); };
  EXPECT_THAT(refusal(grid(0)), HasSubstr("grid has no work-items along x"));
  EXPECT_THAT(refusal(grid(8, 8).group(8, 0)), HasSubstr("work-group has no work-items along y"));
  EXPECT_THAT(refusal(grid(100).group(256)), HasSubstr("larger than the grid of 100"));
  EXPECT_THAT(refusal(grid(4096).group(2048)), HasSubstr("1024"));
  EXPECT_THAT(refusal(grid(64, 64).group(64, 32)), HasSubstr("2048 work-items is more than the 1024"));
  EXPECT_THAT(refusal(grid(64).dynamic_lds(65537)), HasSubstr("65536"));
}

}  // namespace
}  // namespace fastdispatch::test
