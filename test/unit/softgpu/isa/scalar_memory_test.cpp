// SMEM loads, stores and atomics.
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "memory_case.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa {
namespace {

constexpr u64 middle = 1024;  // of the memory window

/// The low two bits of each part of an address are ignored, not of the sum.
u64 in_dwords(u64 bytes) { return bytes & ~u64{3}; }

/// Loads `words` registers from s0 on. The base is in s[20:21], an offset in s22.
Case load(const std::string& width, unsigned words, const std::string& offset, i64 immediate, bool adds_register) {
  Case made{.assembly = "s_load_dword" + width + " " + registers('s', 0, words) + ", s[20:21], " + offset +
                        "\ns_waitcnt lgkmcnt(0)",
            .prepare = {},
            .reference = {}};
  made.prepare = [=](MachineState& state, Random& random) {
    state.scalar[22] = static_cast<u32>(random() % 256);
    const u64 in_register = adds_register ? state.scalar[22] : 0;
    state.set_scalar_value(20, 8,
                           state.memory_address + middle + random() % 512 - static_cast<u64>(immediate) - in_register);
  };
  made.reference = [=](MachineState& state) {
    const u64 address = in_dwords(state.scalar_value(20, 8)) + in_dwords(static_cast<u64>(immediate)) +
                        in_dwords(adds_register ? state.scalar[22] : 0);
    std::memcpy(state.scalar.data(), state.at(address, 4 * words), 4 * words);
  };
  return made;
}

TEST(ScalarMemory, LoadsMatchTheManual) {
  std::vector<Case> cases;
  for (const auto& [width, words] : {std::pair{"", 1U}, {"x2", 2U}, {"x4", 4U}, {"x8", 8U}, {"x16", 16U}}) {
    cases.push_back(load(width, words, "0x0", 0, false));
    cases.push_back(load(width, words, "0xffff4", 0xffff4, false));
    cases.push_back(load(width, words, "-0x100000", -0x100000, false));
    cases.push_back(load(width, words, "s22", 0, true));
    cases.push_back(load(width, words, "s22 offset:0x124", 0x124, true));
    cases.push_back(load(width, words, "0x127", 0x127, false));
    cases.push_back(load(width, words, "s22 offset:0x3", 3, true));
  }
  // Base registers may be overwritten by the load.
  Case over_base{
      .assembly = "s_load_dwordx2 s[20:21], s[20:21], 0x8\ns_waitcnt lgkmcnt(0)", .prepare = {}, .reference = {}};
  over_base.prepare = [](MachineState& state, Random&) {
    state.set_scalar_value(20, 8, state.memory_address + middle);
  };
  over_base.reference = [](MachineState& state) {
    state.set_scalar_value(20, 8, read_as<u64>(state.at(state.scalar_value(20, 8) + 8, 8)));
  };
  cases.push_back(std::move(over_base));
  expect_match(cases, {.states = 2});
}

/// A buffer of 256 bytes described by s[16:19]; words beyond its end read as zero.
Case buffer_load(const std::string& width, unsigned words, const std::string& offset, u32 immediate,
                 bool adds_register) {
  Case made{.assembly = "s_buffer_load_dword" + width + " " + registers('s', 0, words) + ", s[16:19], " + offset +
                        "\ns_waitcnt lgkmcnt(0)",
            .prepare = {},
            .reference = {}};
  made.prepare = [=](MachineState& state, Random& random) {
    state.set_scalar_value(16, 8, state.memory_address + middle);
    state.scalar[18] = 256;
    state.scalar[19] = 0x00027000;
    state.scalar[22] = static_cast<u32>(random() % 384 & ~u64{3});
  };
  made.reference = [=](MachineState& state) {
    const u32 from = immediate + (adds_register ? state.scalar[22] : 0);
    for (unsigned i = 0; i < words; ++i) {
      const u32 at = from + 4 * i;
      state.scalar[i] = at + 4 <= 256 ? read_as<u32>(state.at(state.memory_address + middle + at, 4)) : 0;
    }
  };
  return made;
}

TEST(ScalarMemory, BufferLoadsMatchTheManual) {
  std::vector<Case> cases;
  for (const auto& [width, words] : {std::pair{"", 1U}, {"x2", 2U}, {"x4", 4U}, {"x8", 8U}, {"x16", 16U}}) {
    cases.push_back(buffer_load(width, words, "0x40", 0x40, false));
    cases.push_back(buffer_load(width, words, "s22", 0, true));
  }
  expect_match(cases, {.states = 2});
}

/// Where s_store, s_scratch_store and s_scratch_load have their address: base in s[20:21], maybe an offset in s22 that
/// counts `unit` bytes, an immediate one.
struct Place {
  std::string offset;
  i64 immediate;
  u32 unit;  ///< 0 without a register
};

void aim(MachineState& state, Random& random, const Place& place) {
  state.scalar[22] = static_cast<u32>(random() % (place.unit == 64 ? 8 : 256));
  const u64 added = u64{place.unit} * state.scalar[22] + static_cast<u64>(place.immediate);
  state.set_scalar_value(20, 8, state.memory_address + middle + random() % 512 - added);
}
std::uint8_t* at(MachineState& state, const Place& place, unsigned words) {
  const u64 added = in_dwords(u64{place.unit} * state.scalar[22]) + in_dwords(static_cast<u64>(place.immediate));
  return state.at(in_dwords(state.scalar_value(20, 8)) + added, 4 * words);
}

/// Stores `words` registers from s4 on.
Case store(const std::string& mnemonic, const std::string& width, unsigned words, const Place& place) {
  return {.assembly = mnemonic + width + " " + registers('s', 4, words) + ", s[20:21], " + place.offset +
                      "\ns_waitcnt lgkmcnt(0)\ns_dcache_wb",
          .prepare = [=](MachineState& state, Random& random) { aim(state, random, place); },
          .reference = [=](MachineState& state) { std::memcpy(at(state, place, words), &state.scalar[4], 4 * words); }};
}

constexpr std::pair<const char*, unsigned> store_widths[] = {{"", 1}, {"x2", 2}, {"x4", 4}};

TEST(ScalarMemory, StoresMatchTheManual) {
  std::vector<Case> cases;
  for (const auto& [width, words] : store_widths)
    for (const Place& place :
         {Place{"0x10", 0x10, 0}, Place{"-0x30", -0x30, 0}, Place{"s22", 0, 1}, Place{"s22 offset:0x14", 0x14, 1}})
      cases.push_back(store("s_store_dword", width, words, place));
  expect_match(cases, {.states = 2});
}

TEST(ScalarMemory, ScratchOffsetsInRegistersCount64Bytes) {
  std::vector<Case> cases;
  for (const auto& [width, words] : store_widths)
    for (const Place& place : {Place{"0x10", 0x10, 0}, Place{"s22", 0, 64}, Place{"s22 offset:0x14", 0x14, 64}}) {
      cases.push_back(store("s_scratch_store_dword", width, words, place));
      Case load{.assembly = std::string("s_scratch_load_dword") + width + " " + registers('s', 4, words) +
                            ", s[20:21], " + place.offset + "\ns_waitcnt lgkmcnt(0)",
                .prepare = cases.back().prepare,
                .reference = {}};
      load.reference = [place, words = words](MachineState& state) {
        std::memcpy(&state.scalar[4], at(state, place, words), 4 * words);
      };
      cases.push_back(std::move(load));
    }
  expect_match(cases, {.states = 2});
}

/// A buffer of 256 bytes described by s[16:19], accessed at s22.
void describe_buffer(MachineState& state, Random& random) {
  state.set_scalar_value(16, 8, state.memory_address + middle);
  state.scalar[18] = 256;
  state.scalar[19] = 0x00027000;
  state.scalar[22] = static_cast<u32>(random() % 272 & ~u64{3});
}

TEST(ScalarMemory, BufferStoresWriteWhatIsInRange) {
  std::vector<Case> cases;
  for (const auto& [width, words] : store_widths) {
    Case made{.assembly = std::string("s_buffer_store_dword") + width + " " + registers('s', 4, words) +
                          ", s[16:19], s22\ns_waitcnt lgkmcnt(0)\ns_dcache_wb",
              .prepare = describe_buffer,
              .reference = {}};
    made.reference = [words = words](MachineState& state) {
      for (unsigned i = 0; i < words; ++i)
        if (const u32 offset = state.scalar[22] + 4 * i; offset < 256)
          write_as<u32>(state.at(state.memory_address + middle + offset, 4), state.scalar[4 + i]);
    };
    cases.push_back(std::move(made));
  }
  expect_match(cases, {.states = 8});
}

/// The data is in s4 and on; atomics that return put the former value there.
Case atomic_case(const MemoryOperation& operation, const std::string& prefix, const std::string& address, bool returns,
                 const std::function<void(MachineState&, Random&)>& prepare,
                 const std::function<std::uint8_t*(MachineState&)>& resolve) {
  Case made{.assembly = prefix + operation.name + " " + registers('s', 4, operation.data_registers) + ", " + address +
                        (returns ? " glc" : "") + "\ns_waitcnt lgkmcnt(0)",
            .prepare = {},
            .reference = {}};
  made.prepare = [=](MachineState& state, Random& random) {
    prepare(state, random);
    std::uint8_t* memory = resolve(state);
    // Some compare-and-swaps find the value that they look for.
    if (memory != nullptr && random() % 2 == 0)
      std::memcpy(&state.scalar[4 + operation.data_registers - operation.result_registers], memory, operation.bytes);
  };
  made.reference = [=](MachineState& state) {
    const std::span<const u32> data(&state.scalar[4], operation.data_registers);
    std::array<u32, 2> result = {};
    if (std::uint8_t* memory = resolve(state))
      operation.execute(memory, data, std::span(result).first(operation.result_registers));
    if (returns) std::memcpy(&state.scalar[4], result.data(), operation.bytes);
  };
  return made;
}

/// EXEC has no say, not even where it is 0.
class ScalarAtomics : public testing::TestWithParam<MemoryOperation> {};
TEST_P(ScalarAtomics, MatchTheManual) {
  const MemoryOperation& operation = GetParam();
  const auto aligned = [&](const Place& place) {
    return [=](MachineState& state, Random& random) {
      aim(state, random, place);
      const u64 address = in_dwords(state.scalar_value(20, 8)) + in_dwords(u64{place.unit} * state.scalar[22]) +
                          in_dwords(static_cast<u64>(place.immediate));
      state.set_scalar_value(20, 8, state.scalar_value(20, 8) - address % 8);
    };
  };
  std::vector<Case> cases;
  for (const bool returns : {false, true}) {
    for (const Place& place : {Place{"0x10", 0x10, 0}, Place{"s22 offset:0x18", 0x18, 1}})
      cases.push_back(atomic_case(operation, "s_", "s[20:21], " + place.offset, returns, aligned(place),
                                  [=](MachineState& state) { return at(state, place, operation.bytes / 4); }));
    cases.push_back(atomic_case(
        operation, "s_buffer_", "s[16:19], s22", returns,
        [bytes = operation.bytes](MachineState& state, Random& random) {
          describe_buffer(state, random);
          state.scalar[22] -= state.scalar[22] % bytes;
        },
        [bytes = operation.bytes](MachineState& state) -> std::uint8_t* {
          if (state.scalar[22] + bytes > 256) return nullptr;
          return state.at(state.memory_address + middle + state.scalar[22], bytes);
        }));
  }
  expect_match(cases, {.states = 4});
}
INSTANTIATE_TEST_SUITE_P(Isa, ScalarAtomics, testing::ValuesIn(integer_atomics()), operation_name);

TEST(ScalarMemory, ProbesAndDiscardedLinesChangeNothing) {
  const auto addresses = [](MachineState& state, Random& random) {
    state.set_scalar_value(20, 8, state.memory_address);
    describe_buffer(state, random);
  };
  const auto nothing = [](MachineState&) {};
  expect_match({{"s_dcache_discard s[20:21], 0x40", addresses, nothing},
                {"s_dcache_discard_x2 s[20:21], s22", addresses, nothing},
                {"s_atc_probe 7, s[20:21], 0x40", addresses, nothing},
                {"s_atc_probe_buffer 7, s[16:19], s22", addresses, nothing}});
}

}  // namespace
}  // namespace softgpu::isa
