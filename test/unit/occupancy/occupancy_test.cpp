#include "occupancy/occupancy.hpp"

#include <gtest/gtest.h>

#include "occupancy/compute_units.hpp"

namespace occupancy {
namespace {

Occupancy on(const char* processor, const WorkGroup& group) {
  const ComputeUnit& unit = *find_compute_unit(processor);
  return of(unit, unit.alone(), group);
}
Occupancy on_a_pair(const char* processor, const WorkGroup& group) {
  const ComputeUnit& unit = *find_compute_unit(processor);
  return of(unit, unit.in_a_pair(), group);
}

// The expected numbers are those that LLVM 19 prints for kernels with so many registers.
TEST(Occupancy, counts_registers_as_the_hardware_hands_them_out) {
  const auto waves = [](const char* processor, std::uint32_t lanes, std::uint32_t registers) {
    return on(processor, {.lanes = lanes, .vector_registers = registers}).waves_per_simd;
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
  EXPECT_EQ(waves("gfx906", 64, 1), 10U);
  EXPECT_EQ(waves("gfx908", 64, 33), 7U);    // 36 of 256
  EXPECT_EQ(waves("gfx1010", 32, 65), 14U);  // 72 of 1024
  EXPECT_EQ(waves("gfx1151", 32, 121), 10U);
  EXPECT_EQ(waves("gfx1152", 32, 121), 8U);
  EXPECT_EQ(waves("gfx1201", 32, 97), 12U);
}

TEST(Occupancy, is_limited_by_what_runs_out_first) {
  using enum Limit;
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

TEST(Occupancy, of_groups_of_several_wavefronts_takes_a_barrier_each) {
  const Occupancy groups = on("gfx906", {.waves = 2});
  EXPECT_EQ(groups.groups, 16U);  // of the 20 for which there are places
  EXPECT_EQ(groups.limit, Limit::barriers);
  EXPECT_EQ(on("gfx906", {.waves = 1}).groups, 40U);
  EXPECT_EQ(on_a_pair("gfx1010", {.lanes = 32, .waves = 2}).groups, 32U);  // of 40
}

TEST(Occupancy, of_a_pair_of_compute_units_has_the_lds_of_both) {
  EXPECT_EQ(on("gfx1100", {.lanes = 32, .waves = 8, .lds_bytes = 40000}).groups, 1U);
  EXPECT_EQ(on_a_pair("gfx1100", {.lanes = 32, .waves = 8, .lds_bytes = 40000}).groups, 3U);
  EXPECT_EQ(on_a_pair("gfx1100", {.lanes = 32, .waves = 8}).groups, 8U);
}

// COMPUTE_PGM_RSRC1: granules of registers less one from bit 0, WGP_MODE at bit 29.
TEST(Occupancy, takes_registers_and_place_from_the_kernel_descriptor) {
  EXPECT_EQ(find_compute_unit("gfx90a")->vector_registers_in(3, 64), 32U);
  EXPECT_EQ(find_compute_unit("gfx908")->vector_registers_in(3, 64), 16U);
  EXPECT_EQ(find_compute_unit("gfx1030")->vector_registers_in(3, 64), 16U);
  EXPECT_EQ(find_compute_unit("gfx1030")->vector_registers_in(3, 32), 32U);
  EXPECT_EQ(find_compute_unit("gfx1030")->place_of(1U << 29U).compute_units, 2U);
  EXPECT_EQ(find_compute_unit("gfx1030")->place_of(0).compute_units, 1U);
  EXPECT_EQ(find_compute_unit("gfx90a")->place_of(1U << 29U).compute_units, 1U);
}

TEST(Occupancy, is_not_known_of_other_gpus) { EXPECT_EQ(find_compute_unit("gfx803"), nullptr); }

TEST(Occupancy, is_none_for_a_group_that_does_not_fit) {
  EXPECT_EQ(on("gfx90a", {.waves = 16, .vector_registers = 256}).groups, 0U);
  EXPECT_EQ(on("gfx90a", {.lds_bytes = 65537}).groups, 0U);
  EXPECT_EQ(on("gfx90a", {.lds_bytes = ~std::uint32_t{0}}).groups, 0U);
}

}  // namespace
}  // namespace occupancy
