#include "softgpu/compute/instructions/flat_addresses.hpp"

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/lds_addresses.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;
using runtime::Segment;

AddressOperands address_operands(const Instruction& i, Segment segment, std::size_t vector) {
  const Operand* scalar = segment == Segment::flat ? nullptr : &i.operands.back();
  return {i.operands.at(vector), scalar, i.number("offset")};
}

Value* scratch_offset(Emitter& e, Value* offset, llvm::Type* type) {
  return e.architecture().has_signed_scratch_offsets ? e.ir.CreateSExt(offset, type) : e.ir.CreateZExt(offset, type);
}

Value* base_offset(Emitter& e, const AddressOperands& operands) {
  Value* offset = e.ir.getInt64(static_cast<std::uint64_t>(operands.offset));
  if (!operands.has_base()) return offset;
  return e.ir.CreateAdd(offset, scratch_offset(e, e.scalar(*operands.scalar), e.i64()));
}

namespace {

/// Offsets within scratch (<16 x i64>).
Chunks scratch_offsets(Emitter& e, const AddressOperands& operands) {
  Value* offset = base_offset(e, operands);
  Chunks offsets;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    offsets[chunk] = e.splat(offset);
    if (!operands.vector.is_vector()) continue;
    Value* own = scratch_offset(e, e.vector(operands.vector, chunk), Emitter::lanes(e.i64()));
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

}  // namespace

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

Value* aperture_high(Emitter& e, std::size_t field) {
  return e.ir.CreateTrunc(e.ir.CreateLShr(e.field(field, e.i64()), 32), e.i32());
}

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

}  // namespace softgpu::compute
