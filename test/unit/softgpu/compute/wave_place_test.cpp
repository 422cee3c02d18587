#include "softgpu/compute/execution/wave_place.hpp"

#include <array>
#include <set>

#include <gtest/gtest.h>

#include "softgpu/compute/execution/compute_units.hpp"
#include "softgpu/compute/execution/launch.hpp"
#include "test_launch.hpp"

namespace softgpu::compute {
namespace {

TEST(ComputeUnits, are_all_enabled_until_a_mask_says_otherwise) {
  ComputeUnits units(104);
  EXPECT_EQ(units.enabled_count(), 104U);
  EXPECT_EQ(units.enabled(0), 0U);
  EXPECT_EQ(units.enabled(103), 103U);
}

TEST(ComputeUnits, are_those_whose_bits_are_set) {
  ComputeUnits units(104);
  units.enable(std::array{0x80000001U, 0U, 0x10U, 0xffffffffU});
  ASSERT_EQ(units.enabled_count(), 3U + 8U);  // bits from 104 on are nobody's
  EXPECT_EQ(units.enabled(0), 0U);
  EXPECT_EQ(units.enabled(1), 31U);
  EXPECT_EQ(units.enabled(2), 68U);
  EXPECT_EQ(units.enabled(3), 96U);
}

TEST(ComputeUnits, are_all_enabled_by_a_mask_without_any_that_the_agent_has) {
  ComputeUnits units(40);
  units.enable(std::array{1U});
  units.enable(std::array{0U, 0xffffff00U});
  EXPECT_EQ(units.enabled_count(), 40U);
}

class WavePlace : public testing::Test {
protected:
  /// What a wavefront of a grid of 64 work-groups, 4 by 4 by 4, reads.
  std::uint32_t read(PlaceRegister which, std::array<std::uint32_t, 3> group_id, std::uint32_t wave = 0) {
    const WorkGroup group{.id = group_id, .size = {64, 4, 1}, .lanes = 64};
    WaveState state;
    state.launch = &launch_;
    state.group = &group;
    state.wave_in_group = wave;
    return place_register(&state, static_cast<std::uint32_t>(which));
  }

  ComputeUnits units_{32};
  KernelDescriptor descriptor_{.rsrc3 = 5, .rsrc1 = 7 | 3 << 6};
  QueueView queue_{.compute_units = &units_};
  PreparedLaunch launch_{kernel_of(nullptr, Waits::never, descriptor_), packet_of({256, 16, 4}, {64, 4, 1}), queue_};
};

std::uint32_t bits(std::uint32_t value, unsigned first, unsigned count) { return value >> first & ((1U << count) - 1); }

TEST_F(WavePlace, work_groups_come_to_the_compute_units_in_turn) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t z = 0; z < 2; ++z)
    for (std::uint32_t y = 0; y < 4; ++y)
      for (std::uint32_t x = 0; x < 4; ++x) {
        const std::uint32_t id = read(PlaceRegister::hw_id, {x, y, z});
        const std::uint32_t unit = x + 4 * (y + 4 * z);
        EXPECT_EQ(bits(id, 13, 3), unit % 8);  // the shader engine
        EXPECT_EQ(bits(id, 8, 4), unit / 8);   // the unit within it
        seen.insert(bits(id, 8, 8));
      }
  EXPECT_EQ(seen.size(), 32U);
}

TEST_F(WavePlace, work_groups_stay_on_the_compute_units_of_their_queue) {
  units_.enable(std::array{1U << 9 | 1U << 17});
  for (std::uint32_t x = 0; x < 4; ++x) {
    const std::uint32_t id = read(PlaceRegister::hw_id, {x, 0, 0});
    EXPECT_EQ(bits(id, 13, 3), 1U);
    EXPECT_EQ(bits(id, 8, 4), x % 2 == 0 ? 1U : 2U);
  }
}

TEST_F(WavePlace, wavefronts_of_a_work_group_have_different_slots) {
  std::set<std::uint32_t> slots;
  for (std::uint32_t wave = 0; wave < 4; ++wave) {
    slots.insert(bits(read(PlaceRegister::hw_id, {0, 0, 0}, wave), 0, 6));
    slots.insert(bits(read(PlaceRegister::hw_id, {0, 0, 2}, wave), 0, 6));  // another one on the same compute unit
  }
  EXPECT_EQ(slots.size(), 8U);
}

TEST_F(WavePlace, registers_are_those_of_the_kernel_descriptor) {
  const std::uint32_t allocated = read(PlaceRegister::gpr_alloc, {0, 0, 0});
  EXPECT_EQ(bits(allocated, 6, 6), 7U);
  EXPECT_EQ(bits(allocated, 12, 6), 5U);
  EXPECT_EQ(bits(allocated, 24, 4), 3U);
}

}  // namespace
}  // namespace softgpu::compute
