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

namespace softgpu::isa {
namespace {

// v0 and v1 are offsets, s[4:5] the base, s8 a mask of the lower 32 lanes, s9 says whether to branch.
constexpr unsigned offsets = 0;
constexpr unsigned other_offsets = 1;
constexpr unsigned base = 4;
constexpr unsigned mask = 8;
constexpr unsigned choice = 9;

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

void prepare(MachineState& s, Random& random, bool stores) {
  s.vector[offsets] = random_offsets(random, !stores);
  s.vector[other_offsets] = random_offsets(random, !stores);
  // Some lines and pages of the host's have the lanes' dwords from their beginning on, some do not.
  s.set_scalar_value(base, 8, s.memory_address + (random() % 2 == 0 ? 0 : random() % 256));
  s.scalar[mask] = static_cast<u32>(random() % 2 == 0 ? random() : 0xffffU << random() % 17);
  s.scalar[choice] = static_cast<u32>(random() % 2);
  if (random() % 2 == 0) s.exec = tests_wave32() ? 0xffffffff : ~u64{0};
}

/// Lanes that the mask leaves out are elsewhere.
void prepare_masked(MachineState& s, Random& random, bool stores) {
  prepare(s, random, stores);
  for (u32 lane = 0; lane < 32; ++lane)
    if ((s.scalar[mask] >> lane & 1) == 0)
      s.vector[offsets][lane] = 1536 + 4 * static_cast<u32>(random() % 8 * 32 + lane);
}

std::uint8_t* place(MachineState& s, unsigned lane, unsigned from, u32 displacement) {
  return s.at(s.scalar_value(base, 8) + s.vector[from][lane] + displacement, 4);
}
void load(MachineState& s, unsigned to, unsigned from, u32 displacement = 0) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (s.active(lane)) s.vector[to][lane] = read_as<u32>(place(s, lane, from, displacement));
}
void store(MachineState& s, unsigned data, unsigned from, u32 displacement = 0) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (s.active(lane)) write_as(place(s, lane, from, displacement), s.vector[data][lane]);
}
void move(MachineState& s, unsigned to, unsigned from) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (s.active(lane)) s.vector[to][lane] = s.vector[from][lane];
}
void narrow(MachineState& s) { s.exec &= s.scalar[mask] | 0xffffffff00000000; }

constexpr std::string_view wait = "s_waitcnt vmcnt(0)\n";
constexpr std::string_view narrowed =
    "s_mov_b32 s16, exec_lo\ns_mov_b32 exec_lo, s8\ns_and_b32 exec_lo, exec_lo, s16\n";
constexpr std::string_view widened = "s_mov_b32 exec_lo, s16\n";

using Parts = std::initializer_list<std::string_view>;

template <class Reference>
void expect(Parts parts, void (*preparation)(MachineState&, Random&, bool), Reference reference) {
  std::string assembly;
  for (const std::string_view part : parts) assembly += part;
  const bool stores = assembly.find("store") != std::string::npos;
  expect_match({{assembly, [=](MachineState& s, Random& random) { preparation(s, random, stores); }, reference}},
               {.states = 16});
}

TEST(GlobalMemoryRepeated, LoadsAfterExecHasChanged) {
  expect({"global_load_dword v4, v0, s[4:5]\n", narrowed, "global_load_dword v5, v0, s[4:5] offset:4\n",
          "global_load_dword v6, v0, s[4:5] offset:8\n", widened, "global_load_dword v7, v0, s[4:5] offset:12\n", wait},
         prepare_masked, [](MachineState& s) {
           const u64 all = s.exec;
           s.scalar[16] = static_cast<u32>(all);
           load(s, 4, offsets);
           narrow(s);
           load(s, 5, offsets, 4);
           load(s, 6, offsets, 8);
           s.scc = static_cast<u32>(s.exec) != 0 ? 1 : 0;
           s.exec = all;
           load(s, 7, offsets, 12);
         });
}

TEST(GlobalMemoryRepeated, AccessesAfterExecHasGrown) {
  expect({narrowed, "global_load_dword v4, v0, s[4:5]\n", wait, "global_store_dword v0, v5, s[4:5]\n", widened,
          "global_load_dword v6, v0, s[4:5] offset:4\n", wait, "global_store_dword v0, v7, s[4:5]\n", wait},
         prepare_masked, [](MachineState& s) {
           const u64 all = s.exec;
           s.scalar[16] = static_cast<u32>(all);
           narrow(s);
           load(s, 4, offsets);
           store(s, 5, offsets);
           s.scc = static_cast<u32>(s.exec) != 0 ? 1 : 0;
           s.exec = all;
           load(s, 6, offsets, 4);
           store(s, 7, offsets);
         });
}

TEST(GlobalMemoryRepeated, AccessesAfterTheOffsetsHaveChanged) {
  expect({"global_load_dword v4, v0, s[4:5]\n", narrowed, "v_mov_b32 v0, v1\n", widened,
          "global_load_dword v5, v0, s[4:5]\n", wait, "v_mov_b32 v0, v1\nglobal_store_dword v0, v6, s[4:5]\n", wait},
         prepare, [](MachineState& s) {
           const u64 all = s.exec;
           s.scalar[16] = static_cast<u32>(all);
           load(s, 4, offsets);
           narrow(s);
           move(s, offsets, other_offsets);
           s.scc = static_cast<u32>(s.exec) != 0 ? 1 : 0;
           s.exec = all;
           load(s, 5, offsets);
           move(s, offsets, other_offsets);
           store(s, 6, offsets);
         });
}

TEST(GlobalMemoryRepeated, AccessesOfOtherBases) {
  for (const u32 displacement : {4U, 7U, 32U, 60U, 64U, 100U, 126U}) {
    const std::string there = " offset:" + std::to_string(displacement) + "\n";
    expect({"global_load_dword v4, v0, s[4:5]\nglobal_load_dword v5, v0, s[4:5]", there, wait,
            "global_store_dword v0, v6, s[4:5]\n", wait, "global_store_dword v0, v7, s[4:5]", there, wait},
           prepare, [=](MachineState& s) {
             load(s, 4, offsets);
             load(s, 5, offsets, displacement);
             store(s, 6, offsets);
             store(s, 7, offsets, displacement);
           });
  }
}

TEST(GlobalMemoryRepeated, AccessesAfterABranchAroundOne) {
  expect({"s_cmp_lg_u32 s9, 0\n", "s_cbranch_scc1 around%=\n", "global_load_dword v4, v0, s[4:5]\n",
          "v_mov_b32 v0, v1\n", "around%=:\n", "global_load_dword v5, v0, s[4:5]\n", wait,
          "global_store_dword v0, v6, s[4:5]\n", wait},
         prepare, [](MachineState& s) {
           s.scc = s.scalar[choice];
           if (s.scalar[choice] == 0) {
             load(s, 4, offsets);
             move(s, offsets, other_offsets);
           }
           load(s, 5, offsets);
           store(s, 6, offsets);
         });
}

TEST(GlobalMemoryRepeated, AccessesOfALoopWhoseOffsetsChange) {
  expect({"s_mov_b32 s16, 3\n", "again%=:\n", "global_load_dword v4, v0, s[4:5]\n", wait, "v_add_u32 v5, v5, v4\n",
          "global_store_dword v0, v5, s[4:5]\n", wait, "v_mov_b32 v6, v0\n", "v_mov_b32 v0, v1\n", "v_mov_b32 v1, v6\n",
          "s_sub_u32 s16, s16, 1\n", "s_cmp_lg_u32 s16, 0\n", "s_cbranch_scc1 again%=\n"},
         prepare, [](MachineState& s) {
           for (unsigned pass = 0; pass < 3; ++pass) {
             load(s, 4, offsets);
             for (unsigned lane = 0; lane < lane_count; ++lane)
               if (s.active(lane)) s.vector[5][lane] += s.vector[4][lane];
             store(s, 5, offsets);
             move(s, 6, offsets);
             move(s, offsets, other_offsets);
             move(s, other_offsets, 6);
           }
           s.scalar[16] = 0;
           s.scc = 0;
         });
}

}  // namespace
}  // namespace softgpu::isa
