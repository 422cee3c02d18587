// MUBUF loads, stores and atomics through a buffer descriptor: raw and structured, within and beyond the range.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "memory_case.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::buffer_memory {
namespace {

using Kind = MemoryOperation::Kind;
using compute::runtime::BufferDescriptors;

constexpr u32 base_offset = 256;  // of the buffer's first accessed byte within the memory window
constexpr u32 untyped = 0x00027000;
constexpr unsigned descriptor_sgpr = 4;
constexpr unsigned offset_sgpr = 8;

BufferDescriptors layout() { return tested_target().architecture->buffer_descriptors; }

/// OOB_SELECT, which RDNA's descriptors have.
enum class OutOfRange : u32 { structured_with_offset, structured, no_check, raw };

void describe_buffer(MachineState& state, u64 base, u32 stride, u32 records) {
  state.set_scalar_value(descriptor_sgpr, 8, base | u64{stride} << 48);
  state.scalar[descriptor_sgpr + 2] = records;
  state.scalar[descriptor_sgpr + 3] = untyped | gfx9_range(stride);
}

u64 base_of_buffer(const MachineState& state) { return state.scalar_value(descriptor_sgpr, 8) & 0xffffffffffff; }

/// Address operands, s[4:7], scalar offset, and the modifiers.
std::string instruction(const MemoryOperation& operation, bool returns, const std::string& address,
                        const std::string& scalar_offset, const std::string& modifiers) {
  const std::string data = operation.kind == Kind::load ? result_text(operation) : data_text(operation);
  return "buffer_" + operation.name + " " + data + ", " + address + ", s[4:7], " + scalar_offset + modifiers +
         (returns ? " glc" : "");
}

/// A byte offset in v0, besides an immediate and, maybe, one in s8.
Addressing by_offset(u32 immediate, bool uses_scalar) {
  const std::string modifiers = " offen" + (immediate == 0 ? std::string() : " offset:" + std::to_string(immediate));
  const auto scalar_offset = [=](const MachineState& state) { return uses_scalar ? state.scalar[offset_sgpr] : 0; };
  return {
      .name = "offen",
      .text = [=](const MemoryOperation& operation,
                  bool returns) { return instruction(operation, returns, "v0", uses_scalar ? "s8" : "0", modifiers); },
      .prepare =
          [=](MachineState& state) {
            state.scalar[offset_sgpr] = 64;
            const u32 added = immediate + scalar_offset(state);
            describe_buffer(state, state.memory_address + base_offset - added, 0, memory_bytes + added);
          },
      .aim = [=](MachineState& state, unsigned lane, u32 to) { state.vector[address_vgpr][lane] = to - base_offset; },
      .resolve =
          [=](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) {
            return state.at(
                base_of_buffer(before) + before.vector[address_vgpr][lane] + immediate + scalar_offset(before), bytes);
          },
      .returns_in_data = true};
}

/// A record's number in v0 and a byte offset in v1. The stride is four words.
Addressing by_index() {
  constexpr u32 stride = 16;
  return {.name = "idxen",
          .text = [=](const MemoryOperation& operation,
                      bool returns) { return instruction(operation, returns, "v[0:1]", "0", " idxen offen"); },
          .prepare =
              [](MachineState& state) {
                describe_buffer(state, state.memory_address + base_offset, stride,
                                (memory_bytes - base_offset) / stride);
              },
          .aim =
              [=](MachineState& state, unsigned lane, u32 to) {
                state.vector[address_vgpr][lane] = (to - base_offset) / stride;
                state.vector[address_vgpr + 1][lane] = (to - base_offset) % stride;
              },
          .resolve =
              [=](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) {
                const u32 within = before.vector[address_vgpr + 1][lane];
                return state.at(base_of_buffer(before) + before.vector[address_vgpr][lane] * stride + within, bytes);
              },
          .returns_in_data = true,
          .aligned_to = 4};
}

/// A raw buffer of 640 bytes, so that many lanes aim beyond its end: they read zero and write nothing.
Addressing partly_out_of_range(u32 stride = 0) {
  constexpr u32 records = 640;
  Addressing made = by_offset(0, false);
  made.prepare = [=](MachineState& state) {
    describe_buffer(state, state.memory_address + base_offset, stride, records);
  };
  made.resolve = [](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) -> std::uint8_t* {
    const u32 offset = before.vector[address_vgpr][lane];
    return offset + bytes <= records ? state.at(base_of_buffer(before) + offset, bytes) : nullptr;
  };
  made.aligned_to = 4;
  return made;
}

void expect_every_way(const MemoryOperation& operation, const std::vector<Addressing>& addressings) {
  std::vector<Case> cases;
  for (const Addressing& addressing : addressings) {
    cases.push_back(case_of(operation, addressing));
    if (operation.kind == Kind::atomic) cases.push_back(case_of(operation, addressing, Returning::yes));
  }
  expect_match(cases);
}

class BufferMemory : public testing::TestWithParam<MemoryOperation> {};
TEST_P(BufferMemory, MatchesTheManual) {
  expect_every_way(GetParam(), {by_offset(0, false), by_offset(4095, true), by_index()});
}
INSTANTIATE_TEST_SUITE_P(LoadsAndStores, BufferMemory, testing::ValuesIn(loads_and_stores()), operation_name);
INSTANTIATE_TEST_SUITE_P(IntegerAtomics, BufferMemory, testing::ValuesIn(integer_atomics()), operation_name);
INSTANTIATE_TEST_SUITE_P(FloatAtomics, BufferMemory, testing::ValuesIn(float_atomics()), operation_name);

/// Without an address register all lanes meet where s8 and the immediate say.
Addressing by_scalar_only() {
  Addressing made = by_offset(24, true);
  made.text = [](const MemoryOperation& operation, bool returns) {
    return instruction(operation, returns, "off", "s8", " offset:24");
  };
  made.prepare = [](MachineState& state) {
    state.scalar[offset_sgpr] = 768;
    describe_buffer(state, state.memory_address + base_offset, 0, memory_bytes - base_offset);
  };
  made.aim = [](MachineState& /*state*/, unsigned /*lane*/, u32 /*to*/) {};
  made.resolve = [](MachineState& state, const MachineState& before, unsigned /*lane*/, unsigned bytes) {
    return state.at(base_of_buffer(before) + before.scalar[offset_sgpr] + 24, bytes);
  };
  return made;
}

TEST(BufferRange, NeedsNoAddressRegister) {
  expect_match(
      {case_of(load_registers("load_dword", 1), by_scalar_only()),
       case_of(load_registers("load_dwordx4", 4), by_scalar_only()),
       case_of(atomic<u32>("atomic_umax", [](u32 m, u32 data) { return std::max(m, data); }), by_scalar_only())});
}

// Only whole elements: which words of a load that straddles the end are zero depends on the buffer's mode.
class BufferRange : public testing::TestWithParam<MemoryOperation> {};
TEST_P(BufferRange, LimitsAccesses) {
  std::vector<Addressing> addressings = {partly_out_of_range()};
  // Without an index, a buffer of GFX9 is raw whatever its stride is.
  if (layout() == BufferDescriptors::gfx9) addressings.push_back(partly_out_of_range(64));
  expect_every_way(GetParam(), addressings);
}
INSTANTIATE_TEST_SUITE_P(Isa, BufferRange,
                         testing::Values(load_registers("load_dword", 1), store_registers("store_dword", 1),
                                         atomic<u32>("atomic_add", [](u32 m, u32 data) { return m + data; })),
                         operation_name);

/// Records and elements that lanes access by turns, each lane another: some beyond the range.
struct Records {
  u32 stride;
  u32 count;
  OutOfRange out_of_range = OutOfRange::raw;
  u32 swizzle = 0;  ///< SWIZZLE_ENABLE
  u32 element_bytes = 4;

  [[nodiscard]] u32 place(u32 index, u32 offset) const {
    if (swizzle == 0) return index * stride + offset;
    return (index / 16 * stride + offset / element_bytes * element_bytes) * 16 + index % 16 * element_bytes +
           offset % element_bytes;
  }
  [[nodiscard]] bool contains(u32 index, u32 offset) const {
    const bool is_in_record = offset + 4 <= stride;
    switch (out_of_range) {
    case OutOfRange::structured_with_offset:
      return index < count && is_in_record;
    case OutOfRange::structured:
      return index < count;
    case OutOfRange::no_check:
      return true;
    case OutOfRange::raw:
      break;
    }
    return swizzle != 0 ? index < count && is_in_record : place(index, offset) + 4 <= count;
  }
};

Addressing by_turns(const Records& records) {
  Addressing made = by_index();
  made.prepare = [=](MachineState& state) {
    describe_buffer(state, state.memory_address + base_offset, records.stride, records.count);
    const unsigned first_bit = layout() == BufferDescriptors::gfx11 ? 30 : 31;
    state.scalar[descriptor_sgpr + 1] |= records.swizzle << first_bit;
    const u32 choice = layout() == BufferDescriptors::gfx9 ? 0 : static_cast<u32>(records.out_of_range);
    state.scalar[descriptor_sgpr + 3] = untyped | choice << 28 | 1 << 21;  // INDEX_STRIDE 16
  };
  made.aim = [](MachineState& state, unsigned lane, u32 /*to*/) {
    state.vector[address_vgpr][lane] = lane % 32;
    state.vector[address_vgpr + 1][lane] = lane / 8 % 5 * 4;
  };
  made.resolve = [=](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) -> std::uint8_t* {
    const u32 index = before.vector[address_vgpr][lane];
    const u32 offset = before.vector[address_vgpr + 1][lane];
    if (!records.contains(index, offset)) return nullptr;
    return state.at(base_of_buffer(before) + records.place(index, offset), bytes);
  };
  return made;
}

/// By the manuals' formula; RDNA3 and later choose the elements' size.
TEST(BufferSwizzle, InterleavesElements) {
  std::vector<Records> all = {{.stride = 16, .count = 24, .swizzle = 1}};
  if (layout() == BufferDescriptors::gfx11)
    all.push_back({.stride = 16, .count = 24, .swizzle = 3, .element_bytes = 16});
  for (const Records& records : all)
    expect_match({case_of(load_registers("load_dword", 1), by_turns(records)),
                  case_of(store_registers("store_dword", 1), by_turns(records)),
                  case_of(atomic<u32>("atomic_add", [](u32 m, u32 data) { return m + data; }), by_turns(records))});
}

TEST(BufferSwizzle, OfUnknownElementsIsRefused) {
  if (layout() != BufferDescriptors::gfx11) GTEST_SKIP() << "SWIZZLE_ENABLE has one bit";
  const auto failure = refusal("s_mov_b32 s4, 0\ns_mov_b32 s5, 0x80000000\ns_mov_b32 s6, 64\ns_mov_b32 s7, 0\n"
                               "buffer_load_b32 v8, v0, s[4:7], null idxen");
  if (!failure) FAIL() << "it ran";
  EXPECT_EQ(failure->kind, compute::Failure::Kind::illegal_instruction) << failure->text;
  EXPECT_NE(failure->text.find("SWIZZLE_ENABLE is 2"), std::string::npos) << failure->text;
}

TEST(BufferRange, IsAsTheDescriptorChooses) {
  if (layout() == BufferDescriptors::gfx9) GTEST_SKIP() << "GFX9's descriptors have no OOB_SELECT";
  for (const OutOfRange out_of_range :
       {OutOfRange::structured_with_offset, OutOfRange::structured, OutOfRange::no_check, OutOfRange::raw})
    expect_match({case_of(load_registers("load_dword", 1),
                          by_turns({.stride = 16, .count = 24, .out_of_range = out_of_range}))});
}

}  // namespace
}  // namespace softgpu::isa::buffer_memory
