// GLOBAL and FLAT loads, stores and atomics.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "float_rules.hpp"
#include "memory_case.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::flat_memory {
namespace {

using Kind = MemoryOperation::Kind;

std::string offset_text(int offset) { return offset == 0 ? "" : " offset:" + std::to_string(offset); }

/// prefix + name, operands in the order that the kind of instruction has.
std::string instruction(const std::string& prefix, const MemoryOperation& operation, bool returns,
                        const std::string& address, const std::string& base, int offset) {
  std::string text = prefix + operation.name + " ";
  if (operation.kind == Kind::load)
    text += result_text(operation) + ", " + address;
  else
    text += (returns ? result_text(operation) + ", " : "") + address + ", " + data_text(operation);
  return text + base + offset_text(offset) + (returns ? " glc" : "");
}

/// A 64-bit address in v[0:1].
Addressing by_vector(const std::string& prefix, const std::string& base, int offset) {
  return {.name = prefix,
          .text = [=](const MemoryOperation& operation,
                      bool returns) { return instruction(prefix, operation, returns, "v[0:1]", base, offset); },
          .aim =
              [=](MachineState& state, unsigned lane, u32 to) {
                state.set_vector_value(address_vgpr, lane, 8,
                                       state.memory_address + to - static_cast<u64>(i64{offset}));
              },
          .resolve =
              [=](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) {
                return state.at(before.vector_value(address_vgpr, lane, 8) + static_cast<u64>(i64{offset}), bytes);
              }};
}

/// A 64-bit base in s[4:5] and an unsigned 32-bit offset in v0.
Addressing by_scalar(int offset) {
  return {.name = "scalar base",
          .text = [=](const MemoryOperation& operation,
                      bool returns) { return instruction("global_", operation, returns, "v0", ", s[4:5]", offset); },
          .prepare =
              [=](MachineState& state) {
                state.set_scalar_value(4, 8, state.memory_address - 0x80000100 - static_cast<u64>(i64{offset}));
              },
          .aim = [](MachineState& state, unsigned lane, u32 to) { state.vector[address_vgpr][lane] = 0x80000100 + to; },
          .resolve =
              [=](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) {
                return state.at(before.scalar_value(4, 8) + before.vector[address_vgpr][lane] +
                                    static_cast<u64>(i64{offset}),
                                bytes);
              }};
}

std::vector<Addressing> global_addressings() {
  return {by_vector("global_", ", off", 0), by_vector("global_", ", off", 4095), by_vector("global_", ", off", -4096),
          by_scalar(0), by_scalar(-24)};
}
std::vector<Addressing> flat_addressings() { return {by_vector("flat_", "", 0), by_vector("flat_", "", 4095)}; }

void expect_every_way(const MemoryOperation& operation, const std::vector<Addressing>& addressings,
                      Options options = {}) {
  std::vector<Case> cases;
  for (const Addressing& addressing : addressings) {
    cases.push_back(case_of(operation, addressing));
    if (operation.kind == Kind::atomic) cases.push_back(case_of(operation, addressing, Returning::yes));
  }
  expect_match(cases, options);
}

class GlobalMemory : public testing::TestWithParam<MemoryOperation> {};
TEST_P(GlobalMemory, MatchesTheManual) { expect_every_way(GetParam(), global_addressings()); }
INSTANTIATE_TEST_SUITE_P(LoadsAndStores, GlobalMemory, testing::ValuesIn(loads_and_stores()), operation_name);
INSTANTIATE_TEST_SUITE_P(IntegerAtomics, GlobalMemory, testing::ValuesIn(integer_atomics()), operation_name);

class FlatMemory : public testing::TestWithParam<MemoryOperation> {};
TEST_P(FlatMemory, MatchesTheManual) { expect_every_way(GetParam(), flat_addressings()); }
INSTANTIATE_TEST_SUITE_P(LoadsAndStores, FlatMemory, testing::ValuesIn(loads_and_stores()), operation_name);
INSTANTIATE_TEST_SUITE_P(IntegerAtomics, FlatMemory, testing::ValuesIn(integer_atomics()), operation_name);

/// FLAT has the double-precision ones of them.
std::vector<MemoryOperation> double_atomics() {
  std::vector<MemoryOperation> made = float_atomics();
  std::erase_if(made, [](const MemoryOperation& operation) { return operation.type != Type::float64; });
  return made;
}
INSTANTIATE_TEST_SUITE_P(DoubleAtomics, FlatMemory, testing::ValuesIn(double_atomics()), operation_name);

class GlobalFloatAtomics : public testing::TestWithParam<MemoryOperation> {};
TEST_P(GlobalFloatAtomics, MatchTheManual) { expect_every_way(GetParam(), global_addressings()); }
INSTANTIATE_TEST_SUITE_P(Isa, GlobalFloatAtomics, testing::ValuesIn(float_atomics()), operation_name);

/// CDNA's: RDNA has instructions of other names.
class GlobalFloatExtremes : public testing::TestWithParam<MemoryOperation> {};
TEST_P(GlobalFloatExtremes, MatchTheManual) {
  if (tested_target().architecture->is_rdna()) GTEST_SKIP() << "of CDNA";
  expect_every_way(GetParam(), {by_vector("global_", ", off", 0)});
}
INSTANTIATE_TEST_SUITE_P(Isa, GlobalFloatExtremes,
                         testing::Values(extreme_in_order("atomic_min_f64", Type::float64, false),
                                         extreme_in_order("atomic_max_f64", Type::float64, true)),
                         operation_name);

/// gfx90a's takes and gives them as zeros.
TEST(GlobalFloatAtomics, MayHaveDenormals) {
  const bool flushes = tested_target().architecture->flushes_float_atomics;
  const auto number = [=](u32 bits) {
    const auto value = from_bits<float>(bits);
    return flushes && std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
  };
  MemoryOperation add = in_lane_order(atomic<u32>("atomic_add_f32", [=](u32 memory, u32 data) {
    return static_cast<u32>(to_bits(number(static_cast<u32>(to_bits(number(memory) + number(data))))));
  }));
  for (const float value : {0x1p-149F, 0x1p-130F, -0x1p-127F, 0x1p-126F, -0x1.8p-126F, 1.0F})
    add.values.push_back(to_bits(value));
  expect_every_way(add, {by_vector("global_", ", off", 0)});
}

std::vector<MemoryOperation> later_global_atomics() {
  return {
      in_lane_order(atomic<float>("atomic_fmin", [](float m, float data) { return minimum(m, data); })),
      in_lane_order(atomic<float>("atomic_fmax", [](float m, float data) { return maximum(m, data); })),
      in_lane_order(atomic<double>("atomic_fmin_x2", [](double m, double data) { return minimum(m, data); })),
      in_lane_order(atomic<double>("atomic_fmax_x2", [](double m, double data) { return maximum(m, data); })),
      in_lane_order(atomic<u32>("atomic_pk_add_bf16", add_bfloats)),
  };
}
std::vector<MemoryOperation> later_flat_atomics() {
  std::vector<MemoryOperation> made = later_global_atomics();
  for (MemoryOperation& operation : float_atomics())
    if (operation.type != Type::float64) made.push_back(std::move(operation));
  return made;
}

class LaterFlatAtomics : public testing::TestWithParam<MemoryOperation> {};
TEST_P(LaterFlatAtomics, MatchTheManual) {
  expect_every_way(GetParam(), flat_addressings(), {.gfx90a_lacks_them = true});
}
INSTANTIATE_TEST_SUITE_P(Isa, LaterFlatAtomics, testing::ValuesIn(later_flat_atomics()), operation_name);

class LaterGlobalAtomics : public testing::TestWithParam<MemoryOperation> {};
TEST_P(LaterGlobalAtomics, MatchTheManual) {
  expect_every_way(GetParam(), global_addressings(), {.gfx90a_lacks_them = true});
}
INSTANTIATE_TEST_SUITE_P(Isa, LaterGlobalAtomics, testing::ValuesIn(later_global_atomics()), operation_name);

}  // namespace
}  // namespace softgpu::isa::flat_memory
