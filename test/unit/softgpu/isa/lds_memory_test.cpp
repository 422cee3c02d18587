// DS loads, stores and atomics.
#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "float_rules.hpp"
#include "memory_case.hpp"
#include "tested_target.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::lds_memory {
namespace {

using Kind = MemoryOperation::Kind;
using u8 = std::uint8_t;
using i8 = std::int8_t;

/// An address in v0. Atomics that return have _rtn before their type.
Addressing in_lds(unsigned offset) {
  return {
      .name = "lds",
      .text =
          [=](const MemoryOperation& operation, bool returns) {
            std::string name = operation.name;
            if (returns && operation.name.find("wrxchg") == std::string::npos) name.insert(name.rfind('_'), "_rtn");
            if (returns && name.find("wrxchg") != std::string::npos) name.insert(name.rfind('_'), "_rtn");
            std::string text = "ds_" + name + " ";
            if (operation.kind == Kind::load)
              text += result_text(operation) + ", v0";
            else
              text += (returns ? result_text(operation) + ", " : "") + "v0, ";
            if (operation.kind != Kind::load && operation.data_registers == 2 * operation.result_registers)
              text += registers('v', data_vgpr, operation.result_registers) + ", " +
                      registers('v', data_vgpr + operation.result_registers, operation.result_registers);
            else if (operation.kind != Kind::load)
              text += data_text(operation);
            return text + (offset == 0 ? "" : " offset:" + std::to_string(offset));
          },
      .aim = [=](MachineState& state, unsigned lane, u32 to) { state.vector[address_vgpr][lane] = to - offset; },
      .resolve = [=](MachineState& state, const MachineState& before, unsigned lane,
                     unsigned bytes) { return state.lds_at(u64{before.vector[address_vgpr][lane]} + offset, bytes); }};
}

void expect_every_way(const MemoryOperation& operation, bool without_return = true, bool gfx90a_lacks_it = false) {
  std::vector<Case> cases;
  for (const unsigned offset : {0U, 16U, 511U & ~15U}) {
    if (without_return) cases.push_back(case_of(operation, in_lds(offset)));
    if (operation.kind == Kind::atomic) cases.push_back(case_of(operation, in_lds(offset), Returning::yes));
  }
  expect_match(cases, {.lds = Lds::loaded_and_stored, .gfx90a_lacks_them = gfx90a_lacks_it});
}

u32 low(i32 part, u32 old) { return (old & 0xffff0000) | (static_cast<u32>(part) & 0xffff); }
u32 high(i32 part, u32 old) { return (old & 0xffff) | static_cast<u32>(part) << 16; }
u32 whole(i32 part, u32 /*old*/) { return static_cast<u32>(part); }

const MemoryOperation loads_and_stores_of_lds[] = {
    load_part<u8>("read_u8", whole),     load_part<i8>("read_i8", whole),
    load_part<u16>("read_u16", whole),   load_part<i16>("read_i16", whole),
    load_part<u8>("read_u8_d16", low),   load_part<u8>("read_u8_d16_hi", high),
    load_part<i8>("read_i8_d16", low),   load_part<i8>("read_i8_d16_hi", high),
    load_part<u16>("read_u16_d16", low), load_part<u16>("read_u16_d16_hi", high),
    load_registers("read_b32", 1),       load_registers("read_b64", 2),
    load_registers("read_b96", 3),       load_registers("read_b128", 4),
    store_part<u8>("write_b8"),          store_part<u8>("write_b8_d16_hi", 16),
    store_part<u16>("write_b16"),        store_part<u16>("write_b16_d16_hi", 16),
    store_registers("write_b32", 1),     store_registers("write_b64", 2),
    store_registers("write_b96", 3),     store_registers("write_b128", 4),
};

/// The atomics on T, whose names end in u32 or u64, i32 or i64, b32 or b64.
template <class U, class I>
std::vector<MemoryOperation> atomics(const std::string& bits) {
  return {
      atomic<U>("add_u" + bits, [](U m, U data) { return static_cast<U>(m + data); }),
      atomic<U>("sub_u" + bits, [](U m, U data) { return static_cast<U>(m - data); }),
      in_lane_order(atomic<U>("rsub_u" + bits, [](U m, U data) { return static_cast<U>(data - m); })),
      in_lane_order(atomic<U>("inc_u" + bits, wrapping_increment<U>)),
      in_lane_order(atomic<U>("dec_u" + bits, wrapping_decrement<U>)),
      atomic<I>("min_i" + bits, [](I m, I data) { return std::min(m, data); }),
      atomic<I>("max_i" + bits, [](I m, I data) { return std::max(m, data); }),
      atomic<U>("min_u" + bits, [](U m, U data) { return std::min(m, data); }),
      atomic<U>("max_u" + bits, [](U m, U data) { return std::max(m, data); }),
      atomic<U>("and_b" + bits, [](U m, U data) { return m & data; }),
      atomic<U>("or_b" + bits, [](U m, U data) { return m | data; }),
      atomic<U>("xor_b" + bits, [](U m, U data) { return m ^ data; }),
      atomic_of_two<U>("mskor_b" + bits, [](U m, U mask, U data) { return (m & ~mask) | data; }),
      atomic_of_two<U>("cmpst_b" + bits, [](U m, U compare, U data) { return m == compare ? data : m; }),
  };
}

template <class T>
std::vector<MemoryOperation> float_atomics_of_lds(const std::string& type) {
  return {
      in_lane_order(atomic<T>("add_" + type, [](T m, T data) { return m + data; })),
      in_lane_order(atomic<T>("min_" + type, [](T m, T data) { return minimum(m, data); })),
      in_lane_order(atomic<T>("max_" + type, [](T m, T data) { return maximum(m, data); })),
      atomic_of_two<T>("cmpst_" + type, [](T m, T compare, T data) { return m == compare ? data : m; }),
  };
}

class LdsMemory : public testing::TestWithParam<MemoryOperation> {};
TEST_P(LdsMemory, MatchesTheManual) { expect_every_way(GetParam()); }
INSTANTIATE_TEST_SUITE_P(LoadsAndStores, LdsMemory, testing::ValuesIn(loads_and_stores_of_lds), operation_name);
INSTANTIATE_TEST_SUITE_P(Atomics, LdsMemory, testing::ValuesIn(atomics<u32, i32>("32")), operation_name);
INSTANTIATE_TEST_SUITE_P(WideAtomics, LdsMemory, testing::ValuesIn(atomics<u64, i64>("64")), operation_name);
INSTANTIATE_TEST_SUITE_P(FloatAtomics, LdsMemory, testing::ValuesIn(float_atomics_of_lds<float>("f32")),
                         operation_name);
INSTANTIATE_TEST_SUITE_P(DoubleAtomics, LdsMemory, testing::ValuesIn(float_atomics_of_lds<double>("f64")),
                         operation_name);

/// CDNA's rules: RDNA compares.
class LdsFloatExtremes : public testing::TestWithParam<MemoryOperation> {};
TEST_P(LdsFloatExtremes, MatchTheManual) {
  if (tested_target().architecture->is_rdna()) GTEST_SKIP() << "of CDNA";
  expect_every_way(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Isa, LdsFloatExtremes,
                         testing::Values(extreme_in_order("min_f32", Type::float32, false),
                                         extreme_in_order("max_f32", Type::float32, true),
                                         extreme_in_order("min_f64", Type::float64, false),
                                         extreme_in_order("max_f64", Type::float64, true)),
                         operation_name);

class LaterLdsAtomics : public testing::TestWithParam<MemoryOperation> {};
TEST_P(LaterLdsAtomics, MatchTheManual) { expect_every_way(GetParam(), true, true); }
INSTANTIATE_TEST_SUITE_P(Isa, LaterLdsAtomics,
                         testing::Values(in_lane_order(atomic<PackedHalf>("pk_add_f16", add_halves)),
                                         in_lane_order(atomic<u32>("pk_add_bf16", add_bfloats))),
                         operation_name);

/// Of RDNA3 and RDNA4, whose operands have another order.
std::vector<MemoryOperation> later_compare_and_store() {
  const auto of = []<class T>(const std::string& type, T) {
    return atomic_of_two<T>("cmpstore_" + type, [](T m, T data, T compare) { return m == compare ? data : m; });
  };
  return {of("b32", u32{}), of("b64", u64{}), of("f32", float{}), of("f64", double{})};
}
class LaterLdsCompareAndStore : public testing::TestWithParam<MemoryOperation> {};
TEST_P(LaterLdsCompareAndStore, MatchesTheManual) { expect_every_way(GetParam(), true, true); }
INSTANTIATE_TEST_SUITE_P(Isa, LaterLdsCompareAndStore, testing::ValuesIn(later_compare_and_store()), operation_name);

/// These always return.
class LdsExchange : public testing::TestWithParam<MemoryOperation> {};
TEST_P(LdsExchange, MatchesTheManual) { expect_every_way(GetParam(), false); }
INSTANTIATE_TEST_SUITE_P(Isa, LdsExchange,
                         testing::Values(in_lane_order(atomic<u32>("wrxchg_b32", [](u32, u32 data) { return data; })),
                                         in_lane_order(atomic<u64>("wrxchg_b64", [](u64, u64 data) { return data; })),
                                         atomic_of_two<u32>("wrap_b32",
                                                            [](u32 m, u32 data, u32 other) {
                                                              return m >= data ? m - data : m + other;
                                                            })),
                         operation_name);

/// Two places at once, a multiple of the element's size (or of 64 of them) away from the address in v0.
struct Pair {
  std::string name;
  unsigned element;  ///< bytes
  unsigned unit;     ///< of the offsets, in elements
};
void PrintTo(const Pair& pair, std::ostream* stream) { *stream << pair.name; }

class LdsPairs : public testing::TestWithParam<Pair> {};
TEST_P(LdsPairs, MatchTheManual) {
  const Pair pair = GetParam();
  const bool writes = pair.name.starts_with("ds_write");
  const bool exchanges = pair.name.starts_with("ds_wrxchg");
  const unsigned words = pair.element / 4;
  std::vector<Case> cases;
  for (const auto& [first, second] : {std::pair{0U, 1U}, {3U, 2U}}) {
    std::string text = pair.name + " ";
    if (!writes) text += registers('v', 8, 2 * words) + ", ";
    text += "v0";
    if (writes || exchanges) text += ", " + registers('v', 4, words) + ", " + registers('v', 6, words);
    text += " offset0:" + std::to_string(first) + " offset1:" + std::to_string(second) + "\ns_waitcnt lgkmcnt(0)";
    Case made{.assembly = text, .prepare = {}, .reference = {}};
    made.prepare = [=](MachineState& state, Random& random) {
      const u32 stride = pair.unit == 1 ? 2 * pair.element : pair.element;  // no two lanes write one element
      const u32 start = static_cast<u32>(random() % 4) * pair.element;
      const bool reversed = random() % 2 == 0;
      for (unsigned lane = 0; lane < lane_count; ++lane) {
        const unsigned slot = reversed ? lane_count - 1 - lane : lane;
        const u32 spread =
            pair.unit == 1 ? slot * stride * (pair.element == 4 ? 2 : 1) : slot * stride % (64 * pair.element);
        state.vector[0][lane] = (start + spread) % (pair.unit == 1 ? 1024 : 512);
      }
      if (pair.unit != 1 && pair.element == 8)  // 64 elements of 8 bytes: three units must stay within the window
        for (u32& address : state.vector[0]) address %= 512;
    };
    made.reference = [=, first = first, second = second](MachineState& state) {
      const MachineState before = state;
      for (unsigned lane = 0; lane < lane_count; ++lane) {
        if (!before.active(lane)) continue;
        for (unsigned i = 0; i < 2; ++i) {
          const u32 offset = (i == 0 ? first : second) * pair.unit * pair.element;
          u8* bytes = state.lds_at(before.vector[0][lane] + offset, pair.element);
          u64 value = 0;
          std::memcpy(&value, bytes, pair.element);
          if (!writes) state.set_vector_value(8 + i * words, lane, pair.element, value);
          const u64 data = before.vector_value(4 + 2 * i, lane, pair.element);
          if (writes || exchanges) std::memcpy(bytes, &data, pair.element);
        }
      }
    };
    cases.push_back(std::move(made));
  }
  expect_match(cases, {.lds = Lds::loaded_and_stored});
}
INSTANTIATE_TEST_SUITE_P(Isa, LdsPairs,
                         testing::Values(Pair{"ds_read2_b32", 4, 1}, Pair{"ds_read2_b64", 8, 1},
                                         Pair{"ds_read2st64_b32", 4, 64}, Pair{"ds_read2st64_b64", 8, 64},
                                         Pair{"ds_write2_b32", 4, 1}, Pair{"ds_write2_b64", 8, 1},
                                         Pair{"ds_write2st64_b32", 4, 64}, Pair{"ds_write2st64_b64", 8, 64},
                                         Pair{"ds_wrxchg2_rtn_b32", 4, 1}, Pair{"ds_wrxchg2_rtn_b64", 8, 1},
                                         Pair{"ds_wrxchg2st64_rtn_b32", 4, 64}, Pair{"ds_wrxchg2st64_rtn_b64", 8, 64}),
                         [](const auto& row) { return row.param.name; });

TEST(LdsMemory, ReadsZeroBeyondTheAllocationAndDropsWrites) {
  const auto beyond = [](MachineState& state, Random& random) {
    for (u32& address : state.vector[0]) address = static_cast<u32>(0x10000 + random() % 0x10000 * 4);
  };
  expect_match({{"ds_read_b32 v8, v0\ns_waitcnt lgkmcnt(0)", beyond,
                 [](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane)
                     if (state.active(lane)) state.vector[8][lane] = 0;
                 }},
                {"ds_write_b32 v0, v4\ns_waitcnt lgkmcnt(0)", beyond, [](MachineState&) {}}},
               {.lds = Lds::loaded_and_stored});
}

/// ds_append and ds_consume add the number of active lanes to a counter, or subtract it; every lane gets the old value.
Case counting(const std::string& mnemonic, bool adds) {
  return {.assembly = mnemonic + " v8 offset:8\ns_waitcnt lgkmcnt(0)",
          .prepare = [](MachineState& state, Random& random) { state.m0 = static_cast<u32>(random() % 256 * 4); },
          .reference =
              [adds](MachineState& state) {
                if (state.exec == 0) return;
                u8* counter = state.lds_at(state.m0 + 8, 4);
                const u32 old = read_as<u32>(counter);
                const auto lanes = static_cast<u32>(std::popcount(state.exec));
                write_as<u32>(counter, adds ? old + lanes : old - lanes);
                for (unsigned lane = 0; lane < lane_count; ++lane)
                  if (state.active(lane)) state.vector[8][lane] = old;
              }};
}

/// The lanes' dwords from M0 + 12 on; the upper half of M0 does not count.
Case by_lane_number(const std::string& instruction, const std::function<void(MachineState&, unsigned, u8*)>& access) {
  return {.assembly = instruction + " offset:12\ns_waitcnt lgkmcnt(0)",
          .prepare = [](MachineState& state,
                        Random& random) { state.m0 = static_cast<u32>(random() % 0x10000 << 16 | random() % 256 * 4); },
          .reference =
              [access](MachineState& state) {
                for (unsigned lane = 0; lane < lane_count; ++lane)
                  if (state.active(lane)) access(state, lane, state.lds_at((state.m0 & 0xffff) + 12 + 4 * lane, 4));
              }};
}

TEST(LdsMemory, LaneNumbersAddress) {
  expect_match({by_lane_number("ds_read_addtid_b32 v8", [](MachineState& s, unsigned lane,
                                                           const u8* at) { s.vector[8][lane] = read_as<u32>(at); }),
                by_lane_number("ds_write_addtid_b32 v4",
                               [](MachineState& s, unsigned lane, u8* at) { write_as<u32>(at, s.vector[4][lane]); })},
               {.lds = Lds::loaded_and_stored});
}

/// Two exchanges of a dword each; the highest bit of the data chooses the value that is written.
TEST(LdsMemory, ConditionalExchangesWriteWhereTheHighestBitSaysSo) {
  expect_match({{"ds_condxchg32_rtn_b64 v[8:9], v0, v[4:5] offset:11\ns_waitcnt lgkmcnt(0)",
                 [](MachineState& state, Random& random) {
                   const auto turn = static_cast<u32>(random());
                   for (unsigned lane = 0; lane < lane_count; ++lane)  // the lowest three bits do not count
                     state.vector[0][lane] = (lane + turn) % lane_count * 8 + static_cast<u32>(random() % 4) + 8;
                 },
                 [](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!state.active(lane)) continue;
                     const u32 place = (state.vector[0][lane] + 11) & 0xfff8;
                     for (const u32 word : {0U, 1U}) {
                       u8* memory = state.lds_at(place + 4 * word, 4);
                       const u32 data = state.vector[4 + word][lane];
                       state.vector[8 + word][lane] = read_as<u32>(memory);
                       if (data >> 31 != 0) write_as<u32>(memory, data & 0x7fffffff);
                     }
                   }
                 }}},
               {.lds = Lds::loaded_and_stored});
}

TEST(LdsMemory, CountersCountTheActiveLanes) {
  expect_match({counting("ds_append", true), counting("ds_consume", false), {"ds_nop", {}, [](MachineState&) {}}},
               {.lds = Lds::loaded_and_stored});
}

}  // namespace
}  // namespace softgpu::isa::lds_memory
