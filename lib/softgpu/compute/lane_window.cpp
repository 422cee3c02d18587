#include "lane_window.hpp"

#include <numeric>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace softgpu::compute {

using llvm::Value;

bool Window::is_possible(Emitter& e, const LaneAddresses& a, std::size_t dwords) {
  return e.vectors() == HostVectors::avx512 && dwords == 1 && !a.is_consecutive;
}

Value* Window::holds() {
  const auto constant = [&](std::uint64_t value) { return e_.splat(llvm::ConstantInt::get(offset_type(a_), value)); };
  constexpr std::uint64_t last = 4 * (window_dwords - 1);
  Value* wrong = e_.ir.CreateIsNotNull(e_.ir.CreateAnd(distances_, constant(~last)));
  std::vector<int> lanes_before = {0};
  std::vector<llvm::Constant*> has_one_before = {e_.ir.getFalse()};
  for (int lane = 1; lane < static_cast<int>(lanes_per_chunk); ++lane) {
    lanes_before.push_back(lane - 1);
    has_one_before.push_back(e_.ir.getTrue());
  }
  Value* before = e_.ir.CreateShuffleVector(distances_, lanes_before);
  Value* descends = e_.ir.CreateICmpULE(distances_, before);
  wrong = e_.ir.CreateOr(wrong, e_.ir.CreateAnd(descends, llvm::ConstantVector::get(has_one_before)));
  for (unsigned chunk = 1; chunk < e_.chunks(); ++chunk)
    wrong = e_.ir.CreateOr(wrong, e_.ir.CreateICmpNE(distances(chunk), distances_));
  Value* right = e_.ir.CreateAnd(e_.ir.CreateIsNull(mask_bits(e_, wrong)), all_active(e_, a_));
  return e_.ir.CreateAnd(right, reaches(e_, a_, last));
}

Value* Window::is_readable() {
  constexpr std::uint64_t page = 4096;
  Value* readable = e_.ir.getTrue();
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) {
    Value* address = e_.ir.CreatePtrToInt(half(chunk, 0), e_.ir.getInt64Ty());
    Value* in_page = e_.ir.CreateAnd(address, page - 1);
    readable = e_.ir.CreateAnd(readable, e_.ir.CreateICmpULE(in_page, e_.ir.getInt64(page - 4 * window_dwords)));
  }
  return readable;
}

Chunks Window::load() {
  Value* places = find_places();
  Chunks values;
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) {
    Value* low = e_.ir.CreateAlignedLoad(Emitter::lanes(e_.i32()), half(chunk, 0), unaligned);
    Value* high = e_.ir.CreateAlignedLoad(Emitter::lanes(e_.i32()), half(chunk, 1), unaligned);
    values[chunk] = e_.ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {low, places, high});
  }
  return values;
}

void Window::store(const Chunks& values) {
  const std::array<Value*, 2> used = find_used();
  std::vector<std::uint32_t> numbers(lanes_per_chunk);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value* lanes = llvm::ConstantDataVector::get(e_.ir.getContext(), numbers);
  Value* in_low = e_.ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask_bits(e_, used[0]));
  const std::array<Value*, 2> lane_of_place = {
      expand(lanes, used[0]), expand(e_.ir.CreateAdd(lanes, e_.splat(e_.ir.CreateZExt(in_low, e_.i32()))), used[1])};
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    for (unsigned h = 0; h < 2; ++h) {
      Value* value =
          e_.ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {}, {values[chunk], lane_of_place[h]});
      e_.ir.CreateMaskedStore(value, half(chunk, h), unaligned, used[h]);
    }
}

Value* Window::distances(unsigned chunk) {
  return e_.ir.CreateSub(a_.offsets[chunk], e_.splat(lane_0_offset(e_, a_, chunk)));
}

Value* Window::half(unsigned chunk, unsigned h) {
  return displaced(e_, first_pointer(e_, a_, chunk), std::uint64_t{4} * lanes_per_chunk * h);
}

Value* Window::expand(Value* values, Value* mask) {
  return e_.ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_expand, {values->getType()}, {values, zeros(e_), mask});
}

Value* Window::find_places() {
  Value* places = e_.ir.CreateLShr(distances_, 2);
  return offset_type(a_)->isIntegerTy(32) ? places : e_.ir.CreateTrunc(places, Emitter::lanes(e_.i32()));
}

std::array<Value*, 2> Window::find_used() {
  Value* used = e_.ir.CreateOrReduce(e_.ir.CreateShl(e_.splat(1U), find_places()));
  std::array<Value*, 2> of_halves = {};
  for (unsigned h = 0; h < 2; ++h) {
    Value* bits = e_.ir.CreateTrunc(e_.ir.CreateLShr(used, lanes_per_chunk * h), e_.ir.getInt16Ty());
    of_halves[h] = e_.ir.CreateBitCast(bits, Emitter::lanes(e_.i1()));
  }
  return of_halves;
}

}  // namespace softgpu::compute
