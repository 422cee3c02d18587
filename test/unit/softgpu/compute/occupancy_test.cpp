#include "softgpu/compute/instruction_set/occupancy.hpp"

#include <gtest/gtest.h>

namespace softgpu::compute {
namespace {

Occupancy on(const char* architecture, const GroupResources& group) {
  const Architecture& found = *Architecture::find(architecture);
  return occupancy(found, {.simds = found.simds_of_a_group, .lds_bytes = 65536}, group);
}

// The expected numbers are those of LLVM's GCNSubtarget::getOccupancyWithNumVGPRs.
TEST(Occupancy, counts_registers_as_the_hardware_hands_them_out) {
  const auto waves = [](const char* architecture, std::uint32_t lanes, std::uint32_t registers) {
    return on(architecture, {.lanes = lanes, .vector_registers = registers}).waves_per_simd;
  };
  EXPECT_EQ(waves("gfx90a", 64, 64), 8U);
  EXPECT_EQ(waves("gfx90a", 64, 65), 7U);
  EXPECT_EQ(waves("gfx90a", 64, 512), 1U);
  EXPECT_EQ(waves("gfx1030", 32, 64), 16U);
  EXPECT_EQ(waves("gfx1030", 32, 65), 12U);  // 80 of 1024
  EXPECT_EQ(waves("gfx1030", 64, 33), 12U);  // 40 of 512
  EXPECT_EQ(waves("gfx1100", 32, 96), 16U);
  EXPECT_EQ(waves("gfx1100", 32, 97), 12U);  // 120 of 1536
  EXPECT_EQ(waves("gfx1100", 64, 49), 12U);  // 60 of 768
  EXPECT_EQ(waves("gfx1102", 32, 97), 9U);   // 112 of 1024
}

TEST(Occupancy, is_limited_by_what_runs_out_first) {
  using enum Occupancy::Limit;
  const Occupancy free = on("gfx90a", {.waves = 4, .vector_registers = 16});
  EXPECT_EQ(free.groups, 8U);
  EXPECT_EQ(free.limit, wave_slots);
  const Occupancy registers = on("gfx90a", {.waves = 4, .vector_registers = 128});
  EXPECT_EQ(registers.groups, 4U);
  EXPECT_EQ(registers.limit, vector_registers);
  const Occupancy scalars = on("gfx90a", {.waves = 4, .vector_registers = 16, .scalar_registers = 102});
  EXPECT_EQ(scalars.groups, 7U);
  EXPECT_EQ(scalars.limit, scalar_registers);
  const Occupancy memory = on("gfx90a", {.waves = 4, .vector_registers = 16, .lds_bytes = 21505});
  EXPECT_EQ(memory.groups, 2U);  // 22016 bytes are handed out
  EXPECT_EQ(memory.limit, lds);
}

TEST(Occupancy, is_none_for_a_group_that_does_not_fit) {
  EXPECT_EQ(on("gfx90a", {.waves = 16, .vector_registers = 256}).groups, 0U);
  EXPECT_EQ(on("gfx90a", {.lds_bytes = 65537}).groups, 0U);
  EXPECT_EQ(on("gfx90a", {.lds_bytes = ~std::uint32_t{0}}).groups, 0U);
}

}  // namespace
}  // namespace softgpu::compute
