// SMEM loads, and what of SMEM writes.
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa {
namespace {

constexpr u64 middle = 1024;  // of the memory window

/// Loads `words` registers from s0 on. The base is in s[20:21], an offset in s22; the low two bits of addresses are
/// ignored.
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
    const u64 address =
        state.scalar_value(20, 8) + static_cast<u64>(immediate) + (adds_register ? state.scalar[22] : 0);
    std::memcpy(state.scalar.data(), state.at(address & ~u64{3}, 4 * words), 4 * words);
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

/// Stores `words` registers from s4 on.
Case store(const std::string& width, unsigned words) {
  return {.assembly = "s_store_dword" + width + " " + registers('s', 4, words) +
                      ", s[20:21], 0x10\ns_waitcnt lgkmcnt(0)\ns_dcache_wb",
          .prepare = [](MachineState& state, Random&) { state.set_scalar_value(20, 8, state.memory_address + middle); },
          .reference =
              [words](MachineState& state) {
                std::memcpy(state.at(state.scalar_value(20, 8) + 0x10, 4 * words), &state.scalar[4], 4 * words);
              }};
}
TEST(ScalarMemory, StoresMatchTheManual) { expect_match({store("", 1), store("x2", 2), store("x4", 4)}); }

}  // namespace
}  // namespace softgpu::isa
