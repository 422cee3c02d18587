// CDNA4's loads from LDS that transpose: ds_read_b64_tr_* and ds_read_b96_tr_b6 ("MFMA Transpose Load from LDS" in the
// CDNA4 ISA manual).
//
// What 16 lanes read, one behind the other, is a matrix of 16 columns. Each lane gets the column of its number: element
// j of lane l is element 16 j + l of all. That lane l gets column l is as rocRoller's tests have it, which run on a
// gfx950.
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/lds_addresses.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/profile/emit_counting.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

struct TransposedLoad {
  const char* mnemonic;
  unsigned bits, dwords;

  [[nodiscard]] unsigned elements() const { return 32 * dwords / bits; }
};
constexpr TransposedLoad transposed_loads[] = {
    {"ds_read_b64_tr_b16", 16, 2},
    {"ds_read_b64_tr_b8", 8, 2},
    {"ds_read_b64_tr_b4", 4, 2},
    {"ds_read_b96_tr_b6", 6, 3},
};
constexpr unsigned most_dwords = 3;

/// The dwords of a chunk's 16 lanes, all lanes' first ones first (<64 x i32>).
Value* side_by_side(Emitter& e, const std::array<Value*, most_dwords>& dwords, unsigned count) {
  const auto join = [&](Value* first, Value* second, int lanes) {
    std::vector<int> all(2 * static_cast<std::size_t>(lanes));
    std::iota(all.begin(), all.end(), 0);
    return e.ir.CreateShuffleVector(first, second, all);
  };
  Value* last = dwords.at(count - 1);
  return join(join(dwords[0], dwords[1], 16), join(last, last, 16), 32);
}

/// Element `j` of each lane of a chunk.
Value* element(Emitter& e, Value* dwords, const TransposedLoad& format, unsigned j) {
  std::vector<int> low, high;
  std::vector<llvm::Constant*> shifts;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane) {
    const unsigned number = lanes_per_chunk * j + lane;
    const unsigned from = number / format.elements();
    const unsigned bit = number % format.elements() * format.bits;
    low.push_back(static_cast<int>(lanes_per_chunk * (bit / 32) + from));
    high.push_back(static_cast<int>(lanes_per_chunk * ((bit + format.bits - 1) / 32) + from));
    shifts.push_back(e.ir.getInt64(bit % 32));
  }
  Value* wide = e.combine(e.ir.CreateShuffleVector(dwords, low), e.ir.CreateShuffleVector(dwords, high));
  Value* shifted = e.ir.CreateLShr(wide, llvm::ConstantVector::get(shifts));
  return e.ir.CreateAnd(e.low_half(shifted), e.splat((1U << format.bits) - 1));
}

void load(Emitter& e, const Instruction& i, const TransposedLoad& format) {
  const Operand& destination = i.operands.at(0);
  if (!destination.is_vector() || destination.dwords != format.dwords) e.unsupported("destination");
  const auto offset = static_cast<std::uint32_t>(i.number("offset"));
  const LaneOffsets places = lane_offsets(e, i.operands.at(1));
  profile::count_lds_access(e, places.lanes, offset, 4 * format.dwords);
  LaneAddresses lanes = lds_addresses(e, places, offset, 4 * format.dwords);
  std::array<Chunks, most_dwords> read;
  for (unsigned dword = 0; dword < format.dwords; ++dword) {
    read.at(dword) = load_lanes(e, lanes);
    lanes.base = e.ir.CreateConstGEP1_64(e.ir.getInt8Ty(), lanes.base, 4);
  }
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    std::array<Value*, most_dwords> dwords = {};
    for (unsigned dword = 0; dword < format.dwords; ++dword) dwords.at(dword) = read.at(dword)[chunk];
    Value* all = side_by_side(e, dwords, format.dwords);
    std::array<Value*, most_dwords> results = {};
    for (unsigned dword = 0; dword < format.dwords; ++dword) results.at(dword) = e.splat(0U);
    for (unsigned j = 0; j < format.elements(); ++j) {
      Value* value = element(e, all, format, j);
      const unsigned bit = j * format.bits;
      Value*& low = results.at(bit / 32);
      low = e.ir.CreateOr(low, e.ir.CreateShl(value, bit % 32));
      if (bit % 32 + format.bits <= 32) continue;
      Value*& high = results.at(bit / 32 + 1);
      high = e.ir.CreateOr(high, e.ir.CreateLShr(value, 32 - bit % 32));
    }
    for (unsigned dword = 0; dword < format.dwords; ++dword) e.set_vector(destination, chunk, results.at(dword), dword);
  }
}

}  // namespace

void add_transposed_lds(HandlerTable& table) {
  for (const TransposedLoad& format : transposed_loads)
    table.add(format.mnemonic, [&format](Emitter& e, const Instruction& i) { load(e, i, format); });
}

}  // namespace softgpu::compute
