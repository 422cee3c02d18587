// Data-parallel primitives: operand 0 comes from another lane. A DPP row of 16 lanes is one chunk.
#include <optional>

#include "softgpu/compute/instructions/vector_instruction.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

/// The lane of the wavefront that lane `lane` reads, or nothing.
std::optional<unsigned> source_lane(Emitter& e, const Instruction& i, unsigned lane) {
  const unsigned row = lane & ~15U;
  const unsigned column = lane & 15U;
  const auto amount = [&](const char* name) { return static_cast<unsigned>(i.number(name)); };
  if (i.has("quad_perm")) return (lane & ~3U) + static_cast<unsigned>(i.element("quad_perm", lane & 3, 0));
  if (i.has("dpp8")) return (lane & ~7U) + static_cast<unsigned>(i.element("dpp8", lane & 7, 0));
  if (i.has("row_share")) return row + amount("row_share");
  if (i.has("row_xmask")) return row + (column ^ amount("row_xmask"));
  if (i.has("row_mirror")) return row + 15 - column;
  if (i.has("row_half_mirror")) return (lane & ~7U) + 7 - (lane & 7);
  if (i.has("row_newbcast")) return row + amount("row_newbcast");
  if (i.has("row_ror")) return row + ((column - amount("row_ror")) & 15);
  if (i.has("wave_rol")) return (lane + 1) & 63;
  if (i.has("wave_ror")) return (lane - 1) & 63;
  if (i.has("row_shl")) {
    return column + amount("row_shl") < 16 ? std::optional(lane + amount("row_shl")) : std::nullopt;
  }
  if (i.has("row_shr")) return column >= amount("row_shr") ? std::optional(lane - amount("row_shr")) : std::nullopt;
  if (i.has("wave_shl")) return lane < 63 ? std::optional(lane + 1) : std::nullopt;
  if (i.has("wave_shr")) return lane > 0 ? std::optional(lane - 1) : std::nullopt;
  if (i.number("row_bcast") == 15) return lane >= 16 ? std::optional(row - 1) : std::nullopt;
  if (i.number("row_bcast") == 31) return lane >= 32 ? std::optional(31U) : std::nullopt;
  e.unsupported("DPP control");
}

/// Gathers lanes of up to four chunks: `of` gives a chunk's value, lanes without a source get 0.
template <class Of>
Value* gather(Emitter& e, const Instruction& i, unsigned chunk, Of of) {
  // A row reads from at most two others: itself and a neighbour, or one row only.
  std::array<int, lanes_per_chunk> from_first;
  std::optional<unsigned> first, second;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane) {
    const auto source = source_lane(e, i, chunk * lanes_per_chunk + lane);
    int& index = from_first.at(lane);
    index = -1;
    if (!source) continue;
    const unsigned from = *source / lanes_per_chunk;
    if (!first) first = from;
    if (from != *first) second = from;
    index = static_cast<int>(*source % lanes_per_chunk + (from == *first ? 0 : lanes_per_chunk));
  }
  if (!first) return nullptr;
  Value* a = of(*first);
  Value* b = of(second.value_or(*first));
  Value* moved = e.ir.CreateShuffleVector(a, b, from_first);
  std::vector<llvm::Constant*> has_source;
  has_source.reserve(from_first.size());
  for (const int index : from_first) has_source.push_back(e.ir.getInt1(index >= 0));
  return e.ir.CreateSelect(llvm::ConstantVector::get(has_source), moved, llvm::Constant::getNullValue(a->getType()));
}

/// A lane that EXEC disables is no source either, unless `fi` fetches inactive ones.
Value* lanes_with_source(Emitter& e, const Instruction& i, unsigned chunk) {
  const bool fetches_inactive = i.number("fi") != 0;
  Value* all = llvm::Constant::getAllOnesValue(Emitter::lanes(e.i1()));
  Value* enabled = gather(e, i, chunk, [&](unsigned from) { return fetches_inactive ? all : e.exec_mask(from); });
  return enabled == nullptr ? llvm::Constant::getNullValue(Emitter::lanes(e.i1())) : enabled;
}

}  // namespace

Value* permute_dpp(Emitter& e, const Instruction& i, unsigned register_index, unsigned chunk) {
  Value* zero = llvm::Constant::getNullValue(Emitter::lanes(e.i32()));
  Value* value = gather(e, i, chunk, [&](unsigned from) { return e.vgpr(register_index, from); });
  return value == nullptr ? zero : e.ir.CreateSelect(lanes_with_source(e, i, chunk), value, zero);
}

Value* dpp_write_mask(Emitter& e, const Instruction& i, unsigned chunk) {
  const auto rows = static_cast<unsigned>(i.number("row_mask", 15));
  const auto banks = static_cast<unsigned>(i.number("bank_mask", 15));
  std::vector<llvm::Constant*> enabled;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
    enabled.push_back(e.ir.getInt1(((rows >> chunk) & 1) != 0 && ((banks >> (lane / 4)) & 1) != 0));
  Value* mask = llvm::ConstantVector::get(enabled);
  if (i.has("bound_ctrl") || i.has("dpp8")) return mask;  // DPP8 reads 0 from lanes that are no source
  return e.ir.CreateAnd(mask, lanes_with_source(e, i, chunk));
}

}  // namespace softgpu::compute
