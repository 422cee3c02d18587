// MUBUF with the LDS bit: loads from a buffer into LDS and stores from LDS into a buffer, past the vector registers.
//
// CDNA2 ISA manual, "Memory Buffer Load to LDS":
//   LDS address    = LDS base + M0[15:0] + instruction offset + 4 * the lane's number
//   memory address = base + scalar offset + instruction offset + offset VGPR + stride * (index VGPR + lane if ADD_TID)
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace softgpu::isa {
namespace {

constexpr u32 base_offset = 256;  // of the buffer within the memory window
constexpr unsigned descriptor_sgpr = 4;
constexpr unsigned offset_sgpr = 8;
constexpr u32 signed_shorts = 4 | 5 << 12 | 2 << 15;  // DST_SEL_X, NUM_FORMAT and DATA_FORMAT
constexpr u32 untyped = 0x00027000;
constexpr u32 add_tid_enable = 1 << 23;

/// How an instruction says where in the buffer a lane's element is, and what the buffer is.
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
    const std::string scalar = scalar_offset == 0 ? "0" : "s8";
    std::string text = (address.empty() ? "" : address + ", ") + "s[4:7], " + scalar;
    if (has_index) text += " idxen";
    if (has_offset) text += " offen";
    if (instruction_offset != 0) text += " offset:" + std::to_string(instruction_offset);
    return text + " lds\ns_waitcnt vmcnt(0) lgkmcnt(0)";
  }
};

u32 lds_place(const Form& form, const MachineState& state, unsigned lane) {
  return (state.m0 & 0xffff) + form.instruction_offset + 4 * lane;
}
bool is_in_lds(u32 place) { return place + 4 <= lds_bytes; }

/// The lane's element, or nullptr where it is out of the buffer's range.
std::uint8_t* element(const Form& form, MachineState& state, unsigned lane, unsigned bytes) {
  u32 index = form.has_index ? state.vector[0][lane] : 0;
  if ((form.format & add_tid_enable) != 0) index += lane;
  const u32 offset = form.instruction_offset + (form.has_offset ? state.vector[form.has_index ? 1 : 0][lane] : 0);
  const bool is_inside = form.stride == 0 ? offset + bytes + form.scalar_offset <= form.records : index < form.records;
  if (!is_inside) return nullptr;
  return state.at(state.memory_address + base_offset + form.scalar_offset + u64{form.stride} * index + offset, bytes);
}

/// A lane that must not access memory has an address that faults: a record far beyond what there is of memory.
void prepare(const Form& form, MachineState& state, Random& random) {
  state.set_scalar_value(descriptor_sgpr, 8, (state.memory_address + base_offset) | u64{form.stride} << 48);
  state.scalar[descriptor_sgpr + 2] = form.records;
  state.scalar[descriptor_sgpr + 3] = form.format;
  state.scalar[offset_sgpr] = form.scalar_offset;
  state.m0 = static_cast<u32>(random() % 0x10000 << 16 | random() % ((lds_bytes + 256) / 4) * 4);
  if (random() % 8 == 0) state.m0 |= 0xfffc;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (form.has_index) {
      const bool accesses_memory = state.active(lane) && is_in_lds(lds_place(form, state, lane));
      state.vector[0][lane] = accesses_memory ? static_cast<u32>(random() % form.index_range) : 0xfffffffe;
    }
    if (form.has_offset) state.vector[form.has_index ? 1 : 0][lane] = static_cast<u32>(random() % form.offset_range);
  }
}

/// What a load makes of an element: the dword in LDS.
struct Element {
  const char* name;
  unsigned bytes;
  u32 (*extend)(const std::uint8_t* from);
};

template <class T>
u32 extend(const std::uint8_t* from) {
  return static_cast<u32>(i32{read_as<T>(from)});
}
template <>
u32 extend<u32>(const std::uint8_t* from) {
  return read_as<u32>(from);
}

Case load(const Element& loaded, const Form& form) {
  return {.assembly = std::string("buffer_load_") + loaded.name + " " + form.operands(),
          .prepare = [=](MachineState& state, Random& random) { prepare(form, state, random); },
          .reference =
              [=](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane) {
                  const u32 place = lds_place(form, state, lane);
                  if (!state.active(lane) || !is_in_lds(place)) continue;
                  const std::uint8_t* from = element(form, state, lane, loaded.bytes);
                  write_as<u32>(state.lds_at(place, 4), from == nullptr ? 0 : loaded.extend(from));
                }
              }};
}

Case store(const Form& form) {
  return {.assembly = "buffer_store_lds_dword " + form.operands(),
          .prepare = [=](MachineState& state, Random& random) { prepare(form, state, random); },
          .reference =
              [=](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane) {
                  if (!state.active(lane)) continue;
                  const u32 place = lds_place(form, state, lane);
                  const u32 data = is_in_lds(place) ? read_as<u32>(state.lds_at(place, 4)) : 0;
                  if (std::uint8_t* to = element(form, state, lane, 4)) write_as<u32>(to, data);
                }
              }};
}

/// All forms of an address, some with lanes beyond the buffer's end, and one whose disabled lanes would fault.
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

/// The lane's number added to the index. ADD_TID_ENABLE makes DATA_FORMAT a part of the stride: none.
Form by_lane_number(const std::string& address, u32 records) {
  return {.address = address,
          .instruction_offset = 8,
          .scalar_offset = 40,
          .stride = 20,
          .records = records,
          .format = add_tid_enable};
}

class BufferLds : public testing::TestWithParam<Element> {};
TEST_P(BufferLds, LoadsADwordALane) {
  std::vector<Case> cases;
  for (const Form& form : forms(untyped)) cases.push_back(load(GetParam(), form));
  cases.push_back(load(GetParam(), by_lane_number("off", 64)));
  cases.push_back(load(GetParam(), by_lane_number("off", 40)));
  expect_match(cases, {.lds = Lds::loaded_and_stored, .states = 4});
}
INSTANTIATE_TEST_SUITE_P(Isa, BufferLds,
                         testing::Values(Element{"ubyte", 1, extend<std::uint8_t>},
                                         Element{"sbyte", 1, extend<std::int8_t>},
                                         Element{"ushort", 2, extend<std::uint16_t>},
                                         Element{"sshort", 2, extend<std::int16_t>}, Element{"dword", 4, extend<u32>}),
                         [](const auto& row) { return row.param.name; });

TEST(BufferLdsFormat, LoadsTheFirstComponent) {
  std::vector<Case> cases;
  for (const Form& form : forms(signed_shorts)) cases.push_back(load({"format_x", 2, extend<std::int16_t>}, form));
  expect_match(cases, {.lds = Lds::loaded_and_stored, .states = 4});
}

TEST(BufferLdsStore, StoresADwordALane) {
  expect_match({store(by_lane_number("", 64)), store(by_lane_number("", 40))},
               {.lds = Lds::loaded_and_stored, .states = 4});
}

/// The descriptor of private memory, which is swizzled: what comes from a lane goes into its dword of LDS, and back.
TEST(BufferLdsStore, ReachesPrivateMemory) {
  const auto aim = [](MachineState& state, Random& random) {
    state.m0 = static_cast<u32>(random() % 0x10000 << 16 | random() % 256 * 4);
  };
  const auto place = [](const MachineState& state, unsigned lane) { return (state.m0 & 0xffff) + 8 + 4 * lane; };
  expect_match({{"buffer_store_dword v4, off, s[44:47], 0 offset:8\n"
                 "buffer_load_dword off, s[44:47], 0 offset:8 lds\n"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)",
                 aim,
                 [=](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (state.active(lane)) write_as<u32>(state.lds_at(place(state, lane), 4), state.vector[4][lane]);
                 }},
                {"buffer_store_lds_dword s[44:47], 0 offset:8 lds\n"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                 "buffer_load_dword v8, off, s[44:47], 0 offset:8\n"
                 "s_waitcnt vmcnt(0)",
                 aim,
                 [=](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (state.active(lane)) state.vector[8][lane] = read_as<u32>(state.lds_at(place(state, lane), 4));
                 }}},
               {.lds = Lds::loaded_and_stored, .scratch = Scratch::available, .states = 4});
}

}  // namespace
}  // namespace softgpu::isa
