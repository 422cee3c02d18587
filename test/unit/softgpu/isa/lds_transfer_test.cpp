// Loads from memory into LDS and stores from LDS to memory, past the vector registers: MUBUF, GLOBAL and SCRATCH with
// the bit LDS; on gfx942, GLOBAL and SCRATCH by names of their own.
//
// CDNA2 ISA manual, "Memory Buffer Load to LDS":
//   LDS address    = LDS base + M0[15:0] + instruction offset + 4 * the lane's number; of CDNA4, M0[17:0]
//   memory address = base + scalar offset + instruction offset + offset VGPR + stride * (index VGPR + lane if ADD_TID)
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "memory_case.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::lds_transfer {
namespace {

const Options options = {.lds = Lds::loaded_and_stored, .states = 4};
const Options options_with_scratch = {.lds = Lds::loaded_and_stored, .scratch = Scratch::available, .states = 4};
constexpr const char* wait = "\ns_waitcnt vmcnt(0) lgkmcnt(0)";

/// The loads of a dword, and of less that fills one.
std::vector<MemoryOperation> loads() {
  std::vector<MemoryOperation> all = loads_and_stores();
  std::erase_if(all, [](const MemoryOperation& operation) {
    return operation.kind != MemoryOperation::Kind::load || operation.bytes > 4 ||
           operation.name.find("d16") != std::string::npos;
  });
  return all;
}

u32 loaded_dword(const MemoryOperation& load, std::uint8_t* from) {
  u32 result = 0;
  load.execute(from, {}, {&result, 1});
  return result;
}

/// The lane's dword in LDS, or nullptr where it is not all within the allocation.
std::uint8_t* lds_dword(MachineState& state, unsigned lane, i32 instruction_offset) {
  const i32 place = static_cast<i32>(state.m0 & tested_target().architecture->lds_transfer_offset) +
                    instruction_offset + static_cast<i32>(4 * lane);
  const bool is_inside = place >= 0 && place + 4 <= i32{lds_bytes};
  return is_inside ? state.lds_at(static_cast<u32>(place), 4) : nullptr;
}

/// Often some lanes' dwords are beyond the allocation. The uppermost bits do not count.
void choose_m0(MachineState& state, Random& random) {
  const u32 counting = tested_target().architecture->lds_transfer_offset;
  state.m0 = (static_cast<u32>(random()) & ~counting) | static_cast<u32>(random() % ((lds_bytes + 256) / 4) * 4);
  if (random() % 8 == 0) state.m0 |= 0xfffc;
  if (random() % 4 == 0) state.m0 &= 0xffff003c;
}

// --- Buffers

constexpr u32 base_offset = 256;  // of the buffer within the memory window
constexpr unsigned descriptor_sgpr = 4;
constexpr unsigned offset_sgpr = 8;
constexpr u32 untyped = 0x00027000;
constexpr u32 signed_shorts = 4 | 5 << 12 | 2 << 15;  // DST_SEL_X, NUM_FORMAT and DATA_FORMAT
constexpr u32 add_tid_enable = 1 << 23;

/// A buffer in s[4:7], and how an instruction says where in it a lane's element is.
struct Form {
  std::string address;  ///< "off", or the registers
  bool has_index = false;
  bool has_offset = false;
  u32 instruction_offset = 0;
  u32 scalar_offset = 0;
  u32 stride = 0;
  u32 records = memory_bytes - base_offset;
  u32 format = untyped;
  u32 index_range = 0;  ///< the lanes' indices and offsets are below these
  u32 offset_range = 1;

  [[nodiscard]] std::string operands() const {
    std::string text = (address.empty() ? "" : address + ", ") + "s[4:7], " + (scalar_offset == 0 ? "0" : "s8");
    if (has_index) text += " idxen";
    if (has_offset) text += " offen";
    if (instruction_offset != 0) text += " offset:" + std::to_string(instruction_offset);
    return text + " lds" + wait;
  }
  [[nodiscard]] unsigned offset_vgpr() const { return has_index ? 1 : 0; }
};

/// The lane's element, or nullptr where it is out of the buffer's range.
std::uint8_t* element(const Form& form, MachineState& state, unsigned lane, unsigned bytes) {
  u32 index = form.has_index ? state.vector[0][lane] : 0;
  if ((form.format & add_tid_enable) != 0) index += lane;
  const u32 offset = form.instruction_offset + (form.has_offset ? state.vector[form.offset_vgpr()][lane] : 0);
  const bool is_inside = form.stride == 0 ? offset + bytes + form.scalar_offset <= form.records : index < form.records;
  if (!is_inside) return nullptr;
  return state.at(state.memory_address + base_offset + form.scalar_offset + u64{form.stride} * index + offset, bytes);
}

/// A lane that must not access memory has the index of a record that is nowhere.
void prepare(const Form& form, MachineState& state, Random& random) {
  state.set_scalar_value(descriptor_sgpr, 8, (state.memory_address + base_offset) | u64{form.stride} << 48);
  state.scalar[descriptor_sgpr + 2] = form.records;
  state.scalar[descriptor_sgpr + 3] = form.format | gfx9_range(form.stride);
  state.scalar[offset_sgpr] = form.scalar_offset;
  choose_m0(state, random);
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const bool accesses_memory =
        state.active(lane) && lds_dword(state, lane, static_cast<i32>(form.instruction_offset)) != nullptr;
    if (form.has_index)
      state.vector[0][lane] = accesses_memory ? static_cast<u32>(random() % form.index_range) : 0xfffffffe;
    if (form.has_offset) state.vector[form.offset_vgpr()][lane] = static_cast<u32>(random() % form.offset_range);
  }
}

Case buffer_load(const MemoryOperation& load, const Form& form) {
  return {.assembly = "buffer_" + load.name + " " + form.operands(),
          .prepare = [=](MachineState& state, Random& random) { prepare(form, state, random); },
          .reference =
              [=](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane) {
                  std::uint8_t* to = lds_dword(state, lane, static_cast<i32>(form.instruction_offset));
                  if (!state.active(lane) || to == nullptr) continue;
                  std::uint8_t* from = element(form, state, lane, load.bytes);
                  write_as<u32>(to, from == nullptr ? 0 : loaded_dword(load, from));
                }
              }};
}

Case buffer_store(const Form& form) {
  return {.assembly = "buffer_store_lds_dword " + form.operands(),
          .prepare = [=](MachineState& state, Random& random) { prepare(form, state, random); },
          .reference =
              [=](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane) {
                  if (!state.active(lane)) continue;
                  const std::uint8_t* from = lds_dword(state, lane, static_cast<i32>(form.instruction_offset));
                  if (std::uint8_t* to = element(form, state, lane, 4))
                    write_as<u32>(to, from == nullptr ? 0 : read_as<u32>(from));
                }
              }};
}

/// All ways to address; in some, lanes are beyond the buffer's end, and in the last, disabled ones would fault.
std::vector<Form> forms(u32 format) {
  return {
      {.address = "off", .format = format},
      {.address = "off", .instruction_offset = 12, .scalar_offset = 72, .format = format},
      {.address = "v0", .has_offset = true, .format = format, .offset_range = 3000},
      {.address = "v0",
       .has_offset = true,
       .instruction_offset = 256,
       .scalar_offset = 20,
       .records = 640,
       .format = format,
       .offset_range = 800},
      {.address = "v0", .has_index = true, .stride = 16, .records = 100, .format = format, .index_range = 120},
      {.address = "v[0:1]",
       .has_index = true,
       .has_offset = true,
       .instruction_offset = 4,
       .stride = 0x3ffc,
       .records = 0xffffffff,
       .format = format,
       .index_range = 1,
       .offset_range = 3000},
  };
}

/// The lane's number is added to the index. ADD_TID_ENABLE takes DATA_FORMAT for a part of the stride: 0.
Form by_lane_number(const std::string& address, u32 records) {
  return {.address = address,
          .instruction_offset = 8,
          .scalar_offset = 40,
          .stride = 20,
          .records = records,
          .format = add_tid_enable};
}

class BufferLds : public testing::TestWithParam<MemoryOperation> {};
TEST_P(BufferLds, LoadsADwordALane) {
  std::vector<Case> cases;
  for (const Form& form : forms(untyped)) cases.push_back(buffer_load(GetParam(), form));
  cases.push_back(buffer_load(GetParam(), by_lane_number("off", 64)));
  cases.push_back(buffer_load(GetParam(), by_lane_number("off", 40)));
  expect_match(cases, options);
}
INSTANTIATE_TEST_SUITE_P(Isa, BufferLds, testing::ValuesIn(loads()), operation_name);

TEST(BufferLdsFormat, LoadsTheFirstComponent) {
  const auto load = load_part<std::int16_t>("load_format_x", [](i32 part, u32) { return static_cast<u32>(part); });
  std::vector<Case> cases;
  for (const Form& form : forms(signed_shorts)) cases.push_back(buffer_load(load, form));
  expect_match(cases, options);
}

TEST(BufferLdsStore, StoresADwordALane) {
  expect_match({buffer_store(by_lane_number("", 64)), buffer_store(by_lane_number("", 40))}, options);
}

// --- Private and global memory

/// Stores v4 to a lane's private memory, and then loads it.
Case private_load(const MemoryOperation& load, const std::string& assembly, i32 instruction_offset) {
  return {.assembly = assembly + wait,
          .prepare =
              [](MachineState& state, Random& random) {
                choose_m0(state, random);
                state.scalar[offset_sgpr] = 16;
                for (u32& address : state.vector[0]) address = static_cast<u32>(random() % 12 * 4);
              },
          .reference =
              [=](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane) {
                  std::uint8_t* to = lds_dword(state, lane, instruction_offset);
                  if (!state.active(lane) || to == nullptr) continue;
                  std::array<std::uint8_t, 4> stored = {};
                  write_as<u32>(stored.data(), state.vector[4][lane]);
                  write_as<u32>(to, loaded_dword(load, stored.data()));
                }
              }};
}

/// The descriptor of private memory is swizzled.
TEST(BufferLdsStore, ReachesPrivateMemory) {
  const Case load = private_load(load_registers("load_dword", 1),
                                 "buffer_store_dword v4, off, s[44:47], 0 offset:8\n"
                                 "buffer_load_dword off, s[44:47], 0 offset:8 lds",
                                 8);
  const Case store = {.assembly = "buffer_store_lds_dword s[44:47], 0 offset:8 lds\n"
                                  "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                  "buffer_load_dword v8, off, s[44:47], 0 offset:8\n"
                                  "s_waitcnt vmcnt(0)",
                      .prepare = choose_m0,
                      .reference = [](MachineState& state) {
                        for (unsigned lane = 0; lane < lane_count; ++lane) {
                          const std::uint8_t* from = lds_dword(state, lane, 8);
                          if (state.active(lane)) state.vector[8][lane] = from == nullptr ? 0 : read_as<u32>(from);
                        }
                      }};
  expect_match({load, store}, options_with_scratch);
}

std::string flat_load(const std::string& segment, const MemoryOperation& load, const std::string& address,
                      i32 instruction_offset) {
  const std::string operands = " " + address + " offset:" + std::to_string(instruction_offset);
  if (!tests_later_cdna()) return segment + load.name + operands + " lds";
  return segment + "load_lds" + load.name.substr(load.name.find('_')) + operands;
}

class FlatLds : public testing::TestWithParam<MemoryOperation> {};
TEST_P(FlatLds, LoadsPrivateMemory) {
  const MemoryOperation load = GetParam();
  expect_match(
      {private_load(load, "scratch_store_dword off, v4, s8 offset:8\n" + flat_load("scratch_", load, "off, s8", 8), 8),
       private_load(load, "scratch_store_dword v0, v4, off offset:8\n" + flat_load("scratch_", load, "v0, off", 8), 8)},
      options_with_scratch);
}

/// The instruction's offset is signed. A lane that must not access memory has an address that faults.
TEST_P(FlatLds, LoadsGlobalMemory) {
  const MemoryOperation load = GetParam();
  std::vector<Case> cases;
  for (const i32 offset : {0, 24, -64}) {
    const auto reference = [=](MachineState& state, auto&& address) {
      for (unsigned lane = 0; lane < lane_count; ++lane) {
        std::uint8_t* to = lds_dword(state, lane, offset);
        if (!state.active(lane) || to == nullptr) continue;
        write_as<u32>(to, loaded_dword(load, state.at(address(lane) + static_cast<u64>(i64{offset}), load.bytes)));
      }
    };
    const auto in_window = [](Random& random) { return 256 + random() % (memory_bytes - 512); };
    cases.push_back({flat_load("global_", load, "v[0:1], off", offset) + wait,
                     [=](MachineState& state, Random& random) {
                       choose_m0(state, random);
                       for (unsigned lane = 0; lane < lane_count; ++lane) {
                         const bool accesses_memory = state.active(lane) && lds_dword(state, lane, offset) != nullptr;
                         const u64 base = accesses_memory ? state.memory_address : 0;
                         state.set_vector_value(0, lane, 8, base + in_window(random));
                       }
                     },
                     [=](MachineState& state) {
                       reference(state, [&](unsigned lane) { return state.vector_value(0, lane, 8); });
                     }});
    cases.push_back({flat_load("global_", load, "v0, s[2:3]", offset) + wait,
                     [=](MachineState& state, Random& random) {
                       choose_m0(state, random);
                       state.set_scalar_value(2, 8, state.memory_address);
                       for (u32& address : state.vector[0]) address = static_cast<u32>(in_window(random));
                     },
                     [=](MachineState& state) {
                       reference(state,
                                 [&](unsigned lane) { return state.scalar_value(2, 8) + state.vector[0][lane]; });
                     }});
  }
  expect_match(cases, options);
}
/// CDNA4: lane after lane has room for four dwords, also where three are loaded. No lane is beyond LDS.
TEST(WideLds, LaterLoadsThreeOrFourDwords) {
  std::vector<Case> cases;
  for (const unsigned dwords : {3U, 4U})
    for (const bool is_buffer : {false, true}) {
      const std::string width = "dwordx" + std::to_string(dwords);
      cases.push_back({.assembly = (is_buffer ? "buffer_load_" + width + " v0, s[4:7], 0 offen offset:16 lds"
                                              : "global_load_lds_" + width + " v0, s[2:3] offset:16") +
                                   wait,
                       .prepare =
                           [](MachineState& state, Random& random) {
                             state.m0 = static_cast<u32>(random() % 64 * 16) | 0x80000000;
                             state.set_scalar_value(2, 8, state.memory_address);
                             state.set_scalar_value(descriptor_sgpr, 8, state.memory_address);
                             state.scalar[descriptor_sgpr + 2] = memory_bytes;
                             state.scalar[descriptor_sgpr + 3] = untyped;
                             for (u32& address : state.vector[0])
                               address = static_cast<u32>(random() % (memory_bytes / 4 - 8) * 4);
                           },
                       .reference =
                           [=](MachineState& state) {
                             for (unsigned lane = 0; lane < lane_count; ++lane)
                               for (unsigned n = 0; n < dwords && state.active(lane); ++n) {
                                 const u64 from = state.memory_address + state.vector[0][lane] + 16 + u64{4} * n;
                                 const u32 to = (state.m0 & 0x3ffff) + 16 + 16 * lane + 4 * n;
                                 write_as<u32>(state.lds_at(to, 4), read_as<u32>(state.at(from, 4)));
                               }
                           }});
    }
  expect_match(cases, {.lds = Lds::loaded_and_stored, .states = 4, .gfx90a_lacks_them = true});
}
INSTANTIATE_TEST_SUITE_P(Isa, FlatLds, testing::ValuesIn(loads()), operation_name);

}  // namespace
}  // namespace softgpu::isa::lds_transfer
