// Accesses one after the other that have something in common: the way that suits the lanes' addresses in one of them
// does not suit them in the next.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::repeated_access {
namespace {

// v[0:1] and v[2:3] are addresses, or v0 and v2 offsets. s[4:5] is the base, s8 a mask of the lower 32 lanes, s9 says
// whether to branch.
constexpr unsigned address = 0;
constexpr unsigned other_address = 2;
constexpr unsigned base = 4;
constexpr unsigned mask = 8;
constexpr unsigned choice = 9;

/// Where lanes access a dword: memory by offsets from a scalar base, memory by addresses, LDS.
enum class Space { based_memory, memory, lds };

using Offsets = std::array<u32, lane_count>;

/// Dwords that are distinct, or one for each 16 lanes, in each of the shapes that there are ways for.
Offsets random_offsets(Random& random, bool may_be_uniform) {
  std::array<u32, 32> places = {};
  std::iota(places.begin(), places.end(), 0U);
  std::array<u32, 16> some = {};
  std::sample(places.begin(), places.end(), some.begin(), some.size(), random);
  if (random() % 4 == 0) std::iota(some.begin(), some.end(), 0U);
  if (random() % 4 == 0) std::shuffle(some.begin(), some.end(), random);
  if (may_be_uniform && random() % 4 == 0) some.fill(some[0]);
  const u32 chunk_bytes = random() % 3 == 0 ? 132 : 128;
  Offsets made = {};
  for (u32 lane = 0; lane < lane_count; ++lane) made[lane] = 512 + chunk_bytes * (lane / 16) + 4 * some[lane % 16];
  return made;
}

void set_address(MachineState& s, Space space, unsigned to, unsigned lane, u32 offset) {
  const std::uint64_t from = space == Space::memory ? s.scalar_value(base, 8) : 0;
  s.set_vector_value(to, lane, 8, from + offset);
}

void prepare(MachineState& s, Space space, Random& random, bool stores) {
  // Some lines and pages of the host's have the lanes' dwords from their beginning on, some do not.
  s.set_scalar_value(base, 8, s.memory_address + (random() % 2 == 0 ? 0 : random() % 256));
  for (const unsigned to : {address, other_address}) {
    const Offsets offsets = random_offsets(random, !stores);
    for (unsigned lane = 0; lane < lane_count; ++lane) set_address(s, space, to, lane, offsets[lane]);
  }
  s.scalar[mask] = static_cast<u32>(random() % 2 == 0 ? random() : 0xffffU << random() % 17);
  s.scalar[choice] = static_cast<u32>(random() % 2);
  if (random() % 2 == 0) s.exec = tests_wave32() ? 0xffffffff : ~u64{0};
}

/// Lanes that the mask leaves out are elsewhere.
void prepare_masked(MachineState& s, Space space, Random& random, bool stores) {
  prepare(s, space, random, stores);
  for (u32 lane = 0; lane < 32; ++lane)
    if ((s.scalar[mask] >> lane & 1) == 0)
      set_address(s, space, address, lane, 1280 + 4 * static_cast<u32>(random() % 5 * 32 + lane));
}

std::uint8_t* place(MachineState& s, Space space, unsigned lane, u32 displacement) {
  if (space == Space::lds) return s.lds_at(u64{s.vector[address][lane]} + displacement, 4);
  if (space == Space::memory) return s.at(s.vector_value(address, lane, 8) + displacement, 4);
  return s.at(s.scalar_value(base, 8) + s.vector[address][lane] + displacement, 4);
}
void load(MachineState& s, Space space, unsigned to, u32 displacement = 0) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (s.active(lane)) s.vector[to][lane] = read_as<u32>(place(s, space, lane, displacement));
}
void store(MachineState& s, Space space, unsigned data, u32 displacement = 0) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (s.active(lane)) write_as(place(s, space, lane, displacement), s.vector[data][lane]);
}
void move(MachineState& s, unsigned to, unsigned from) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (s.active(lane)) s.vector[to][lane] = s.vector[from][lane];
}
void move_address(MachineState& s, unsigned to, unsigned from) {
  move(s, to, from);
  move(s, to + 1, from + 1);
}
void narrow(MachineState& s) { s.exec &= s.scalar[mask] | 0xffffffff00000000; }

std::string load_text(Space space, unsigned to, u32 displacement = 0) {
  const std::string target = "v" + std::to_string(to);
  const std::string offset = " offset:" + std::to_string(displacement) + "\n";
  if (space == Space::lds) return "ds_read_b32 " + target + ", v0" + offset;
  return "global_load_dword " + target + (space == Space::memory ? ", v[0:1], off" : ", v0, s[4:5]") + offset;
}
std::string store_text(Space space, unsigned data, u32 displacement = 0) {
  const std::string source = ", v" + std::to_string(data);
  const std::string offset = " offset:" + std::to_string(displacement) + "\n";
  if (space == Space::lds) return "ds_write_b32 v0" + source + offset;
  if (space == Space::memory) return "global_store_dword v[0:1]" + source + ", off" + offset;
  return "global_store_dword v0" + source + ", s[4:5]" + offset;
}
std::string move_text(unsigned to, unsigned from) {
  const auto part = [&](unsigned dword) {
    return "v_mov_b32 v" + std::to_string(to + dword) + ", v" + std::to_string(from + dword) + "\n";
  };
  return part(0) + part(1);
}

constexpr std::string_view wait = "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
constexpr std::string_view narrowed =
    "s_mov_b32 s16, exec_lo\ns_mov_b32 exec_lo, s8\ns_and_b32 exec_lo, exec_lo, s16\n";
constexpr std::string_view widened = "s_mov_b32 exec_lo, s16\n";

using Parts = std::initializer_list<std::string_view>;

class RepeatedAccess : public testing::TestWithParam<Space> {
protected:
  template <class Preparation, class Reference>
  static void expect(Parts parts, Preparation preparation, Reference reference) {
    std::string assembly;
    for (const std::string_view part : parts) assembly += part;
    const bool stores = assembly.find("store") != std::string::npos || assembly.find("write") != std::string::npos;
    const Space space = GetParam();
    expect_match({{assembly, [=](MachineState& s, Random& random) { preparation(s, space, random, stores); },
                   [=](MachineState& s) { reference(s, space); }}},
                 {.lds = space == Space::lds ? Lds::loaded_and_stored : Lds::unused, .states = 16});
  }
};

TEST_P(RepeatedAccess, LoadsAfterExecHasChanged) {
  expect({load_text(GetParam(), 4), narrowed, load_text(GetParam(), 5, 4), load_text(GetParam(), 6, 8), widened,
          load_text(GetParam(), 7, 12), wait},
         prepare_masked, [](MachineState& s, Space space) {
           const u64 all = s.exec;
           s.scalar[16] = static_cast<u32>(all);
           load(s, space, 4);
           narrow(s);
           load(s, space, 5, 4);
           load(s, space, 6, 8);
           s.scc = static_cast<u32>(s.exec) != 0 ? 1 : 0;
           s.exec = all;
           load(s, space, 7, 12);
         });
}

TEST_P(RepeatedAccess, AccessesAfterExecHasGrown) {
  expect({narrowed, load_text(GetParam(), 4), wait, store_text(GetParam(), 5), widened, load_text(GetParam(), 6, 4),
          wait, store_text(GetParam(), 7), wait},
         prepare_masked, [](MachineState& s, Space space) {
           const u64 all = s.exec;
           s.scalar[16] = static_cast<u32>(all);
           narrow(s);
           load(s, space, 4);
           store(s, space, 5);
           s.scc = static_cast<u32>(s.exec) != 0 ? 1 : 0;
           s.exec = all;
           load(s, space, 6, 4);
           store(s, space, 7);
         });
}

TEST_P(RepeatedAccess, AccessesAfterTheOffsetsHaveChanged) {
  const std::string change = move_text(address, other_address);
  expect({load_text(GetParam(), 4), narrowed, change, widened, load_text(GetParam(), 5), wait, change,
          store_text(GetParam(), 6), wait},
         prepare, [](MachineState& s, Space space) {
           const u64 all = s.exec;
           s.scalar[16] = static_cast<u32>(all);
           load(s, space, 4);
           narrow(s);
           move_address(s, address, other_address);
           s.scc = static_cast<u32>(s.exec) != 0 ? 1 : 0;
           s.exec = all;
           load(s, space, 5);
           move_address(s, address, other_address);
           store(s, space, 6);
         });
}

TEST_P(RepeatedAccess, AccessesOfOtherBases) {
  for (const u32 displacement : {4U, 7U, 32U, 60U, 64U, 100U, 126U}) {
    expect({load_text(GetParam(), 4), load_text(GetParam(), 5, displacement), wait, store_text(GetParam(), 6), wait,
            store_text(GetParam(), 7, displacement), wait},
           prepare, [=](MachineState& s, Space space) {
             load(s, space, 4);
             load(s, space, 5, displacement);
             store(s, space, 6);
             store(s, space, 7, displacement);
           });
  }
}

TEST_P(RepeatedAccess, AccessesAfterABranchAroundOne) {
  expect({"s_cmp_lg_u32 s9, 0\n", "s_cbranch_scc1 around%=\n", load_text(GetParam(), 4),
          move_text(address, other_address), "around%=:\n", load_text(GetParam(), 5), wait, store_text(GetParam(), 6),
          wait},
         prepare, [](MachineState& s, Space space) {
           s.scc = s.scalar[choice];
           if (s.scalar[choice] == 0) {
             load(s, space, 4);
             move_address(s, address, other_address);
           }
           load(s, space, 5);
           store(s, space, 6);
         });
}

TEST_P(RepeatedAccess, AccessesOfALoopWhoseOffsetsChange) {
  expect({"s_mov_b32 s16, 3\n", "again%=:\n", load_text(GetParam(), 4), wait, "v_add_u32 v5, v5, v4\n",
          store_text(GetParam(), 5), wait, move_text(6, address), move_text(address, other_address),
          move_text(other_address, 6), "s_sub_u32 s16, s16, 1\n", "s_cmp_lg_u32 s16, 0\n", "s_cbranch_scc1 again%=\n"},
         prepare, [](MachineState& s, Space space) {
           for (unsigned pass = 0; pass < 3; ++pass) {
             load(s, space, 4);
             for (unsigned lane = 0; lane < lane_count; ++lane)
               if (s.active(lane)) s.vector[5][lane] += s.vector[4][lane];
             store(s, space, 5);
             move_address(s, 6, address);
             move_address(s, address, other_address);
             move_address(s, other_address, 6);
           }
           s.scalar[16] = 0;
           s.scc = 0;
         });
}

std::string space_name(const testing::TestParamInfo<Space>& instance) {
  switch (instance.param) {
  case Space::based_memory:
    return "BasedMemory";
  case Space::memory:
    return "Memory";
  case Space::lds:
    break;
  }
  return "Lds";
}

INSTANTIATE_TEST_SUITE_P(InEachSpace, RepeatedAccess, testing::Values(Space::based_memory, Space::memory, Space::lds),
                         space_name);

}  // namespace
}  // namespace softgpu::isa::repeated_access
