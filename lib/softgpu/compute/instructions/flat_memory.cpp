// FLAT, GLOBAL and SCRATCH instructions.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/access_check.hpp"
#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/lds_addresses.hpp"
#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/memory_formats.hpp"
#include "softgpu/compute/profile/emit_counting.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using runtime::Segment;

/// The address operands: `first` is the vector one, which GLOBAL and SCRATCH follow by a scalar one after `data`.
struct AddressOperands {
  const Operand& vector;
  const Operand* scalar;
  std::int64_t offset;

  [[nodiscard]] bool has_base() const { return scalar != nullptr && scalar->is_scalar(); }
};

AddressOperands address_operands(const Instruction& i, Segment segment, std::size_t vector) {
  const Operand* scalar = segment == Segment::flat ? nullptr : &i.operands.back();
  return {i.operands.at(vector), scalar, i.number("offset")};
}

/// What all lanes add to an offset within scratch, or to a flat address (i64).
Value* base_offset(Emitter& e, const AddressOperands& operands) {
  Value* offset = e.ir.getInt64(static_cast<std::uint64_t>(operands.offset));
  return operands.has_base() ? e.ir.CreateAdd(offset, e.ir.CreateZExt(e.scalar(*operands.scalar), e.i64())) : offset;
}

/// Offsets within scratch (<16 x i64>).
Chunks scratch_offsets(Emitter& e, const AddressOperands& operands) {
  Value* offset = base_offset(e, operands);
  Chunks offsets;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    offsets[chunk] = e.splat(offset);
    if (!operands.vector.is_vector()) continue;
    Value* own = e.ir.CreateZExt(e.vector(operands.vector, chunk), Emitter::lanes(e.i64()));
    offsets[chunk] = e.ir.CreateAdd(own, offsets[chunk]);
  }
  return offsets;
}

Chunks flat_addresses(Emitter& e, const AddressOperands& operands) {
  Chunks addresses;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) addresses[chunk] = e.vector64(operands.vector, chunk);
  return addresses;
}

/// What all lanes add to an address that is not in scratch (i64).
Value* base_address(Emitter& e, const AddressOperands& operands) {
  Value* offset = e.ir.getInt64(static_cast<std::uint64_t>(operands.offset));
  return operands.has_base() ? e.ir.CreateAdd(e.scalar64(*operands.scalar), offset) : offset;
}

/// What the runtime adds to lane_addresses(): flat addresses need their offset apart.
std::int64_t runtime_offset(Segment segment, const AddressOperands& operands) {
  return segment == Segment::flat ? operands.offset : 0;
}

constexpr AccessFormat one_dword{.bytes = 4};

/// Host addresses, flat addresses without their offset, or offsets within scratch (<16 x i64>).
Chunks lane_addresses(Emitter& e, Segment segment, const AddressOperands& operands) {
  if (segment == Segment::scratch) return scratch_offsets(e, operands);
  if (segment == Segment::flat) return flat_addresses(e, operands);
  Value* base = e.splat(base_address(e, operands));
  Chunks addresses;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* own = operands.has_base() ? e.ir.CreateZExt(e.vector(operands.vector, chunk), Emitter::lanes(e.i64()))
                                     : e.vector64(operands.vector, chunk);
    addresses[chunk] = e.ir.CreateAdd(own, base);
  }
  return addresses;
}

/// Addresses of which the kernel added up the parts.
struct AddressesByParts {
  LaneAddresses lanes;
  Value* hold;  ///< whether they are the addresses (i1); null: they are
};

/// Nothing if the parts are not known.
std::optional<AddressesByParts> addresses_by_parts(Emitter& e, const AddressOperands& operands) {
  if (operands.has_base()) return std::nullopt;
  const auto sum = e.address_sums.find(operands.vector);
  if (!sum) return std::nullopt;
  Value* base = e.ir.CreateAdd(sum->base, base_address(e, operands));
  LaneAddresses lanes{.base = e.ir.CreateIntToPtr(base, e.ir.getPtrTy()),
                      .offsets = sum->index,
                      .shift = sum->shift,
                      .is_signed = sum->is_signed,
                      .is_sum = true};
  if (sum->row) {
    lanes.row = sum->row;
    lanes.offsets = lanes_of(e, *sum->row);
  }
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) lanes.active[chunk] = e.exec_mask(chunk);
  return AddressesByParts{lanes, sum->holds};
}

LaneAddresses host_addresses(Emitter& e, const AddressOperands& operands) {
  LaneAddresses lanes{.base = e.ir.CreateIntToPtr(base_address(e, operands), e.ir.getPtrTy())};
  if (operands.has_base()) {
    const LaneOffsets offsets = lane_offsets(e, operands.vector);
    lanes.offsets = offsets.lanes;
    lanes.row = offsets.row;
  }
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    if (!operands.has_base()) lanes.offsets[chunk] = e.vector64(operands.vector, chunk);
    lanes.active[chunk] = e.exec_mask(chunk);
  }
  return lanes;
}

/// Emits both ways, of which one is taken at run time.
template <class Taken, class Otherwise>
void choose(Emitter& e, Value* condition, Taken&& emit_taken, Otherwise&& emit_otherwise) {
  llvm::BasicBlock* taken = e.new_block("taken");
  llvm::BasicBlock* otherwise = e.new_block("otherwise");
  llvm::BasicBlock* done = e.new_block("accessed");
  e.ir.CreateCondBr(condition, taken, otherwise);
  e.ir.SetInsertPoint(taken);
  emit_taken();
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(otherwise);
  emit_otherwise();
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(done);
}

/// The upper half of the addresses in an aperture (i32), which is a field of the wavefront's.
Value* aperture_high(Emitter& e, std::size_t field) {
  return e.ir.CreateTrunc(e.ir.CreateLShr(e.field(field, e.i64()), 32), e.i32());
}

/// Whether an enabled lane's flat address lies in the shared or the private aperture (i1).
Value* is_any_in_aperture(Emitter& e, const AddressOperands& operands) {
  Value* shared = e.splat(aperture_high(e, offsetof(WaveState, shared_aperture)));
  Value* scratch = e.splat(aperture_high(e, offsetof(WaveState, private_aperture)));
  Value* any = nullptr;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* high = e.vector(operands.vector, chunk, 1);
    Value* inside = e.ir.CreateOr(e.ir.CreateICmpEQ(high, shared), e.ir.CreateICmpEQ(high, scratch));
    inside = e.ir.CreateAnd(inside, e.exec_mask(chunk));
    any = chunk == 0 ? inside : e.ir.CreateOr(any, inside);
  }
  return e.ir.CreateIsNotNull(e.ir.CreateBitCast(any, e.ir.getInt16Ty()));
}

Value* flat_scratch(Emitter& e) { return e.flat_scratch(); }
Value* constant(Emitter& e, Segment segment) { return e.ir.getInt32(static_cast<std::uint32_t>(segment)); }

template <class Function>
void call_runtime(Emitter& e, Function* function, Segment segment, const AddressOperands& operands,
                  const AccessFormat& format, Value* lanes) {
  Value* offset = e.ir.getInt64(static_cast<std::uint64_t>(runtime_offset(segment, operands)));
  put_lane_addresses(e, lane_addresses(e, segment, operands));
  e.call(reinterpret_cast<const void*>(function), e.ir.getVoidTy(),
         {e.state(), lanes, flat_scratch(e), constant(e, segment), offset, e.ir.getInt32(format.bytes)});
}

/// An address of an enabled lane, by its 32-bit words: what the others' are compared with.
using Words = std::array<Value*, 2>;

/// The address operand's words in lane 0 if that is enabled, as it mostly is, else in the enabled lanes if these are
/// equal; of a scratch address one.
Words some_lanes_address(Emitter& e, const Operand& vector) {
  llvm::BasicBlock* first = e.ir.GetInsertBlock();
  llvm::BasicBlock* other = e.new_block("lane_0_is_disabled");
  llvm::BasicBlock* done = e.new_block("some_lane");
  Words words = {};
  for (unsigned word = 0; word < vector.dwords; ++word)
    words.at(word) = e.ir.CreateExtractElement(e.vector(vector, 0, word), std::uint64_t{0});
  e.ir.CreateCondBr(e.ir.CreateTrunc(e.exec(), e.i1()), done, other);
  e.ir.SetInsertPoint(other);
  Words others = {};
  for (unsigned word = 0; word < vector.dwords; ++word) {
    Value* all = zeros(e);
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
      all = e.ir.CreateOr(all, e.ir.CreateSelect(e.exec_mask(chunk), e.vector(vector, chunk, word), zeros(e)));
    others.at(word) = e.ir.CreateOrReduce(all);
  }
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(done);
  for (unsigned word = 0; word < vector.dwords; ++word) {
    auto* merged = e.ir.CreatePHI(e.i32(), 2);
    merged->addIncoming(words.at(word), first);
    merged->addIncoming(others.at(word), other);
    words.at(word) = merged;
  }
  return words;
}

/// Whether the enabled lanes have this address (i1).
Value* have_address(Emitter& e, const Operand& vector, const Words& address) {
  Value* wrong = zeros(e);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* differs = zeros(e);
    for (unsigned word = 0; word < vector.dwords; ++word)
      differs = e.ir.CreateOr(differs, e.ir.CreateXor(e.vector(vector, chunk, word), e.splat(address.at(word))));
    wrong = e.ir.CreateOr(wrong, e.ir.CreateSelect(e.exec_mask(chunk), differs, zeros(e)));
  }
  return e.ir.CreateIsNull(mask_bits(e, e.ir.CreateIsNotNull(wrong)));
}

/// The lanes' offset within private memory (i64), and whether all lanes access dwords there, at that offset (i1). The
/// lanes' dwords lie side by side then: compilers keep variables there.
struct PrivateRow {
  Value* offset;
  Value* is_there;
};

/// Of flat addresses those that are in the private aperture, as `address` is.
PrivateRow private_row(Emitter& e, Segment segment, const AddressOperands& operands, const Words& address,
                       std::uint32_t bytes) {
  Value* is_there = operands.vector.is_vector() ? have_address(e, operands.vector, address) : e.ir.getTrue();
  Value* offset = base_offset(e, operands);
  if (operands.vector.is_vector()) offset = e.ir.CreateAdd(offset, e.ir.CreateZExt(address[0], e.i64()));
  if (segment == Segment::flat) offset = e.ir.CreateAnd(offset, 0xffffffff);
  Value* size = e.ir.CreateZExt(e.field(offsetof(WaveState, scratch_bytes_per_lane), e.i32()), e.i64());
  Value* is_inside = e.ir.CreateAnd(e.ir.CreateICmpUGE(size, e.ir.getInt64(bytes)),
                                    e.ir.CreateICmpULE(offset, e.ir.CreateSub(size, e.ir.getInt64(bytes))));
  is_there = e.ir.CreateAnd(is_there, e.ir.CreateAnd(is_inside, e.ir.CreateIsNull(e.ir.CreateAnd(offset, 3))));
  return {offset, is_there};
}

/// Where the lanes' dword `dword` from an offset of private memory on is.
LaneAddresses row_addresses(Emitter& e, Value* offset, unsigned dword) {
  Value* row = e.ir.CreateMul(e.ir.CreateAdd(offset, e.ir.getInt64(std::uint64_t{4} * dword)),
                              e.ir.getInt64(e.wavefront_size()));
  LaneAddresses lanes{.base = e.ir.CreateIntToPtr(e.ir.CreateAdd(e.flat_scratch(), row), e.ir.getPtrTy()),
                      .is_consecutive = true};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    std::vector<llvm::Constant*> columns;
    for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
      columns.push_back(e.ir.getInt64(4 * (std::uint64_t{chunk} * lanes_per_chunk + lane)));
    lanes.offsets[chunk] = llvm::ConstantVector::get(columns);
    lanes.active[chunk] = e.exec_mask(chunk);
  }
  return lanes;
}

/// Emits `in_row(dword, addresses)` for each dword, for lanes that access one row of private memory after the other,
/// and `access_others` for all others.
template <class InRow, class Others>
void access_private(Emitter& e, Segment segment, const AddressOperands& operands, const AccessFormat& format,
                    InRow&& in_row, Others&& access_others) {
  if (format.bytes % 4 != 0 || e.is_compact()) return access_others();
  llvm::BasicBlock* rows = e.new_block("private_rows");
  llvm::BasicBlock* others = e.new_block("others");
  llvm::BasicBlock* done = e.new_block("accessed");
  Words address = {};
  if (operands.vector.is_vector()) address = some_lanes_address(e, operands.vector);
  if (segment == Segment::flat) {  // a look at one lane tells which question is worth asking of all
    llvm::BasicBlock* maybe = e.new_block("maybe_private");
    Value* aperture = aperture_high(e, offsetof(WaveState, private_aperture));
    e.ir.CreateCondBr(e.ir.CreateAnd(e.ir.CreateICmpEQ(address[1], aperture), e.ir.CreateIsNotNull(aperture)), maybe,
                      others);
    e.ir.SetInsertPoint(maybe);
  }
  const PrivateRow row = private_row(e, segment, operands, address, format.bytes);
  e.ir.CreateCondBr(row.is_there, rows, others);
  e.ir.SetInsertPoint(rows);
  for (unsigned dword = 0; dword < format.dwords(); ++dword) in_row(dword, row_addresses(e, row.offset, dword));
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(others);
  access_others();
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(done);
}

/// Whether the enabled lanes' flat addresses are all in the aperture of LDS (i1).
Value* are_in_lds(Emitter& e, const AddressOperands& operands) {
  Value* aperture = aperture_high(e, offsetof(WaveState, shared_aperture));
  Value* wrong = zeros(e);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* differs = e.ir.CreateXor(e.vector(operands.vector, chunk, 1), e.splat(aperture));
    wrong = e.ir.CreateOr(wrong, e.ir.CreateSelect(e.exec_mask(chunk), differs, zeros(e)));
  }
  Value* are_there = e.ir.CreateIsNull(mask_bits(e, e.ir.CreateIsNotNull(wrong)));
  return e.ir.CreateAnd(are_there, e.ir.CreateIsNotNull(aperture));
}

LaneAddresses flat_addresses_in_lds(Emitter& e, const AddressOperands& operands, const AccessFormat& format) {
  LaneOffsets places;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    places.lanes[chunk] =
        e.ir.CreateAdd(e.vector(operands.vector, chunk), e.splat(static_cast<std::uint32_t>(operands.offset)));
  return lds_addresses(e, places, 0, format.bytes);
}

/// Emits `in_memory` for lanes whose flat addresses are all in LDS, and `by_lane` for all others.
template <class InMemory, class ByLane>
void access_lds(Emitter& e, const AddressOperands& operands, const AccessFormat& format, InMemory&& in_memory,
                ByLane&& by_lane) {
  if (format.bytes % 4 != 0 || e.is_compact()) return by_lane();
  choose(
      e, are_in_lds(e, operands), [&] { in_memory(flat_addresses_in_lds(e, operands, format)); }, by_lane);
}

/// Emits `by_lane` for addresses that only the runtime can resolve, `in_row` where these are rows of private memory,
/// else `in_memory`; a flat address decides at run time.
template <class InRow, class ByLane, class InMemory>
void access(Emitter& e, Segment segment, const AddressOperands& operands, const AccessFormat& format, InRow&& in_row,
            ByLane&& by_lane, InMemory&& in_memory) {
  const auto access_at = [&](const LaneAddresses& lanes) {
    if (segment == Segment::global) profile::count_access(e, lanes, format.bytes);
    check_access(e, lanes, format.bytes);
    in_memory(lanes);
    keep_in_order(e);
  };
  const auto direct = [&] {
    const auto parts = addresses_by_parts(e, operands);
    if (!parts) return access_at(host_addresses(e, operands));
    if (parts->hold == nullptr) return access_at(parts->lanes);
    choose(
        e, parts->hold, [&] { access_at(parts->lanes); }, [&] { access_at(host_addresses(e, operands)); });
  };
  if (segment == Segment::global) return direct();
  if (segment == Segment::scratch) {
    profile::count_scratch_access(e, format.bytes);
    return access_private(e, segment, operands, format, in_row, by_lane);
  }
  profile::count_flat_access(e, lane_addresses(e, segment, operands), operands.offset, format.bytes);
  llvm::BasicBlock* apertures = e.new_block("apertures");
  llvm::BasicBlock* global = e.new_block("global");
  llvm::BasicBlock* done = e.new_block("accessed");
  if (const auto parts = addresses_by_parts(e, operands)) {
    llvm::BasicBlock* unsure = e.new_block("unsure");
    Value* is_inside = is_surely_inside(e, e.ir.CreatePtrToInt(parts->lanes.base, e.i64()));
    if (parts->hold != nullptr) is_inside = e.ir.CreateAnd(is_inside, parts->hold);
    e.ir.CreateCondBr(is_inside, global, unsure);
    e.ir.SetInsertPoint(unsure);
  }
  access_private(e, segment, operands, format, in_row, [&] {
    e.ir.CreateCondBr(is_any_in_aperture(e, operands), apertures, global);
    e.ir.SetInsertPoint(apertures);
    access_lds(e, operands, format, in_memory, by_lane);
  });
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(global);
  direct();
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(done);
}

/// A load past the registers, like a buffer's: the instruction's offset counts in memory and in LDS.
void load_to_lds(Emitter& e, const Instruction& i, Segment segment, const AccessFormat& format) {
  honour_cache_hints(e, i);
  const AddressOperands operands = address_operands(i, segment, 0);
  const LaneAddresses lds = transfer_addresses(e, static_cast<std::int32_t>(operands.offset), format.bytes);
  call_runtime(e, runtime::load, segment, operands, format, e.mask_from_chunks(lds.active));
  store_loaded(e, format, lds);
}

void load(Emitter& e, const Instruction& i, Segment segment, const AccessFormat& format) {
  if (segment != Segment::flat && has_lds_form(format, 4) && i.has("lds")) return load_to_lds(e, i, segment, format);
  honour_cache_hints(e, i);
  const Operand& destination = i.operands.at(0);
  const AddressOperands operands = address_operands(i, segment, 1);
  access(
      e, segment, operands, format,
      [&](unsigned dword, const LaneAddresses& lanes) {
        load_lanes(e, part_of(destination, dword, 1), one_dword, lanes);
      },
      [&] {
        call_runtime(e, runtime::load, segment, operands, format, e.exec());
        take_destination(e, destination, format);
      },
      [&](const LaneAddresses& lanes) { load_lanes(e, destination, format, lanes); });
}

void store(Emitter& e, const Instruction& i, Segment segment, const AccessFormat& format) {
  honour_store_hints(e, i);
  const Operand& source = i.operands.at(1);
  const AddressOperands operands = address_operands(i, segment, 0);
  access(
      e, segment, operands, format,
      [&](unsigned dword, const LaneAddresses& lanes) { store_lanes(e, part_of(source, dword, 1), one_dword, lanes); },
      [&] {
        put_source(e, source, format);
        call_runtime(e, runtime::store, segment, operands, format, e.exec());
      },
      [&](const LaneAddresses& lanes) { store_lanes(e, source, format, lanes); });
}

void atomic(Emitter& e, const Instruction& i, Segment segment, const NamedAtomic& named) {
  honour_cache_hints(e, i);
  const bool returns = returns_former_value(i);
  const std::size_t first = returns ? 1 : 0;
  const AddressOperands operands = address_operands(i, segment, first);
  const Chunks addresses = lane_addresses(e, segment, operands);
  put_lane_addresses(e, addresses);
  if (segment == Segment::flat)
    profile::count_flat_access(e, addresses, operands.offset, named.bits / 8);
  else
    profile::count_put_access(e, e.exec(), profile::Space::global, named.bits / 8);
  put_source(e, i.operands.at(first + 1), source_format(named));
  call_atomic(e, named, e.exec(), flat_scratch(e), segment, runtime_offset(segment, operands));
  if (returns) take_destination(e, i.operands.at(0), result_format(named));
}

}  // namespace

void add_flat_memory(HandlerTable& table) {
  constexpr std::pair<const char*, Segment> segments[] = {
      {"flat_", Segment::flat}, {"global_", Segment::global}, {"scratch_", Segment::scratch}};
  for (const auto& [prefix, segment] : segments) {
    for (const NamedFormat& named : load_formats)
      table.add(std::string(prefix) + named.name,
                [segment = segment, format = named.format](auto& e, auto& i) { load(e, i, segment, format); });
    for (const NamedFormat& named : load_formats)  // gfx942's names; elsewhere a bit means LDS
      if (segment != Segment::flat && has_lds_form(named.format, segment == Segment::global ? 16 : 4))
        table.add(std::string(prefix) + "load_lds_" + (named.name + std::string_view("load_").size()),
                  [segment = segment, format = named.format](auto& e, auto& i) { load_to_lds(e, i, segment, format); });
    for (const NamedFormat& named : store_formats)
      table.add(std::string(prefix) + named.name,
                [segment = segment, format = named.format](auto& e, auto& i) { store(e, i, segment, format); });
    if (segment == Segment::scratch) continue;
    for (const NamedAtomic& named : atomics)
      table.add(std::string(prefix) + named.name,
                [segment = segment, named](auto& e, auto& i) { atomic(e, i, segment, named); });
  }
}

}  // namespace softgpu::compute
