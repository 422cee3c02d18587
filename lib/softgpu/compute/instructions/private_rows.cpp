#include "softgpu/compute/instructions/private_rows.hpp"

#include <cstddef>
#include <vector>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;
using runtime::Segment;

AddressWords some_lanes_address(Emitter& e, const Operand& vector) {
  llvm::BasicBlock* first = e.ir.GetInsertBlock();
  llvm::BasicBlock* other = e.new_block("lane_0_is_disabled");
  llvm::BasicBlock* done = e.new_block("some_lane");
  AddressWords words = {};
  for (unsigned word = 0; word < vector.dwords; ++word)
    words.at(word) = e.ir.CreateExtractElement(e.vector(vector, 0, word), std::uint64_t{0});
  e.ir.CreateCondBr(e.ir.CreateTrunc(e.exec(), e.i1()), done, other);
  e.ir.SetInsertPoint(other);
  AddressWords others = {};
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

namespace {

/// Whether the enabled lanes have this address (i1).
Value* have_address(Emitter& e, const Operand& vector, const AddressWords& address) {
  Value* wrong = zeros(e);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* differs = zeros(e);
    for (unsigned word = 0; word < vector.dwords; ++word)
      differs = e.ir.CreateOr(differs, e.ir.CreateXor(e.vector(vector, chunk, word), e.splat(address.at(word))));
    wrong = e.ir.CreateOr(wrong, e.ir.CreateSelect(e.exec_mask(chunk), differs, zeros(e)));
  }
  return e.ir.CreateIsNull(mask_bits(e, e.ir.CreateIsNotNull(wrong)));
}

}  // namespace

PrivateRow private_row(Emitter& e, Segment segment, const AddressOperands& operands, const AddressWords& address,
                       std::uint32_t bytes) {
  Value* is_there = operands.vector.is_vector() ? have_address(e, operands.vector, address) : e.ir.getTrue();
  Value* offset = base_offset(e, operands);
  if (operands.vector.is_vector()) offset = e.ir.CreateAdd(offset, scratch_offset(e, address[0], e.i64()));
  if (segment == Segment::flat) offset = e.ir.CreateAnd(offset, 0xffffffff);
  Value* size = e.ir.CreateZExt(e.field(offsetof(WaveState, scratch_bytes_per_lane), e.i32()), e.i64());
  Value* is_inside = e.ir.CreateAnd(e.ir.CreateICmpUGE(size, e.ir.getInt64(bytes)),
                                    e.ir.CreateICmpULE(offset, e.ir.CreateSub(size, e.ir.getInt64(bytes))));
  is_there = e.ir.CreateAnd(is_there, e.ir.CreateAnd(is_inside, e.ir.CreateIsNull(e.ir.CreateAnd(offset, 3))));
  return {offset, is_there};
}

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

}  // namespace softgpu::compute
