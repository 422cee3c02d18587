// Loads from LDS that transpose.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace softgpu::isa::transposed_lds {
namespace {

struct Format {
  const char* mnemonic;
  unsigned bits, dwords;
};
void PrintTo(const Format& format, std::ostream* stream) { *stream << format.mnemonic; }

bool bit_of_lds(MachineState& state, u32 address, unsigned bit) {
  return (*state.lds_at(address + bit / 8, 1) >> bit % 8 & 1) != 0;
}

class TransposedLds : public testing::TestWithParam<Format> {};
/// All lanes must be enabled. 16 of them read a matrix of 16 columns, row by row, and each gets its column.
TEST_P(TransposedLds, LaterGivesEachLaneItsColumn) {
  const Format format = GetParam();
  const unsigned last = 8 + format.dwords - 1;
  std::vector<Case> cases;
  for (const u32 offset : {0U, 64U})
    for (const char* first : {"8", "0"}) {  // a destination that has the addresses, too
      const unsigned result = *first == '8' ? 8 : 0;
      cases.push_back({.assembly = std::string(format.mnemonic) + " v[" + first + ":" +
                                   std::to_string(last - 8 + result) + "], v0 offset:" + std::to_string(offset) +
                                   "\ns_waitcnt lgkmcnt(0)",
                       .prepare =
                           [](MachineState& state, Random& random) {
                             state.exec = ~u64{0};
                             for (u32& address : state.vector[0])
                               address = static_cast<u32>(random() % ((lds_bytes - 80) / 16) * 16);
                           },
                       .reference =
                           [=](MachineState& state) {
                             const auto addresses = state.vector[0];
                             const unsigned bits_of_lane = 32 * format.dwords;
                             for (unsigned lane = 0; lane < lane_count; ++lane) {
                               for (unsigned dword = 0; dword < format.dwords; ++dword)
                                 state.vector[result + dword][lane] = 0;
                               for (unsigned bit = 0; bit < bits_of_lane; ++bit) {
                                 const unsigned row = bit / format.bits;
                                 const unsigned in_matrix = (16 * row + lane % 16) * format.bits + bit % format.bits;
                                 const u32 address = addresses[lane / 16 * 16 + in_matrix / bits_of_lane] + offset;
                                 if (bit_of_lds(state, address, in_matrix % bits_of_lane))
                                   state.vector[result + bit / 32][lane] |= 1U << bit % 32;
                               }
                             }
                           }});
    }
  expect_match(cases, {.lds = Lds::loaded_and_stored, .states = 4, .gfx90a_lacks_them = true});
}
INSTANTIATE_TEST_SUITE_P(Cdna4, TransposedLds,
                         testing::Values(Format{"ds_read_b64_tr_b16", 16, 2}, Format{"ds_read_b64_tr_b8", 8, 2},
                                         Format{"ds_read_b64_tr_b4", 4, 2}, Format{"ds_read_b96_tr_b6", 6, 3}),
                         [](const auto& row) { return std::string(row.param.mnemonic); });

}  // namespace
}  // namespace softgpu::isa::transposed_lds
