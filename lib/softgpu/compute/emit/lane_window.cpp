#include "softgpu/compute/emit/lane_window.hpp"

#include <numeric>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace softgpu::compute {

using llvm::Value;

namespace {

/// The lanes' dwords from a place on that is so many bytes before lane 0 (<16 x i32>).
Value* places(Emitter& e, const LaneAddresses& a, Value* before_lane_0) {
  Value* bytes = e.ir.CreateShl(e.ir.CreateTrunc(distances(e, a, 0), Emitter::lanes(e.i32())), a.shift);
  return e.ir.CreateLShr(e.ir.CreateAdd(bytes, e.splat(e.ir.CreateTrunc(before_lane_0, e.i32()))), 2);
}

Value* address(Emitter& e, const LaneAddresses& a, unsigned chunk) {
  return e.ir.CreatePtrToInt(first_pointer(e, a, chunk), e.i64());
}

}  // namespace

Value* Window::holds(Emitter& e, const LaneAddresses& a) {
  constexpr std::uint64_t last = 4 * (window_dwords - 1);
  Value* own = distances(e, a, 0);
  Value* wrong = e.ir.CreateAnd(own, e.splat(llvm::ConstantInt::get(offset_type(a), ~(last >> a.shift))));
  for (unsigned chunk = 1; chunk < e.chunks(); ++chunk)
    wrong = e.ir.CreateOr(wrong, e.ir.CreateXor(distances(e, a, chunk), own));
  std::vector<int> lanes_before = {lanes_per_chunk};  // lane 0 has -1 before it
  for (int lane = 1; lane < static_cast<int>(lanes_per_chunk); ++lane) lanes_before.push_back(lane - 1);
  Value* before = e.ir.CreateShuffleVector(own, llvm::Constant::getAllOnesValue(own->getType()), lanes_before);
  Value* refuted = e.ir.CreateOr(e.ir.CreateIsNotNull(wrong), e.ir.CreateICmpSLE(own, before));
  Value* right = e.ir.CreateAnd(e.ir.CreateIsNull(mask_bits(e, refuted)), all_active(e, a));
  return e.ir.CreateAnd(right, reaches(e, a, last));
}

Value* Window::shape(Emitter& e, const LaneAddresses& a) {
  Value* used = e.ir.CreateOrReduce(e.ir.CreateShl(e.splat(1U), places(e, a, e.ir.getInt64(0))));
  Value* differences = llvm::ConstantInt::get(offset_type(a), 0);
  for (unsigned chunk = 1; chunk < e.chunks(); ++chunk)
    differences = e.ir.CreateOr(differences, e.ir.CreateXor(lane_0_offset(e, a, chunk), lane_0_offset(e, a, 0)));
  differences = e.ir.CreateShl(differences, a.shift);
  Value* in_line = e.ir.CreateZExtOrTrunc(e.ir.CreateAnd(differences, line_bytes - 1), e.i64());
  return e.ir.CreateOr(e.ir.CreateZExt(used, e.i64()), e.ir.CreateShl(in_line, window_dwords));
}

Window::Window(Emitter& e, const LaneAddresses& a, Value* shape)
    : e_(e), a_(a), shape_(shape), from_line_(e.ir.CreateAnd(address(e, a, 0), line_bytes - 1)) {}

Value* Window::is_in_lines() {
  // Shifted, the bits beyond the window are also those of lanes in a third line.
  Value* beyond = e_.ir.CreateLShr(e_.ir.CreateShl(shape_, e_.ir.CreateLShr(from_line_, 2)), window_dwords);
  return e_.ir.CreateIsNull(e_.ir.CreateOr(beyond, e_.ir.CreateAnd(from_line_, 3)));
}

Value* Window::is_in_pages() {
  constexpr std::uint64_t page = 4096;
  Value* readable = e_.ir.getTrue();
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) {
    Value* in_page = e_.ir.CreateAnd(address(e_, a_, chunk), page - 1);
    readable = e_.ir.CreateAnd(readable, e_.ir.CreateICmpULE(in_page, e_.ir.getInt64(page - 4 * window_dwords)));
  }
  return readable;
}

Chunks Window::load(Value* before_lane_0) {
  Value* from = places(e_, a_, before_lane_0);
  Chunks values;
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) {
    Value* low = e_.ir.CreateAlignedLoad(Emitter::lanes(e_.i32()), half(chunk, 0, before_lane_0), unaligned);
    Value* high = e_.ir.CreateAlignedLoad(Emitter::lanes(e_.i32()), half(chunk, 1, before_lane_0), unaligned);
    values[chunk] = e_.ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {low, from, high});
  }
  return values;
}

void Window::store(const Chunks& values, Value* before_lane_0) {
  Value* used = e_.ir.CreateShl(shape_, e_.ir.CreateLShr(before_lane_0, 2));
  std::array<Value*, 2> used_bits = {};
  std::array<Value*, 2> is_used = {};
  for (unsigned h = 0; h < 2; ++h) {
    used_bits[h] = e_.ir.CreateTrunc(e_.ir.CreateLShr(used, lanes_per_chunk * h), e_.ir.getInt16Ty());
    is_used[h] = e_.ir.CreateBitCast(used_bits[h], Emitter::lanes(e_.i1()));
  }
  std::vector<std::uint32_t> numbers(lanes_per_chunk);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value* lanes = llvm::ConstantDataVector::get(e_.ir.getContext(), numbers);
  Value* in_low = e_.ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, used_bits[0]);
  const std::array<Value*, 2> lane_of_place = {
      expand(lanes, is_used[0]),
      expand(e_.ir.CreateAdd(lanes, e_.splat(e_.ir.CreateZExt(in_low, e_.i32()))), is_used[1])};
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    for (unsigned h = 0; h < 2; ++h) {
      Value* value =
          e_.ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {}, {values[chunk], lane_of_place[h]});
      e_.ir.CreateMaskedStore(value, half(chunk, h, before_lane_0), unaligned, is_used[h]);
    }
}

Value* Window::half(unsigned chunk, unsigned h, Value* before_lane_0) {
  Value* begin = e_.ir.CreateGEP(e_.ir.getInt8Ty(), first_pointer(e_, a_, chunk), e_.ir.CreateNeg(before_lane_0));
  return displaced(e_, begin, line_bytes * h);
}

Value* Window::expand(Value* values, Value* mask) {
  return e_.ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_expand, {values->getType()}, {values, zeros(e_), mask});
}

}  // namespace softgpu::compute
