// Registers whose number is known only when the kernel runs: s_set_gpr_idx and the moves under it, s_movrel, v_movrel.
//
// Registers are SSA values here, so that an indexed one is selected out of all that it could be. The index is the same
// for all lanes.
#include <optional>
#include <string_view>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/instructions/families.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

Value* register_index(Emitter& e) { return e.ir.CreateAnd(e.sgpr(scalar_register::m0), 0xff); }

void set_index(Emitter& e, const Operand& index) {
  Value* kept = e.ir.CreateAnd(e.sgpr(scalar_register::m0), ~0xffU);
  e.set_sgpr(scalar_register::m0, e.ir.CreateOr(kept, e.ir.CreateAnd(e.scalar(index), 0xff)));
}

/// The mode of gpr_idx(SRC0,DST), in M0 as well.
unsigned set_mode(Emitter& e, std::string_view text) {
  unsigned mode = 0;
  if (text.find("SRC0") != std::string_view::npos) mode |= VgprIndexing::source0;
  if (text.find("SRC1") != std::string_view::npos) mode |= VgprIndexing::source1;
  if (text.find("SRC2") != std::string_view::npos) mode |= VgprIndexing::source2;
  if (text.find("DST") != std::string_view::npos) mode |= VgprIndexing::destination;
  if (!text.starts_with("gpr_idx(")) e.unsupported();
  Value* kept = e.ir.CreateAnd(e.sgpr(scalar_register::m0), ~0xf000U);
  e.set_sgpr(scalar_register::m0, e.ir.CreateOr(kept, mode << 12));
  return mode;
}

void indexing_on(Emitter& e, const Instruction& i) {
  set_index(e, i.operands.at(0));
  e.indexing.operands = set_mode(e, i.operands.at(1).text);
}

void change_mode(Emitter& e, const Instruction& i) {
  const unsigned mode = set_mode(e, i.operands.at(0).text);
  if (e.indexing.is_on()) e.indexing.operands = mode;
}

/// How much is added to the numbers of a move's registers (i32); null where nothing is.
struct MoveIndices {
  Value* source = nullptr;
  Value* destination = nullptr;
};

/// A move of a dword a lane, in which the numbers of vector registers get an index added.
void indexed_move(Emitter& e, const Instruction& i, const MoveIndices& indices) {
  const Operand& to = i.operands.at(0);
  const Operand& from = i.operands.at(1);
  if (!to.is_vector() || to.index >= e.indexing.limit || (from.is_vector() && from.index >= e.indexing.limit))
    e.unsupported("indexed VGPRs");
  const auto is_at = [&](Value* index, unsigned distance) { return e.ir.CreateICmpEQ(index, e.ir.getInt32(distance)); };
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* value = e.vector(from, chunk);
    if (indices.source != nullptr && from.is_vector()) {
      for (unsigned n = from.index + 1; n < e.indexing.limit; ++n)
        value = e.ir.CreateSelect(is_at(indices.source, n - from.index), e.vgpr(n, chunk), value);
    }
    if (indices.destination == nullptr) {
      e.set_vgpr(to.index, chunk, value);
      continue;
    }
    for (unsigned n = to.index; n < e.indexing.limit; ++n)
      e.set_vgpr(n, chunk, e.ir.CreateSelect(is_at(indices.destination, n - to.index), value, e.vgpr(n, chunk)));
  }
}

/// v_mov_b32 while s_set_gpr_idx has its source, its destination or both indexed.
void move_in_index_mode(Emitter& e, const Instruction& i) {
  if (i.encoding != Encoding::e32) e.unsupported("indexed VGPRs");
  const auto index_of = [&](VgprIndexing::Operands which) {
    return e.indexing.indexes(which) ? register_index(e) : nullptr;
  };
  indexed_move(e, i, {.source = index_of(VgprIndexing::source0), .destination = index_of(VgprIndexing::destination)});
}

enum class Relative : std::uint8_t { source, destination, both, both_by_halves };

/// RDNA's v_movrel: M0 is added, or in v_movrelsd_2 a part of it to each number.
template <Relative relative>
void move_relative(Emitter& e, const Instruction& i) {
  if (i.encoding != Encoding::e32 && i.encoding != Encoding::e64) e.unsupported("this form");
  Value* m0 = e.sgpr(scalar_register::m0);
  MoveIndices indices;
  if (relative != Relative::destination) indices.source = m0;
  if (relative != Relative::source) indices.destination = m0;
  if (relative == Relative::both_by_halves)
    indices = {.source = e.ir.CreateAnd(m0, 0x3ff), .destination = e.ir.CreateAnd(e.ir.CreateLShr(m0, 16), 0x3ff)};
  indexed_move(e, i, indices);
}

/// The scalar registers that s_movrel can reach: the registers below VCC.
constexpr unsigned scalar_limit = scalar_register::flat_scratch;

/// s_movrels: the source's number is M0 higher.
void move_from_relative(Emitter& e, const Instruction& i) {
  const Operand& from = i.operands.at(1);
  if (!from.is_scalar() || from.index + from.dwords > scalar_limit) e.unsupported("source " + from.text);
  const auto read = [&](unsigned n) { return from.dwords == 2 ? e.sgpr_pair(n) : e.sgpr(n); };
  Value* value = read(from.index);
  for (unsigned n = from.index + from.dwords; n + from.dwords <= scalar_limit; n += from.dwords) {
    Value* is_here = e.ir.CreateICmpEQ(e.sgpr(scalar_register::m0), e.ir.getInt32(n - from.index));
    value = e.ir.CreateSelect(is_here, read(n), value);
  }
  e.set_scalar(i.operands.at(0), value);
}

/// s_movreld: the destination's number is M0 higher.
void move_to_relative(Emitter& e, const Instruction& i) {
  const Operand& to = i.operands.at(0);
  if (!to.is_scalar() || to.index + to.dwords > scalar_limit) e.unsupported("destination " + to.text);
  Value* value = to.dwords == 2 ? e.scalar64(i.operands.at(1)) : e.scalar(i.operands.at(1));
  for (unsigned n = to.index; n + to.dwords <= scalar_limit; n += to.dwords) {
    Value* is_here = e.ir.CreateICmpEQ(e.sgpr(scalar_register::m0), e.ir.getInt32(n - to.index));
    if (to.dwords == 2)
      e.set_sgpr_pair(n, e.ir.CreateSelect(is_here, value, e.sgpr_pair(n)));
    else
      e.set_sgpr(n, e.ir.CreateSelect(is_here, value, e.sgpr(n)));
  }
}

}  // namespace

void add_register_indexing(HandlerTable& table) {
  table.add("s_set_gpr_idx_on", indexing_on);
  table.add("s_set_gpr_idx_off", [](Emitter& e, const Instruction&) { e.indexing.operands.reset(); });
  table.add("s_set_gpr_idx_mode", change_mode);
  table.add("s_set_gpr_idx_idx", [](Emitter& e, const Instruction& i) { set_index(e, i.operands.at(0)); });
  for (const char* mnemonic : {"s_movrels_b32", "s_movrels_b64"}) table.add(mnemonic, move_from_relative);
  for (const char* mnemonic : {"s_movreld_b32", "s_movreld_b64"}) table.add(mnemonic, move_to_relative);
  table.add("v_movrels_b32", move_relative<Relative::source>);
  table.add("v_movreld_b32", move_relative<Relative::destination>);
  table.add("v_movrelsd_b32", move_relative<Relative::both>);
  table.add("v_movrelsd_2_b32", move_relative<Relative::both_by_halves>);
  const Handler plain_move = *table.find("v_mov_b32");
  table.add("v_mov_b32", [plain_move](Emitter& e, const Instruction& i) {
    (e.indexing.indexes_any() ? Handler(move_in_index_mode) : plain_move)(e, i);
  });
}

}  // namespace softgpu::compute
