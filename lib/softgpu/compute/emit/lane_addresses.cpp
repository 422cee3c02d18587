#include "softgpu/compute/emit/lane_addresses.hpp"

#include <vector>

#include <llvm/IR/Constants.h>

namespace softgpu::compute {

using llvm::Value;

namespace {

bool has_short_offsets(const LaneAddresses& a) { return offset_type(a)->isIntegerTy(32); }

bool has_signs(const LaneAddresses& a) { return a.in_lds || a.is_signed; }

/// `step` more from lane to lane, from 0 in the wavefront's lane 0.
llvm::Constant* steps(llvm::Type* type, unsigned chunk, std::uint32_t step) {
  std::vector<llvm::Constant*> lanes;
  for (unsigned lane = lanes_per_chunk * chunk; lane < lanes_per_chunk * (chunk + 1); ++lane)
    lanes.push_back(llvm::ConstantInt::get(type, std::uint64_t{lane} * step));
  return llvm::ConstantVector::get(lanes);
}

/// Offsets in bytes, or lane 0's, in 64 bits.
Value* extended(Emitter& e, const LaneAddresses& a, Value* offsets, llvm::Type* type) {
  Value* wide = has_signs(a) ? e.ir.CreateSExt(offsets, type) : e.ir.CreateZExt(offsets, type);
  return e.ir.CreateShl(wide, a.shift);
}

}  // namespace

llvm::Type* offset_type(const LaneAddresses& a) {
  return llvm::cast<llvm::FixedVectorType>(a.offsets[0]->getType())->getElementType();
}

Value* zeros(Emitter& e) { return llvm::Constant::getNullValue(Emitter::lanes(e.i32())); }

Value* mask_bits(Emitter& e, Value* mask) { return e.ir.CreateBitCast(mask, e.ir.getInt16Ty()); }

Value* displaced(Emitter& e, Value* base, std::uint64_t bytes) {
  return bytes == 0 ? base : e.ir.CreateConstGEP1_64(e.ir.getInt8Ty(), base, bytes);
}

Value* lane_0_offset(Emitter& e, const LaneAddresses& a, unsigned chunk) {
  return e.ir.CreateExtractElement(a.offsets[chunk], std::uint64_t{0});
}

Value* distances(Emitter& e, const LaneAddresses& a, unsigned chunk) {
  return e.ir.CreateSub(a.offsets[chunk], e.splat(lane_0_offset(e, a, chunk)));
}

Value* first_pointer(Emitter& e, const LaneAddresses& a, unsigned chunk) {
  return e.ir.CreateGEP(e.ir.getInt8Ty(), a.base, extended(e, a, lane_0_offset(e, a, chunk), e.i64()));
}

Value* lane_pointers(Emitter& e, const LaneAddresses& a, unsigned chunk, std::uint64_t displacement) {
  constexpr std::uint64_t middle = 0x80000000;
  Value* base = displaced(e, a.base, displacement);
  Value* offsets = a.offsets[chunk];
  if (has_short_offsets(a) && !has_signs(a)) {
    base = displaced(e, base, middle << a.shift);
    offsets = e.ir.CreateXor(offsets, e.splat(middle));
  }
  return e.ir.CreateGEP(e.ir.getIntNTy(8U << a.shift), base, offsets);
}

Value* address_numbers(Emitter& e, const LaneAddresses& a, unsigned chunk) {
  Value* base = e.splat(e.ir.CreatePtrToInt(a.base, e.i64()));
  return e.ir.CreateAdd(base, extended(e, a, a.offsets[chunk], Emitter::lanes(e.i64())));
}

Value* accessible_pointer(Emitter& e, const LaneAddresses& a, unsigned chunk) {
  Value* is_used = e.ir.CreateIsNotNull(mask_bits(e, a.active[chunk]));
  return e.ir.CreateSelect(is_used, first_pointer(e, a, chunk), e.state());
}

Chunks lanes_of(Emitter& e, const RowOfLanes& row) {
  Chunks lanes;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    lanes[chunk] = e.ir.CreateAdd(e.splat(row.start), steps(e.i32(), chunk, row.stride));
  return lanes;
}

LaneOffsets lane_offsets(Emitter& e, const Operand& vector) {
  // What makes rows in vector registers is not needed where they are made of lane 0's.
  if (const auto row = e.address_sums.row(vector)) return {lanes_of(e, *row), row};
  LaneOffsets offsets;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) offsets.lanes[chunk] = e.vector(vector, chunk);
  return offsets;
}

bool has_row(const LaneAddresses& a, std::uint32_t step) { return a.row && a.row->stride << a.shift == step; }

Value* is_within_row(Emitter& e, const LaneAddresses& a) {
  if (a.in_lds) return a.row_in_lds;
  const std::uint32_t last = (e.wavefront_size() - 1) * a.row->stride;
  return has_signs(a) ? e.ir.CreateICmpSLE(a.row->start, e.ir.getInt32(0x7fffffff - last))
                      : e.ir.CreateICmpULE(a.row->start, e.ir.getInt32(~last));
}

LaneAddresses in_row(Emitter& e, const LaneAddresses& a) {
  LaneAddresses lanes{.base = e.ir.CreateGEP(e.ir.getInt8Ty(), a.base, extended(e, a, a.row->start, e.i64())),
                      .is_signed = true,
                      .in_lds = a.in_lds,
                      .out_of_range_is_zero = a.out_of_range_is_zero};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    lanes.offsets[chunk] = steps(e.i32(), chunk, a.row->stride << a.shift);
    lanes.active[chunk] = a.in_lds ? e.exec_mask(chunk) : a.active[chunk];
  }
  return lanes;
}

Value* reaches(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  if (!has_short_offsets(a) || a.in_lds || bytes == 0) return e.ir.getTrue();
  const std::uint32_t units = bytes >> a.shift;
  Value* exceeds = nullptr;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* first = lane_0_offset(e, a, chunk);
    Value* wraps = has_signs(a) ? e.ir.CreateICmpSGT(first, e.ir.getInt32(0x7fffffffU - units))
                                : e.ir.CreateICmpUGT(first, e.ir.getInt32(~units));
    exceeds = chunk == 0 ? wraps : e.ir.CreateOr(exceeds, wraps);
  }
  return e.ir.CreateNot(exceeds);
}

Value* follow(Emitter& e, const LaneAddresses& a, std::uint32_t step) {
  if (step >> a.shift << a.shift != step) return e.ir.getFalse();  // the lanes lie further apart, or at one place
  std::vector<llvm::Constant*> steps;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
    steps.push_back(llvm::ConstantInt::get(offset_type(a), std::uint64_t{lane} * (step >> a.shift)));
  Value* expected = llvm::ConstantVector::get(steps);
  // Bits that differ, not comparisons: AVX-512 joins three vectors in one instruction.
  Value* wrong = nullptr;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* differs = e.ir.CreateXor(distances(e, a, chunk), expected);
    differs = e.ir.CreateSelect(a.active[chunk], differs, llvm::Constant::getNullValue(differs->getType()));
    wrong = chunk == 0 ? differs : e.ir.CreateOr(wrong, differs);
  }
  return e.ir.CreateAnd(e.ir.CreateIsNull(mask_bits(e, e.ir.CreateIsNotNull(wrong))),
                        reaches(e, a, (lanes_per_chunk - 1) * step));
}

Value* all_active(Emitter& e, const LaneAddresses& a) {
  Value* all = a.active[0];
  for (unsigned chunk = 1; chunk < e.chunks(); ++chunk) all = e.ir.CreateAnd(all, a.active[chunk]);
  return e.ir.CreateICmpEQ(mask_bits(e, all), e.ir.getInt16(0xffff));
}

}  // namespace softgpu::compute
