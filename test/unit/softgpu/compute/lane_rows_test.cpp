#include "softgpu/compute/program/lane_rows.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/compute/instruction_set/decoder.hpp"

namespace softgpu::compute {
namespace {

/// The stride of a register behind some instructions, none of which ends another row; nothing if it is no row.
std::optional<unsigned> stride_behind(const std::vector<std::string>& lines, unsigned index, unsigned ids = 1) {
  LaneRows rows;
  if (ids != 0) rows.begin_with_ids(ids);
  for (const std::string& line : lines) {
    const Instruction instruction = parse_instruction(line);
    const auto made = rows.make(instruction);
    rows.forget(instruction.operands.at(0).index);
    if (made) rows.take(*made, 0);
  }
  const auto& row = rows.at(index);
  return row ? std::optional<unsigned>(row->stride) : std::nullopt;
}

TEST(LaneRows, begin_with_scalars_and_with_ids_in_rows) {
  EXPECT_EQ(stride_behind({"v_mov_b32_e32 v1, s0"}, 1, 0), 0U);
  EXPECT_EQ(stride_behind({"v_mov_b32_e32 v1, 17"}, 1, 0), 0U);
  EXPECT_EQ(stride_behind({}, 0, 0), std::nullopt);
  EXPECT_EQ(stride_behind({}, 0, 1), 1U);
  EXPECT_EQ(stride_behind({}, 1, 3), 0U) << "y, which the wavefront's work-items have in common";
}

TEST(LaneRows, are_sums_of_rows) {
  EXPECT_EQ(stride_behind({"v_add_u32_e32 v1, s0, v0"}, 1), 1U);
  EXPECT_EQ(stride_behind({"v_add_u32_e32 v1, v0, v0"}, 1), 2U);
  EXPECT_EQ(stride_behind({"v_subrev_u32_e32 v1, s0, v0"}, 1), 1U);
  EXPECT_EQ(stride_behind({"v_lshlrev_b32_e32 v1, 2, v0"}, 1), 4U);
  EXPECT_EQ(stride_behind({"v_lshl_add_u32 v1, v0, 3, s0"}, 1), 8U);
  EXPECT_EQ(stride_behind({"v_lshl_add_u32 v1, s0, 8, v0"}, 1), 1U);
  EXPECT_EQ(stride_behind({"v_add_lshl_u32 v1, v0, s0, 4"}, 1), 16U);
  EXPECT_EQ(stride_behind({"v_add3_u32 v1, v0, s0, v0"}, 1), 2U);
  EXPECT_EQ(stride_behind({"v_mul_lo_u32 v1, v0, 3"}, 1), 3U);
  EXPECT_EQ(stride_behind({"v_mad_u32_u24 v1, s0, s1, v0"}, 1), 1U);
  EXPECT_EQ(stride_behind({"v_mov_b32_e32 v3, 0", "v_mad_u64_u32 v[4:5], s[2:3], v3, s1, v[0:1]"}, 4), 1U);
}

TEST(LaneRows, are_x_or_the_common_y_and_z_of_packed_ids) {
  EXPECT_EQ(stride_behind({"v_and_b32_e32 v1, 0x3ff, v0"}, 1), 1U);
  EXPECT_EQ(stride_behind({"v_bfe_u32 v1, v0, 10, 10"}, 1), 0U);
  EXPECT_EQ(stride_behind({"v_bfe_u32 v1, v0, 20, 10"}, 1), 0U);
  EXPECT_EQ(stride_behind({"v_lshrrev_b32_e32 v1, 20, v0"}, 1), 0U);
  EXPECT_EQ(stride_behind({"v_mov_b32_e32 v2, v0", "v_and_b32_e32 v1, 0x3ff, v2"}, 1), 1U) << "of a copy, too";
}

TEST(LaneRows, are_none_where_bits_are_taken_of_anything_else) {
  EXPECT_EQ(stride_behind({"v_and_b32_e32 v1, 0x1ff, v0"}, 1), std::nullopt);
  EXPECT_EQ(stride_behind({"v_bfe_u32 v1, v0, 9, 10"}, 1), std::nullopt);
  EXPECT_EQ(stride_behind({"v_lshrrev_b32_e32 v1, 10, v0"}, 1), std::nullopt);
  EXPECT_EQ(stride_behind({"v_add_u32_e32 v2, s0, v0", "v_and_b32_e32 v1, 0x3ff, v2"}, 1), std::nullopt);
  EXPECT_EQ(stride_behind({"v_and_b32_e32 v1, 0x3ff, v0"}, 1, 3), std::nullopt) << "x alone may be masked by chance";
}

TEST(LaneRows, are_none_whose_lanes_are_far_apart_or_descend) {
  EXPECT_EQ(stride_behind({"v_lshlrev_b32_e32 v1, 8, v0"}, 1), std::nullopt);
  EXPECT_EQ(stride_behind({"v_sub_u32_e32 v1, s0, v0"}, 1), std::nullopt);
  EXPECT_EQ(stride_behind({"v_mul_lo_u32 v1, v0, s0"}, 1), std::nullopt);
  EXPECT_EQ(stride_behind({"v_mul_u32_u24_e32 v1, 3, v0"}, 1), std::nullopt);
}

TEST(LaneRows, of_two_paths_are_those_with_one_stride) {
  LaneRows rows;
  rows.begin_with_ids(3);
  LaneRows other;
  other.begin_with_ids(3);
  EXPECT_FALSE(rows.join(other));
  const auto twice = other.make(parse_instruction("v_add_u32_e32 v0, v0, v0"));
  ASSERT_TRUE(twice);
  other.take(*twice, 0);
  EXPECT_TRUE(rows.join(other));
  EXPECT_FALSE(rows.at(0));
  EXPECT_TRUE(rows.at(1));
}

}  // namespace
}  // namespace softgpu::compute
