// FLAT, GLOBAL and SCRATCH instructions.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "softgpu/compute/emit/access_check.hpp"
#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/lds_addresses.hpp"
#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/flat_addresses.hpp"
#include "softgpu/compute/instructions/memory_formats.hpp"
#include "softgpu/compute/instructions/private_rows.hpp"
#include "softgpu/compute/profile/emit_counting.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using runtime::Segment;

/// What the runtime adds to lane_addresses(): flat addresses need their offset apart.
std::int64_t runtime_offset(Segment segment, const AddressOperands& operands) {
  return segment == Segment::flat ? operands.offset : 0;
}

constexpr AccessFormat one_dword{.bytes = 4};

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

/// Emits `in_row(dword, addresses)` for each dword, for lanes that access one row of private memory after the other,
/// and `access_others` for all others.
template <class InRow, class Others>
void access_private(Emitter& e, Segment segment, const AddressOperands& operands, const AccessFormat& format,
                    InRow&& in_row, Others&& access_others) {
  if (format.bytes % 4 != 0 || e.is_compact()) return access_others();
  llvm::BasicBlock* rows = e.new_block("private_rows");
  llvm::BasicBlock* others = e.new_block("others");
  llvm::BasicBlock* done = e.new_block("accessed");
  AddressWords address = {};
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
