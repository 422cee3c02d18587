// Addresses that the kernel puts together from halves, and which the translator takes apart again: a base, and an index
// of 32 bits that may wrap around where the lanes' addresses do not.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "memory_case.hpp"
#include "tested_target.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::address_sums {
namespace {

using Kind = MemoryOperation::Kind;

// v0 is the index, v[2:3] becomes the address, v1 and v12 are between. The base is s[4:5], a mask s[10:11].
constexpr unsigned index_register = 0;
constexpr unsigned upper = 1;
constexpr unsigned address = 2;
constexpr unsigned between = 12;
constexpr unsigned base = 4;
constexpr unsigned mask = 10;
constexpr unsigned choice = 14;
constexpr unsigned saved = 16;

struct Index {
  bool is_signed;
  unsigned shift;

  [[nodiscard]] u64 bytes(u32 index) const {
    return (is_signed ? static_cast<u64>(static_cast<std::int32_t>(index)) : u64{index}) << shift;
  }
};

// --- What the kernel does, and the same in the state

std::string extended_text(const Index& index) {
  return index.is_signed ? "v_ashrrev_i32 v1, 31, v0\n" : "v_mov_b32 v1, 0\n";
}
std::string shifted_text(const Index& index) {
  return "v_lshlrev_b64 v[2:3], " + std::to_string(index.shift) + ", v[0:1]\n";
}
std::string added_text() {
  const std::string vcc = vcc_text();
  return "v_mov_b32 v12, s5\nv_add_co_u32 v2, " + vcc + ", s4, v2\nv_addc_co_u32 v3, " + vcc + ", v12, v3, " + vcc +
         "\n";
}
std::string address_text(const Index& index) { return extended_text(index) + shifted_text(index) + added_text(); }

template <class Change>
void for_active_lanes(MachineState& s, Change&& change) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (s.active(lane)) change(lane);
}

/// An addition of 64 bits in two parts: what is left of it in VCC.
void add(MachineState& s, unsigned to, u64 what) {
  u64 carries = 0;
  for_active_lanes(s, [&](unsigned lane) {
    const u64 old = s.vector_value(to, lane, 8);
    s.set_vector_value(to, lane, 8, old + what);
    carries |= u64{old + what < old} << lane;
  });
  s.vcc = tests_wave32() ? (s.vcc & 0xffffffff00000000) | carries : carries;
}

void make_address(MachineState& s, const Index& index) {
  for_active_lanes(s, [&](unsigned lane) {
    const u64 bytes = index.bytes(s.vector[index_register][lane]);
    s.vector[upper][lane] = index.is_signed && s.vector[index_register][lane] >> 31 != 0 ? ~u32{0} : 0;
    s.set_vector_value(address, lane, 8, bytes);
    s.vector[between][lane] = s.scalar[base + 1];
  });
  add(s, address, s.scalar_value(base, 8));
}

void access(MachineState& s, const MemoryOperation& operation, std::int32_t displacement) {
  for_active_lanes(s, [&](unsigned lane) {
    std::array<u32, 4> data = {};
    std::array<u32, 4> result = {};
    for (unsigned i = 0; i < 4; ++i) {
      data.at(i) = s.vector.at(data_vgpr + i).at(lane);
      result.at(i) = s.vector.at(result_vgpr_of_memory + i).at(lane);
    }
    const u64 at = s.vector_value(address, lane, 8) + static_cast<u64>(std::int64_t{displacement});
    operation.execute(s.at(at, operation.bytes), std::span(data).first(operation.data_registers),
                      std::span(result).first(operation.result_registers));
    if (operation.kind != Kind::load) return;
    for (unsigned i = 0; i < operation.result_registers; ++i)
      s.vector.at(result_vgpr_of_memory + i).at(lane) = result.at(i);
  });
}

std::string access_text(const MemoryOperation& operation, std::int32_t displacement,
                        const std::string& segment = "global_") {
  const std::string operands =
      operation.kind == Kind::load ? result_text(operation) + ", v[2:3]" : "v[2:3], " + data_text(operation);
  const std::string off = segment == "global_" ? ", off" : "";
  const std::string offset = displacement == 0 ? "" : " offset:" + std::to_string(displacement);
  return segment + operation.name + " " + operands + off + offset + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
}

// --- Where the lanes are

/// Indices around one where 32 bits have an edge. The base makes addresses of the window of those behind the edge, or
/// before it; lanes whose addresses are elsewhere are disabled.
void prepare(MachineState& s, Random& random, const Index& index, const MemoryOperation& operation) {
  constexpr std::array<u32, 6> edges = {0, 0x80000000, 0x40000000, 0x20000000, 0x10000000, 1000};
  const u32 edge = edges.at(random() % edges.size());
  u32 units = std::max(1U, operation.bytes >> index.shift);  // from element to element
  if (operation.kind == Kind::load && random() % 2 == 0) units = 1;
  const u32 before = static_cast<u32>(random() % lane_count) * units;
  const auto lanes = lane_places(random, operation.kind == Kind::load);
  for (unsigned lane = 0; lane < lane_count; ++lane)
    s.vector[index_register][lane] = edge - before + lanes[lane] * units;
  const u32 in_window = random() % 2 == 0 ? edge : edge - 1;
  s.set_scalar_value(base, 8, s.memory_address + memory_bytes / 2 + random() % 16 - index.bytes(in_window));
  if (random() % 2 == 0) s.exec = tests_wave32() ? 0xffffffff : ~u64{0};
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const u64 at = s.scalar_value(base, 8) + index.bytes(s.vector[index_register][lane]) - s.memory_address;
    if (at < 32 || at > memory_bytes - 64) s.exec &= ~(u64{1} << lane);
  }
}

/// Addresses that are there before, of other elements.
void prepare_other_addresses(MachineState& s, Random& random) {
  const auto lanes = lane_places(random, false);
  for (unsigned lane = 0; lane < lane_count; ++lane)
    s.set_vector_value(address, lane, 8, s.memory_address + 64 + 16 * u64{lanes[lane]});
}

u32 whole(u32 part, u32 /*old*/) { return part; }
u32 with_sign(u32 part, u32 /*old*/) { return static_cast<u32>(static_cast<std::int16_t>(part)); }

std::vector<MemoryOperation> operations() {
  return {load_part<std::uint8_t>("load_ubyte", whole),
          load_part<std::uint16_t>("load_sshort", with_sign),
          load_registers("load_dword", 1),
          load_registers("load_dwordx2", 2),
          load_registers("load_dwordx3", 3),
          load_registers("load_dwordx4", 4),
          store_part<std::uint8_t>("store_byte"),
          store_part<std::uint16_t>("store_short"),
          store_registers("store_dword", 1),
          store_registers("store_dwordx2", 2),
          store_registers("store_dwordx4", 4)};
}

class AddressSums : public testing::TestWithParam<Index> {};

Case access_by_sum(const Index& index, const MemoryOperation& operation, std::int32_t displacement,
                   const std::string& segment = "global_") {
  return {.assembly = address_text(index) + access_text(operation, displacement, segment),
          .prepare = [=](auto& s, auto& random) { prepare(s, random, index, operation); },
          .reference =
              [=](auto& s) {
                make_address(s, index);
                access(s, operation, displacement);
              }};
}

TEST_P(AddressSums, AreTheAddressesOfAccesses) {
  std::vector<Case> cases;
  for (const MemoryOperation& operation : operations())
    cases.push_back(access_by_sum(GetParam(), operation, operation.bytes % 8 == 4 ? -8 : 0));
  expect_match(cases, {.states = 24});
}

TEST_P(AddressSums, AreTheAddressesOfFlatAccesses) {
  std::vector<Case> cases;
  for (const MemoryOperation& operation : {load_registers("load_dword", 1), store_registers("store_dword", 1)})
    cases.push_back(access_by_sum(GetParam(), operation, 0, "flat_"));
  expect_match(cases, {.states = 16});
}

std::string index_name(const testing::TestParamInfo<Index>& instance) {
  return (instance.param.is_signed ? "SignedTimes" : "UnsignedTimes") + std::to_string(1U << instance.param.shift);
}

INSTANTIATE_TEST_SUITE_P(OfIndices, AddressSums,
                         testing::Values(Index{true, 0}, Index{true, 1}, Index{true, 2}, Index{true, 3}, Index{true, 4},
                                         Index{false, 0}, Index{false, 2}, Index{false, 3}, Index{false, 4}),
                         index_name);

// --- Sums, and what happens to them before the access

constexpr Index times_4{true, 2};

std::string narrowed_text() {
  const std::string size = tests_wave32() ? "b32 " : "b64 ";
  return "s_and_saveexec_" + size + mask_registers(saved) + ", " + mask_registers(mask) + "\n";
}
std::string widened_text() {
  const std::string exec = tests_wave32() ? "exec_lo" : "exec";
  return "s_or_" + std::string(tests_wave32() ? "b32 " : "b64 ") + exec + ", " + exec + ", " + mask_registers(saved) +
         "\n";
}

/// Returns what EXEC was.
u64 narrow(MachineState& s) {
  const u64 before = s.exec;
  s.scalar[saved] = static_cast<u32>(before);
  if (!tests_wave32()) s.scalar[saved + 1] = static_cast<u32>(before >> 32);
  s.exec &= s.scalar_value(mask, tests_wave32() ? 4 : 8);
  s.scc = s.exec != 0 ? 1 : 0;
  return before;
}
void widen(MachineState& s, u64 before) {
  s.exec = before;
  s.scc = s.exec != 0 ? 1 : 0;
}

/// The indices next to a lane's are in the window, too.
void disable_lanes_at_edges(MachineState& s) {
  for_active_lanes(s, [&](unsigned lane) {
    const u32 index = s.vector[index_register][lane];
    if (times_4.bytes(index + 1) - times_4.bytes(index - 1) != 8) s.exec &= ~(u64{1} << lane);
  });
}

/// One more instruction sequence around an access of a dword.
void expect_around(const std::string& assembly, const std::function<void(MachineState&)>& reference,
                   const MemoryOperation& operation) {
  expect_match({{.assembly = assembly,
                 .prepare =
                     [=](MachineState& s, Random& random) {
                       prepare(s, random, times_4, operation);
                       disable_lanes_at_edges(s);
                       prepare_other_addresses(s, random);
                       s.scalar[choice] = static_cast<u32>(random() % 2);
                     },
                 .reference = reference}},
               {.states = 24});
}

class AddressSumsBetween : public testing::TestWithParam<bool> {
protected:
  static MemoryOperation operation() {
    return GetParam() ? store_registers("store_dword", 1) : load_registers("load_dword", 1);
  }
  static std::string text() { return access_text(operation(), 0); }
  /// The access's effect on a state.
  static auto access_one() {
    return [accessed = operation()](MachineState& s) { access(s, accessed, 0); };
  }
};

TEST_P(AddressSumsBetween, OfSomeLanesAreNotThoseOfTheOthers) {
  expect_around(
      narrowed_text() + address_text(times_4) + text() + widened_text() + text(),
      [access_one = access_one()](MachineState& s) {
        const u64 all = narrow(s);
        make_address(s, times_4);
        access_one(s);
        widen(s, all);
        access_one(s);
      },
      operation());
}

TEST_P(AddressSumsBetween, OfAllLanesAreThoseOfSome) {
  expect_around(
      address_text(times_4) + narrowed_text() + text() + widened_text() + text(),
      [access_one = access_one()](MachineState& s) {
        make_address(s, times_4);
        const u64 all = narrow(s);
        access_one(s);
        widen(s, all);
        access_one(s);
      },
      operation());
}

TEST_P(AddressSumsBetween, ChangeInSomeLanes) {
  const std::string vcc = vcc_text();
  const std::string changed =
      "v_add_co_u32 v2, " + vcc + ", 4, v2\nv_addc_co_u32 v3, " + vcc + ", 0, v3, " + vcc + "\n";
  expect_around(
      address_text(times_4) + narrowed_text() + changed + text() + widened_text() + text(),
      [access_one = access_one()](MachineState& s) {
        make_address(s, times_4);
        const u64 all = narrow(s);
        add(s, address, 4);
        access_one(s);
        widen(s, all);
        access_one(s);
      },
      operation());
}

TEST_P(AddressSumsBetween, AreMadeOnOneOfTwoPaths) {
  expect_around(
      "s_cmp_lg_u32 s14, 0\ns_cbranch_scc1 around%=\n" + address_text(times_4) + "around%=:\n" + text(),
      [access_one = access_one()](MachineState& s) {
        s.scc = s.scalar[choice];
        if (s.scalar[choice] == 0) make_address(s, times_4);
        access_one(s);
      },
      operation());
}

TEST_P(AddressSumsBetween, AreMadeOnBothPathsOfOtherIndices) {
  expect_around(
      "v_ashrrev_i32 v1, 31, v0\ns_cmp_lg_u32 s14, 0\ns_cbranch_scc1 other%=\nv_add_u32 v0, 1, v0\n"
      "v_ashrrev_i32 v1, 31, v0\ns_branch both%=\nother%=:\nv_add_u32 v0, -1, v0\nv_ashrrev_i32 v1, 31, v0\n"
      "both%=:\n" +
          shifted_text(times_4) + added_text() + text(),
      [access_one = access_one()](MachineState& s) {
        s.scc = s.scalar[choice];
        for_active_lanes(
            s, [&](unsigned lane) { s.vector[index_register][lane] += s.scalar[choice] == 0 ? 1U : ~u32{0}; });
        make_address(s, times_4);
        access_one(s);
      },
      operation());
}

TEST_P(AddressSumsBetween, GoOnInALoop) {
  const std::string vcc = vcc_text();
  expect_around(
      address_text(times_4) + "s_mov_b32 s15, 3\nagain%=:\n" + text() + "v_add_co_u32 v2, " + vcc +
          ", -4, v2\nv_addc_co_u32 v3, " + vcc + ", -1, v3, " + vcc +
          "\ns_sub_u32 s15, s15, 1\ns_cmp_lg_u32 s15, 0\ns_cbranch_scc1 again%=\n",
      [access_one = access_one()](MachineState& s) {
        make_address(s, times_4);
        for (unsigned pass = 0; pass < 3; ++pass) {
          access_one(s);
          u64 carries = 0;
          for_active_lanes(s, [&](unsigned lane) {
            const u64 old = s.vector_value(address, lane, 8);
            s.set_vector_value(address, lane, 8, old - 4);
            carries |= u64{old >= 4} << lane;
          });
          s.vcc = tests_wave32() ? (s.vcc & 0xffffffff00000000) | carries : carries;
        }
        s.scalar[15] = 0;
        s.scc = 0;
      },
      operation());
}

TEST_P(AddressSumsBetween, AreAddedInstructionByInstruction) {
  const std::string vcc = vcc_text();
  const std::string carry = mask_registers(saved);
  expect_around(
      address_text(times_4) + "v_add_co_u32_e64 v2, " + carry + ", 8, v2\nv_add_co_u32 v0, " + vcc +
          ", 5, v0\nv_addc_co_u32_e64 v3, " + carry + ", 0, v3, " + carry + "\n" + text(),
      [access_one = access_one()](MachineState& s) {
        make_address(s, times_4);
        u64 wraps = 0;
        for_active_lanes(s, [&](unsigned lane) {
          wraps |= u64{s.vector[index_register][lane] > ~u32{5}} << lane;
          s.vector[index_register][lane] += 5;
        });
        add(s, address, 8);
        s.scalar[saved] = static_cast<u32>(s.vcc);
        if (!tests_wave32()) s.scalar[saved + 1] = static_cast<u32>(s.vcc >> 32);
        s.vcc = tests_wave32() ? (s.vcc & 0xffffffff00000000) | wraps : wraps;
        access_one(s);
      },
      operation());
}

INSTANTIATE_TEST_SUITE_P(, AddressSumsBetween, testing::Bool(),
                         [](const auto& instance) { return std::string(instance.param ? "Stores" : "Loads"); });

/// A flat address in LDS: the base is the aperture's.
TEST(AddressSumsOfFlat, ReachLds) {
  const MemoryOperation operation = load_registers("load_dword", 1);
  expect_match({{.assembly = address_text(times_4) + access_text(operation, 0, "flat_"),
                 .prepare =
                     [](MachineState& s, Random& random) {
                       for (unsigned lane = 0; lane < lane_count; ++lane)
                         s.vector[index_register][lane] = static_cast<u32>(random() % (lds_bytes / 8));
                       s.set_scalar_value(base, 8, u64{shared_aperture_high} << 32);
                     },
                 .reference =
                     [](MachineState& s) {
                       make_address(s, times_4);
                       for_active_lanes(s, [&](unsigned lane) {
                         s.vector[result_vgpr_of_memory][lane] =
                             read_as<u32>(s.lds_at(4 * u64{s.vector[index_register][lane]}, 4));
                       });
                     }}},
               {.lds = Lds::loaded_and_stored});
}

}  // namespace
}  // namespace softgpu::isa::address_sums
