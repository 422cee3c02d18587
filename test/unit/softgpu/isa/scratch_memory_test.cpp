// Scratch memory, which each lane has for itself, by SCRATCH, MUBUF and FLAT instructions; FLAT's way to LDS.
#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "memory_case.hpp"
#include "tested_target.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa {
namespace {

using Kind = MemoryOperation::Kind;

// The snippets store v[4:7] at bytes 16 to 31 and again at 32 to 47, execute the instruction under test somewhere
// there, and load both parts into v[4:7] and v[12:15]. v8 to v11 is the data or the result, v0 an address.
constexpr u32 first_byte = 16;
constexpr u32 bytes_used = 32;

/// How an instruction addresses scratch memory: the terms that it adds up.
struct ScratchAddress {
  bool vector, scalar;  ///< v0, s4
  u32 immediate;
};

std::string scratch_instruction(const std::string& prefix, const MemoryOperation& operation,
                                const ScratchAddress& address) {
  const std::string offset = address.immediate == 0 ? "" : " offset:" + std::to_string(address.immediate);
  const std::string vector = address.vector ? "v0" : "off";
  const std::string data = registers('v', 8, std::max(operation.result_registers, operation.data_registers));
  if (prefix == "buffer_")
    return prefix + operation.name + " " + data + ", " + vector + ", s[44:47], " + (address.scalar ? "s4" : "0") +
           (address.vector ? " offen" : "") + offset;
  const std::string scalar = address.scalar ? ", s4" : ", off";
  if (operation.kind == Kind::load) return prefix + operation.name + " " + data + ", " + vector + scalar + offset;
  return prefix + operation.name + " " + vector + ", " + data + scalar + offset;
}

/// Fills scratch memory before the instruction and fetches it afterwards.
std::string between_transfers(const std::string& instruction) {
  return "s_mov_b32 s23, 0\n"
         "scratch_store_dwordx4 off, v[4:7], s23 offset:16\n"
         "scratch_store_dwordx4 off, v[4:7], s23 offset:32\n" +
         instruction +
         "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
         "scratch_load_dwordx4 v[4:7], off, s23 offset:16\n"
         "scratch_load_dwordx4 v[12:15], off, s23 offset:32\n"
         "s_waitcnt vmcnt(0)";
}

/// `to` gives the byte that a lane accesses.
template <class To>
Case scratch_case(const std::string& instruction, const MemoryOperation& operation, To to) {
  Case made{.assembly = between_transfers(instruction), .prepare = {}, .reference = {}};
  made.reference = [=](MachineState& state) {
    state.scalar[23] = 0;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (!state.active(lane)) continue;
      std::array<u32, bytes_used / 4> memory = {};
      for (unsigned i = 0; i < memory.size(); ++i) memory[i] = state.vector[4 + i % 4][lane];
      std::array<u32, 4> words = {};
      for (unsigned i = 0; i < 4; ++i) words[i] = state.vector[8 + i][lane];
      auto* bytes = reinterpret_cast<std::uint8_t*>(memory.data()) + (to(state, lane) - first_byte);
      operation.execute(bytes, std::span(words).first(operation.data_registers),
                        std::span(words).first(operation.result_registers));
      for (unsigned i = 0; i < 4; ++i) {
        state.vector[8 + i][lane] = words[i];
        state.vector[4 + i][lane] = memory[i];
        state.vector[12 + i][lane] = memory[4 + i];
      }
    }
  };
  return made;
}

/// The sum of the address's parts, which the state is prepared to keep within the bytes in use.
Case scratch_case(const std::string& prefix, const MemoryOperation& operation, const ScratchAddress& address) {
  // The scalar offset of a buffer is not swizzled: it counts the bytes of all lanes together.
  const u32 scalar_unit = prefix == "buffer_" ? tested_target().wavefront_size : 1;
  Case made = scratch_case(scratch_instruction(prefix, operation, address), operation,
                           [=](const MachineState& state, unsigned lane) {
                             return (address.vector ? state.vector[0][lane] : 0) +
                                    (address.scalar ? state.scalar[4] / scalar_unit : 0) + address.immediate;
                           });
  made.prepare = [=](MachineState& state, Random& random) {
    const u32 last = first_byte + bytes_used - operation.bytes;
    state.scalar[4] =
        address.vector ? 4 * scalar_unit
                       : static_cast<u32>(first_byte + random() % (last - first_byte + 1) / 4 * 4 - address.immediate);
    for (u32& lane : state.vector[0])
      lane = static_cast<u32>(first_byte + random() % (last - first_byte + 1)) - address.immediate -
             (address.scalar ? state.scalar[4] / scalar_unit : 0);
  };
  return made;
}

/// The same with one offset in all lanes, mostly a multiple of four.
Case at_one_offset(Case scattered) {
  scattered.prepare = [prepare = std::move(scattered.prepare)](MachineState& state, Random& random) {
    prepare(state, random);
    const u32 offset = state.vector[0][0];
    state.vector[0].fill(random() % 4 == 0 ? offset : offset / 4 * 4);
  };
  return scattered;
}

class ScratchMemory : public testing::TestWithParam<MemoryOperation> {};
TEST_P(ScratchMemory, MatchesTheManual) {
  const MemoryOperation& operation = GetParam();
  std::vector<Case> cases = {
      scratch_case("scratch_", operation, {.vector = true, .scalar = false, .immediate = 0}),
      scratch_case("scratch_", operation, {.vector = true, .scalar = false, .immediate = 8}),
      scratch_case("scratch_", operation, {.vector = false, .scalar = true, .immediate = 4}),
  };
  if (tested_target().architecture->has_signed_scratch_offsets) {  // v0 and s4 are negative
    cases.push_back(scratch_case("scratch_", operation, {.vector = true, .scalar = false, .immediate = 1024}));
    cases.push_back(at_one_offset(cases.back()));
    cases.push_back(scratch_case("scratch_", operation, {.vector = false, .scalar = true, .immediate = 1024}));
  }
  cases.push_back(at_one_offset(cases[1]));
  if (operation.bytes <= 4) {  // buffers swizzle by elements of four bytes, which the bytes may cross
    cases.push_back(scratch_case("buffer_", operation, {.vector = false, .scalar = false, .immediate = 27}));
    cases.push_back(scratch_case("buffer_", operation, {.vector = false, .scalar = false, .immediate = 24}));
    cases.push_back(scratch_case("buffer_", operation, {.vector = true, .scalar = false, .immediate = 8}));
    cases.push_back(scratch_case("buffer_", operation, {.vector = true, .scalar = true, .immediate = 0}));
  }
  // FLAT with an address in the private aperture.
  Case flat =
      scratch_case(operation.kind == Kind::load
                       ? "flat_" + operation.name + " " + registers('v', 8, operation.result_registers) + ", v[0:1]"
                       : "flat_" + operation.name + " v[0:1], " + registers('v', 8, operation.data_registers),
                   operation, [](const MachineState& state, unsigned lane) { return state.vector[0][lane]; });
  flat.prepare = [prepare_scratch = cases[0].prepare](MachineState& state, Random& random) {
    prepare_scratch(state, random);
    state.vector[1].fill(private_aperture_high);
  };
  cases.push_back(at_one_offset(flat));
  cases.push_back(std::move(flat));
  expect_match(cases, {.scratch = Scratch::available});
}
INSTANTIATE_TEST_SUITE_P(Isa, ScratchMemory, testing::ValuesIn(loads_and_stores()), operation_name);

/// FLAT with addresses in the shared aperture; some lanes may go to global memory instead.
Addressing flat_to_lds(bool all_lanes) {
  const auto goes_to_lds = [=](unsigned lane) { return all_lanes || lane % 3 != 1; };
  return {.name = "flat to LDS",
          .text =
              [](const MemoryOperation& operation, bool returns) {
                std::string text = "flat_" + operation.name + " ";
                if (operation.kind == Kind::load) return text + result_text(operation) + ", v[0:1]";
                if (returns) text += result_text(operation) + ", ";
                return text + "v[0:1], " + data_text(operation) + (returns ? " glc" : "");
              },
          .aim =
              [=](MachineState& state, unsigned lane, u32 to) {
                const u64 address =
                    goes_to_lds(lane) ? u64{shared_aperture_high} << 32 | to : state.memory_address + to;
                state.set_vector_value(address_vgpr, lane, 8, address);
              },
          .resolve =
              [=](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) {
                const u64 address = before.vector_value(address_vgpr, lane, 8);
                return address >> 32 == shared_aperture_high ? state.lds_at(address & 0xffffffff, bytes)
                                                             : state.at(address, bytes);
              }};
}

class FlatToLds : public testing::TestWithParam<MemoryOperation> {};
TEST_P(FlatToLds, MatchesTheManual) {
  std::vector<Case> cases = {case_of(GetParam(), flat_to_lds(false)), case_of(GetParam(), flat_to_lds(true))};
  if (GetParam().kind == Kind::atomic) cases.push_back(case_of(GetParam(), flat_to_lds(false), Returning::yes));
  expect_match(cases, {.lds = Lds::loaded_and_stored});
}
INSTANTIATE_TEST_SUITE_P(LoadsAndStores, FlatToLds, testing::ValuesIn(loads_and_stores()), operation_name);
INSTANTIATE_TEST_SUITE_P(IntegerAtomics, FlatToLds, testing::ValuesIn(integer_atomics()), operation_name);

}  // namespace
}  // namespace softgpu::isa
