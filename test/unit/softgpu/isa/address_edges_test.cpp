// Where the sums of address parts wrap around, and accesses at both ends of LDS.
//
// A compiler may fold a constant into an instruction's offset although the register is negative without it: the sum
// counts, not the register.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "memory_case.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa {
namespace {

using Kind = MemoryOperation::Kind;

/// The lanes' places near `edge`, some below it and some above, at any alignment. Only loads have two lanes at one
/// place.
std::array<u32, lane_count> places_around(u32 edge, u32 bytes, Kind kind, Random& random) {
  auto slots = lane_places(random, kind == Kind::load);
  const u32 begin = edge - static_cast<u32>(random() % (lane_count + 1)) * bytes;
  const u32 shift = random() % 2 == 0 || kind == Kind::atomic ? 0 : static_cast<u32>(random() % bytes);
  for (u32& slot : slots) slot = begin + slot * bytes + shift;
  return slots;
}

/// A lane's bytes of LDS; nowhere if they are not entirely within LDS.
std::uint8_t* lds_or_nothing(MachineState& state, u32 address, u32 bytes) {
  return u64{address} + bytes <= lds_bytes ? state.lds_at(address, bytes) : nullptr;
}

/// Loads read 0 nowhere; stores and atomics do nothing there.
void execute_at(const MemoryOperation& operation, std::uint8_t* place, MachineState& state, unsigned lane) {
  std::array<u32, 4> data = {};
  std::array<u32, 4> result = {};
  for (unsigned i = 0; i < 4; ++i) {
    data.at(i) = state.vector[data_vgpr + i][lane];
    result.at(i) = state.vector[result_vgpr_of_memory + i][lane];
  }
  std::array<std::uint8_t, 16> nowhere = {};
  operation.execute(place != nullptr ? place : nowhere.data(), std::span(data).first(operation.data_registers),
                    std::span(result).first(operation.result_registers));
  if (operation.kind != Kind::load) return;
  for (unsigned i = 0; i < operation.result_registers; ++i)
    state.vector[result_vgpr_of_memory + i][lane] = result.at(i);
}

/// Both ends of LDS.
u32 edge_of_lds(Random& random) { return random() % 2 == 0 ? 0 : lds_bytes; }

u32 whole(u32 part, u32 /*old*/) { return part; }

std::vector<MemoryOperation> lds_operations() {
  return {load_part<std::uint8_t>("read_u8", whole),
          load_part<std::uint16_t>("read_u16", whole),
          load_registers("read_b32", 1),
          load_registers("read_b64", 2),
          load_registers("read_b96", 3),
          load_registers("read_b128", 4),
          store_part<std::uint8_t>("write_b8"),
          store_part<std::uint16_t>("write_b16"),
          store_registers("write_b32", 1),
          store_registers("write_b64", 2),
          store_registers("write_b96", 3),
          store_registers("write_b128", 4),
          atomic<u32>("add_u32", [](u32 memory, u32 data) { return memory + data; }),
          atomic<u64>("xor_b64", [](u64 memory, u64 data) { return memory ^ data; })};
}

/// v0 + offset modulo 2^32, within LDS or not.
Case in_lds(const MemoryOperation& operation, u32 offset) {
  const std::string data =
      operation.kind == Kind::load ? result_text(operation) + ", v0" : "v0, " + data_text(operation);
  return {.assembly =
              "ds_" + operation.name + " " + data + " offset:" + std::to_string(offset) + "\ns_waitcnt lgkmcnt(0)",
          .prepare =
              [=](MachineState& state, Random& random) {
                state.vector[0] = places_around(edge_of_lds(random), operation.bytes, operation.kind, random);
                for (u32& address : state.vector[0]) address -= offset;
              },
          .reference =
              [=](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane)
                  if (state.active(lane))
                    execute_at(operation, lds_or_nothing(state, state.vector[0][lane] + offset, operation.bytes), state,
                               lane);
              }};
}

class AddressEdgesOfLds : public testing::TestWithParam<MemoryOperation> {};
TEST_P(AddressEdgesOfLds, TheSumOfRegisterAndOffsetCounts) {
  std::vector<Case> cases;
  for (const u32 offset : {0U, 16U, 2040U, 65520U, 65535U}) cases.push_back(in_lds(GetParam(), offset));
  expect_match(cases, {.lds = Lds::loaded_and_stored, .states = 4});
}
INSTANTIATE_TEST_SUITE_P(Isa, AddressEdgesOfLds, testing::ValuesIn(lds_operations()), operation_name);

struct Pair {
  std::string name;
  u32 element;  ///< bytes
  u32 unit;     ///< of the offsets, in elements
};
void PrintTo(const Pair& pair, std::ostream* stream) { *stream << pair.name; }

/// Each of the two elements by itself is within LDS or not. They are half of LDS apart, so that no lane meets another.
Case pair_in_lds(const Pair& pair, u32 first, u32 second) {
  const bool reads = pair.name.starts_with("ds_read");
  const u32 words = pair.element / 4;
  const std::string operands = reads ? registers('v', 8, 2 * words) + ", v0"
                                     : "v0, " + registers('v', 4, words) + ", " + registers('v', 6, words);
  return {.assembly = pair.name + " " + operands + " offset0:" + std::to_string(first) +
                      " offset1:" + std::to_string(second) + "\ns_waitcnt lgkmcnt(0)",
          .prepare =
              [=](MachineState& state, Random& random) {
                const Kind kind = reads ? Kind::load : Kind::store;
                state.vector[0] = places_around(edge_of_lds(random), pair.element, kind, random);
                for (u32& address : state.vector[0]) address -= first * pair.unit * pair.element;
              },
          .reference =
              [=](MachineState& state) {
                const MachineState before = state;
                for (unsigned lane = 0; lane < lane_count; ++lane)
                  for (u32 i = 0; i < 2 && before.active(lane); ++i) {
                    const u32 offset = (i == 0 ? first : second) * pair.unit * pair.element;
                    std::uint8_t* place = lds_or_nothing(state, before.vector[0][lane] + offset, pair.element);
                    u64 value = 0;
                    if (reads && place != nullptr) std::memcpy(&value, place, pair.element);
                    if (reads) state.set_vector_value(8 + i * words, lane, pair.element, value);
                    const u64 data = before.vector_value(4 + 2 * i, lane, pair.element);
                    if (!reads && place != nullptr) std::memcpy(place, &data, pair.element);
                  }
              }};
}

class AddressEdgesOfLdsPairs : public testing::TestWithParam<Pair> {};
TEST_P(AddressEdgesOfLdsPairs, TheSumsOfRegisterAndOffsetsCount) {
  const u32 far = GetParam().unit == 1 ? 200 : 3;
  expect_match({pair_in_lds(GetParam(), 0, far), pair_in_lds(GetParam(), 255, 255 - far)},
               {.lds = Lds::loaded_and_stored, .states = 4});
}
INSTANTIATE_TEST_SUITE_P(Isa, AddressEdgesOfLdsPairs,
                         testing::Values(Pair{"ds_read2_b32", 4, 1}, Pair{"ds_read2_b64", 8, 1},
                                         Pair{"ds_read2st64_b32", 4, 64}, Pair{"ds_read2st64_b64", 8, 64},
                                         Pair{"ds_write2_b32", 4, 1}, Pair{"ds_write2_b64", 8, 1},
                                         Pair{"ds_write2st64_b32", 4, 64}, Pair{"ds_write2st64_b64", 8, 64}),
                         [](const auto& row) { return row.param.name; });

std::vector<MemoryOperation> memory_operations() {
  return {load_part<std::uint8_t>("load_ubyte", whole),
          load_part<std::uint16_t>("load_ushort", whole),
          load_registers("load_dword", 1),
          load_registers("load_dwordx2", 2),
          load_registers("load_dwordx4", 4),
          store_part<std::uint8_t>("store_byte"),
          store_registers("store_dword", 1),
          store_registers("store_dwordx2", 2),
          store_registers("store_dwordx3", 3),
          store_registers("store_dwordx4", 4),
          atomic<u32>("atomic_add", [](u32 memory, u32 data) { return memory + data; }),
          atomic<u64>("atomic_xor_x2", [](u64 memory, u64 data) { return memory ^ data; })};
}

std::string offset_text(i32 offset) { return offset == 0 ? "" : " offset:" + std::to_string(offset); }

/// A FLAT address in the shared aperture, where the low 32 bits and the offset wrap around. The register's upper half
/// alone says that it is in there.
Case flat_to_lds(const MemoryOperation& operation, u32 offset) {
  const std::string data =
      operation.kind == Kind::load ? result_text(operation) + ", v[0:1]" : "v[0:1], " + data_text(operation);
  Case made = in_lds(operation, offset);
  made.assembly =
      "flat_" + operation.name + " " + data + offset_text(static_cast<i32>(offset)) + "\ns_waitcnt vmcnt(0) lgkmcnt(0)";
  made.prepare = [in_range = made.prepare](MachineState& state, Random& random) {
    in_range(state, random);
    state.vector[1].fill(shared_aperture_high);
  };
  return made;
}

class AddressEdgesOfFlat : public testing::TestWithParam<MemoryOperation> {};
TEST_P(AddressEdgesOfFlat, TheRegisterSaysWhichApertureAndTheSumSaysWhere) {
  expect_match({flat_to_lds(GetParam(), 0), flat_to_lds(GetParam(), 2032), flat_to_lds(GetParam(), 4080)},
               {.lds = Lds::loaded_and_stored, .states = 4});
}
INSTANTIATE_TEST_SUITE_P(Isa, AddressEdgesOfFlat, testing::ValuesIn(memory_operations()), operation_name);

/// s[4:5] + v0 + offset in 64 bits, where v0 has no sign: `register_start` is the v0 of the window's first byte.
Case by_scalar_base(const MemoryOperation& operation, u32 register_start, i32 offset) {
  const std::string data =
      operation.kind == Kind::load ? result_text(operation) + ", v0" : "v0, " + data_text(operation);
  const auto base = [=](const MachineState& state) {
    return state.memory_address - register_start - static_cast<u64>(i64{offset});
  };
  return {.assembly =
              "global_" + operation.name + " " + data + ", s[4:5]" + offset_text(offset) + "\ns_waitcnt vmcnt(0)",
          .prepare =
              [=](MachineState& state, Random& random) {
                state.set_scalar_value(4, 8, base(state));
                state.vector[0] = places_around(memory_bytes / 2, operation.bytes, operation.kind, random);
                for (u32& place : state.vector[0]) place += register_start;
              },
          .reference =
              [=](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane) {
                  if (!state.active(lane)) continue;
                  const u64 address = base(state) + state.vector[0][lane] + static_cast<u64>(i64{offset});
                  execute_at(operation, state.at(address, operation.bytes), state, lane);
                }
              }};
}

class AddressEdgesOfGlobal : public testing::TestWithParam<MemoryOperation> {};
TEST_P(AddressEdgesOfGlobal, TheRegisterHasNoSignAndTheOffsetHasOne) {
  std::vector<Case> cases;
  for (const u32 start : {0U, 0x80000000U - memory_bytes / 2, 0U - memory_bytes})
    for (const i32 offset : {-4096, -2048, 0, 2047, 4095}) cases.push_back(by_scalar_base(GetParam(), start, offset));
  expect_match(cases);
}
INSTANTIATE_TEST_SUITE_P(Isa, AddressEdgesOfGlobal, testing::ValuesIn(memory_operations()), operation_name);

}  // namespace
}  // namespace softgpu::isa
