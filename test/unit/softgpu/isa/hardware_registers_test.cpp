// s_getreg_b32 of the registers other than MODE.
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// s16 becomes bits `offset` and on of a register.
Case field(const std::string& name, unsigned offset, unsigned width, std::function<u32(const MachineState&)> value) {
  return {.assembly =
              "s_getreg_b32 s16, hwreg(" + name + ", " + std::to_string(offset) + ", " + std::to_string(width) + ")",
          .prepare = {},
          .reference = [value](MachineState& state) { state.scalar[16] = value(state); }};
}
Case field(const std::string& name, unsigned offset, unsigned width, u32 value) {
  return field(name, offset, width, [value](const MachineState&) { return value; });
}

bool is_cdna() { return tested_target().architecture->major == 9; }

/// The lanes that a wavefront has, of a 64-bit mask.
u64 lanes_of(u64 mask) { return tests_wave32() ? mask & 0xffffffff : mask; }

TEST(HardwareRegisters, StatusTellsWhatTheProgramKnows) {
  if (tests_rdna4()) GTEST_SKIP() << "refused there";
  expect_match({
      field("HW_REG_STATUS", 0, 1, [](const MachineState& state) { return state.scc; }),
      field("HW_REG_STATUS", 9, 1, [](const MachineState& state) { return lanes_of(state.exec) == 0 ? 1U : 0U; }),
      field("HW_REG_STATUS", 10, 1, [](const MachineState& state) { return lanes_of(state.vcc) == 0 ? 1U : 0U; }),
      field("HW_REG_STATUS", 11, 1, 0),  // a work-group of one wavefront
      field("HW_REG_STATUS", 16, 1, 1),
  });
}

TEST(HardwareRegisters, AllocationsAreThoseOfTheKernel) {
  if (tests_rdna4()) GTEST_SKIP() << "refused there";
  const u32 granule = tested_target().architecture->lds_alloc_granule;
  expect_match({field("HW_REG_LDS_ALLOC", 12, 9, lds_bytes / granule), field("HW_REG_LDS_ALLOC", 0, 8, 0)},
               {.lds = Lds::loaded_and_stored});
}

TEST(HardwareRegisters, WhatTheSoftGpuHasNotGotIsZero) {
  if (tests_rdna4()) GTEST_SKIP() << "refused there";
  std::vector<Case> cases = {field("HW_REG_TRAPSTS", 0, 9, 0), field("HW_REG_IB_STS", 0, 32, 0)};
  if (is_cdna())
    for (const char* name : {"HW_REG_TBA_LO", "HW_REG_TBA_HI", "HW_REG_TMA_LO", "HW_REG_TMA_HI"})
      cases.push_back(field(name, 0, 32, 0));
  if (tests_later_cdna()) cases.push_back(field("HW_REG_XCC_ID", 0, 4, 0));
  expect_match(cases);
}

/// A queue without a mask of compute units has one compute unit.
TEST(HardwareRegisters, PlaceIsAComputeUnitOfTheQueue) {
  if (tests_rdna4()) GTEST_SKIP() << "refused there";
  if (is_cdna())
    expect_match({field("HW_REG_HW_ID", 8, 8, 0), field("HW_REG_HW_ID", 20, 4, 8), field("HW_REG_HW_ID", 30, 2, 1)});
  else
    expect_match({field("HW_REG_HW_ID1", 10, 4, 0), field("HW_REG_HW_ID1", 18, 3, 0), field("HW_REG_HW_ID2", 8, 2, 1)});
}

}  // namespace
}  // namespace softgpu::isa
