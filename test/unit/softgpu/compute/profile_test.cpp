// Profiles of kernels whose counts are known by hand.
#include "softgpu/compute/profile/report.hpp"

#include <array>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>

#include "hip_program.hpp"
#include "profile_kernels_code_object.hpp"
#include "profile_kernels_gfx942_code_object.hpp"
#include "softgpu/compute/profile/counting.hpp"

namespace softgpu::compute::profile {
namespace {

using Addresses = std::array<std::uint64_t, 64>;
constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

Addresses stride_of(std::uint64_t bytes) {
  Addresses addresses{};
  for (unsigned lane = 0; lane < 64; ++lane) addresses.at(lane) = 4096 + lane * bytes;
  return addresses;
}

TEST(ProfileShape, is_told_by_the_active_lanes) {
  EXPECT_EQ(shape_of(stride_of(4), all_lanes, 4), Shape::consecutive);
  EXPECT_EQ(shape_of(stride_of(4), 0xf0f0, 4), Shape::consecutive);
  EXPECT_EQ(shape_of(stride_of(4), all_lanes, 8), Shape::strided);
  EXPECT_EQ(shape_of(stride_of(0), all_lanes, 4), Shape::uniform);
  EXPECT_EQ(shape_of(stride_of(4), 0x100, 4), Shape::uniform) << "one lane";
  EXPECT_EQ(shape_of(stride_of(static_cast<std::uint64_t>(-4)), all_lanes, 4), Shape::strided);
  Addresses swapped = stride_of(4);
  std::swap(swapped[10], swapped[11]);
  EXPECT_EQ(shape_of(swapped, all_lanes, 4), Shape::scattered);
  EXPECT_EQ(shape_of(swapped, all_lanes & ~(std::uint64_t{3} << 10U), 4), Shape::consecutive);
}

TEST(ProfileLds, counts_the_turns_that_one_bank_takes) {
  const auto cost = [](std::uint64_t stride, std::uint32_t bytes, Direction direction = Direction::load) {
    const LdsCost found = lds_cost(stride_of(stride), all_lanes, bytes, direction);
    return std::pair(found.passes, found.conflicts);
  };
  EXPECT_EQ(cost(4, 4), std::pair(2UL, 0UL));
  EXPECT_EQ(cost(8, 4), std::pair(2UL, 2UL));         // two dwords a bank, in both halves
  EXPECT_EQ(cost(32 * 4, 4), std::pair(2UL, 62UL));   // 32 dwords of one bank
  EXPECT_EQ(cost(33 * 4, 4), std::pair(2UL, 0UL));    // a column of padding
  EXPECT_EQ(cost(0, 4), std::pair(2UL, 0UL));         // broadcast
  EXPECT_EQ(cost(1, 1), std::pair(2UL, 0UL));         // four lanes share a dword
  EXPECT_EQ(cost(8, 8), std::pair(4UL, 0UL));         // 16 lanes a pass
  EXPECT_EQ(cost(16, 16), std::pair(8UL, 0UL));       // 8 lanes a pass
  EXPECT_EQ(cost(128, 16), std::pair(8UL, 8UL * 7));  // the same four banks
  EXPECT_EQ(cost(0, 4, Direction::atomic), std::pair(2UL, 62UL));
  EXPECT_EQ(lds_cost(stride_of(128), 3, 4, Direction::load).conflicts, 1U) << "two active lanes";
  EXPECT_EQ(lds_cost(stride_of(4), 1, 4, Direction::load).passes, 1U);
}

class ProfiledKernels : public testing::Test {
protected:
  /// The profile of one run of a work-group of 64.
  template <class... Arguments>
  KernelSummary run(const std::string& kernel, Arguments... arguments) {
    Profile profile;
    HipProgram program(code_objects::profile_kernels(), code_objects::profile_kernels_gfx942(), &profile);
    const auto failure = program.run(kernel, {{64, 1, 1}, {64, 1, 1}}, arguments...);
    EXPECT_FALSE(failure) << failure->text;
    const std::vector<KernelSummary> found = summaries(profile);
    EXPECT_EQ(found.size(), 1U);
    json = as_json(found);
    return found.at(0);
  }
  static std::uint64_t count(const KernelSummary& kernel, Space space, Direction direction, Shape shape) {
    std::uint64_t sum = 0;
    for (const AccessRow& row : kernel.accesses)
      if (row.space == space && row.direction == direction) sum += row.by_shape.at(static_cast<std::size_t>(shape));
    return sum;
  }
  static std::uint64_t count(const KernelSummary& kernel, Category category) {
    return kernel.totals.by_category.at(static_cast<std::size_t>(category));
  }

  std::vector<unsigned> out = std::vector<unsigned>(128);
  std::string json;
};

TEST_F(ProfiledKernels, count_bank_conflicts) {
  for (const char* name : {"stride_through_lds", "stride_by_flat_addresses"})
    for (const auto& [stride, conflicts] : {std::pair(1U, 0U), {2U, 2U}, {32U, 62U}, {33U, 0U}, {0U, 0U}}) {
      const KernelSummary kernel = run(name, out.data(), stride);
      EXPECT_EQ(kernel.wavefronts, 1U);
      // A store and a load, and the store of the result.
      EXPECT_EQ(count(kernel, Category::lds) + count(kernel, Category::memory), 3U);
      EXPECT_EQ(kernel.totals.lds_passes, 4U);
      EXPECT_EQ(kernel.totals.lds_conflicts, 2U * conflicts) << "stride " << stride;
      const Shape shape = stride == 1 ? Shape::consecutive : stride == 0 ? Shape::uniform : Shape::strided;
      EXPECT_EQ(count(kernel, Space::lds, Direction::load, shape), 1U);
      EXPECT_EQ(count(kernel, Space::lds, Direction::store, shape), 1U);
      EXPECT_EQ(count(kernel, Space::global, Direction::store, Shape::consecutive), 1U);
      if (stride != 0) {
        EXPECT_EQ(out[63], 63U) << "counting changes nothing";
      }
    }
}

TEST_F(ProfiledKernels, count_barriers_and_atomics_in_lds) {
  const KernelSummary kernel = run("add_in_lds", out.data());
  EXPECT_EQ(out[5], 64U * 65 / 2);
  std::uint64_t atomics = 0;
  for (const Shape shape : {Shape::consecutive, Shape::uniform, Shape::strided, Shape::scattered})
    atomics += count(kernel, Space::lds, Direction::atomic, shape);
  EXPECT_EQ(atomics, 1U);
  EXPECT_THAT(json, testing::HasSubstr(R"("space":"lds","direction":"atomic","bytes":4)"));
}

TEST_F(ProfiledKernels, count_the_shapes_of_accesses) {
  std::vector<unsigned> from(64, 3);
  std::vector<unsigned> where(64);
  std::iota(where.begin(), where.end(), 0U);
  const KernelSummary in_order = run("copy", from.data(), out.data(), where.data());
  EXPECT_EQ(count(in_order, Space::global, Direction::load, Shape::consecutive), 2U);
  EXPECT_EQ(count(in_order, Space::global, Direction::store, Shape::strided), 1U);
  std::swap(where[3], where[40]);
  const KernelSummary scattered = run("copy", from.data(), out.data(), where.data());
  EXPECT_EQ(count(scattered, Space::global, Direction::load, Shape::scattered), 1U);
  EXPECT_EQ(scattered.totals.scattered, 1U);
  EXPECT_EQ(out[126], 3U);
}

TEST_F(ProfiledKernels, count_active_lanes) {
  const KernelSummary kernel = run("some_lanes", out.data());
  EXPECT_EQ(count(kernel, Category::memory), 1U);
  // What stands in the branch runs with 16 of 64 lanes.
  EXPECT_LT(kernel.totals.active_lanes, kernel.totals.lanes);
  EXPECT_EQ((kernel.totals.lanes - kernel.totals.active_lanes) % 48, 0U);
  EXPECT_EQ(kernel.totals.lanes, 64 * (count(kernel, Category::vector) + count(kernel, Category::memory)));
}

TEST(ProfileReport, has_each_kernel_in_each_form) {
  Profile profile;
  KernelProfile& kernel = profile.kernel("sum<float>", "gfx90a", 64);
  InstructionCounts& load = kernel.instruction(0, "global_load_dword v0, v1, s[0:1]");
  load.category = category_of("global_load_dword");
  load.direction = direction_of("global_load_dword");
  load.bytes = 4;
  load.line = "sum.hip:7";
  load.executions = 5;
  load.active_lanes = 160;
  load.accesses[0][3] = 5;
  static_cast<void>(profile.kernel("never ran", "gfx90a", 64).instruction(0, "s_endpgm"));
  const std::vector<KernelSummary> found = summaries(profile);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(as_table(found), testing::AllOf(testing::HasSubstr("sum<float>: 5 wavefronts of 64 lanes, gfx90a"),
                                              testing::ContainsRegex("global load +4 +5 +0 +0 +0 +5\n"),
                                              testing::ContainsRegex("sum.hip:7 +5 +50.0 % +5 +5 +0 +0\n")));
  EXPECT_THAT(as_json(found), testing::HasSubstr(R"("line":"sum.hip:7","instructions":5)"));
  EXPECT_THAT(as_page(found), testing::AllOf(testing::HasSubstr("<h2>sum&lt;float>: 5 wavefronts"),
                                             testing::HasSubstr("<td>sum.hip:7</td><td>5</td>"),
                                             testing::Not(testing::HasSubstr("<script"))));
}

}  // namespace
}  // namespace softgpu::compute::profile
