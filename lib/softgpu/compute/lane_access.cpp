#include "lane_access.hpp"

#include <bit>
#include <numeric>
#include <vector>

#include <llvm/IR/Constants.h>

#include "wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
const llvm::Align unaligned(1);

/// 0, step, 2 * step, ... of the offsets' type.
Value* steps(Emitter& e, const LaneAddresses& a, std::uint32_t step) {
  auto* type = llvm::cast<llvm::FixedVectorType>(a.offsets->getType())->getElementType();
  std::vector<llvm::Constant*> values;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
    values.push_back(llvm::ConstantInt::get(type, std::uint64_t{lane} * step));
  static_cast<void>(e);
  return llvm::ConstantVector::get(values);
}

Value* bits(Emitter& e, Value* mask) { return e.ir.CreateBitCast(mask, e.ir.getInt16Ty()); }

Value* pointer(Emitter& e, const LaneAddresses& a, Value* offset) {
  if (a.base != nullptr) return e.ir.CreateGEP(e.ir.getInt8Ty(), a.base, offset);
  llvm::Type* type = e.ir.getPtrTy();
  return e.ir.CreateIntToPtr(offset, offset->getType()->isVectorTy() ? Emitter::lanes(type) : type);
}

Value* first_pointer(Emitter& e, const LaneAddresses& a) {
  return pointer(e, a, e.ir.CreateExtractElement(a.offsets, std::uint64_t{0}));
}

Value* plus(Emitter& e, Value* offsets, std::uint64_t amount) {
  if (amount == 0) return offsets;
  auto* type = llvm::cast<llvm::FixedVectorType>(offsets->getType())->getElementType();
  return e.ir.CreateAdd(offsets, e.splat(llvm::ConstantInt::get(type, amount)));
}

/// Whether each active lane's address is lane 0's plus `step` a lane (i1).
Value* follow(Emitter& e, const LaneAddresses& a, std::uint32_t step) {
  Value* expected = e.splat(e.ir.CreateExtractElement(a.offsets, std::uint64_t{0}));
  if (step != 0) expected = e.ir.CreateAdd(expected, steps(e, a, step));
  Value* wrong = e.ir.CreateAnd(e.ir.CreateICmpNE(a.offsets, expected), a.active);
  return e.ir.CreateIsNull(bits(e, wrong));
}

Value* is_full(Emitter& e, const LaneAddresses& a) {
  return e.ir.CreateICmpEQ(bits(e, a.active), e.ir.getInt16(0xffff));
}

/// A value for each dword, from whichever block was taken.
class Merge {
public:
  Merge(Emitter& e, unsigned dwords) : e_(e), values_(dwords), end_(e.new_block("accessed")) {}

  void arrive(std::vector<Value*> values) {
    for (unsigned d = 0; d < values_.size(); ++d) values_[d].emplace_back(e_.ir.GetInsertBlock(), values[d]);
    e_.ir.CreateBr(end_);
  }
  std::vector<Value*> finish() {
    e_.ir.SetInsertPoint(end_);
    std::vector<Value*> result;
    for (const auto& incoming : values_) {
      auto* phi = e_.ir.CreatePHI(incoming.front().second->getType(), static_cast<unsigned>(incoming.size()));
      for (const auto& [block, value] : incoming) phi->addIncoming(value, block);
      result.push_back(phi);
    }
    return result;
  }

private:
  Emitter& e_;
  std::vector<std::vector<std::pair<llvm::BasicBlock*, Value*>>> values_;
  llvm::BasicBlock* end_;
};

/// Emits `condition ? the block entered now : the block returned`.
llvm::BasicBlock* enter_if(Emitter& e, Value* condition, const char* name) {
  llvm::BasicBlock* taken = e.new_block(name);
  llvm::BasicBlock* otherwise = e.new_block("otherwise");
  e.ir.CreateCondBr(condition, taken, otherwise);
  e.ir.SetInsertPoint(taken);
  return otherwise;
}

std::vector<Value*> load_dwords(Emitter& e, const LaneAddresses& a, const std::vector<Value*>& inactive) {
  const auto dwords = static_cast<unsigned>(inactive.size());
  llvm::Type* chunk_type = Emitter::lanes(e.i32());
  Merge merge(e, dwords);

  Value* consecutive = follow(e, a, 4 * dwords);
  if (dwords > 1) consecutive = e.ir.CreateAnd(consecutive, is_full(e, a));
  llvm::BasicBlock* otherwise = enter_if(e, consecutive, "consecutive");
  std::vector<Value*> values;
  if (dwords == 1) {
    values.push_back(e.ir.CreateMaskedLoad(chunk_type, first_pointer(e, a), unaligned, a.active, inactive[0]));
  } else {
    auto* wide = llvm::FixedVectorType::get(e.i32(), lanes_per_chunk * dwords);
    Value* all = e.ir.CreateAlignedLoad(wide, first_pointer(e, a), unaligned);
    for (unsigned d = 0; d < dwords; ++d) {
      std::vector<int> elements;
      for (unsigned lane = 0; lane < lanes_per_chunk; ++lane) elements.push_back(static_cast<int>(lane * dwords + d));
      values.push_back(e.ir.CreateShuffleVector(all, elements));
    }
  }
  merge.arrive(values);

  // Not consecutive: some lane is active, so that an address which all active lanes share with lane 0 is mapped.
  e.ir.SetInsertPoint(otherwise);
  Value* same = follow(e, a, 0);
  if (dwords > 1) same = e.ir.CreateAnd(same, e.ir.CreateIsNotNull(bits(e, a.active)));
  otherwise = enter_if(e, same, "same");
  values.clear();
  Value* address = first_pointer(e, a);
  for (unsigned d = 0; d < dwords; ++d) {
    Value* value = e.ir.CreateAlignedLoad(
        e.i32(), e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), address, std::uint64_t{4} * d), unaligned);
    values.push_back(e.ir.CreateSelect(a.active, e.splat(value), inactive[d]));
  }
  merge.arrive(values);

  e.ir.SetInsertPoint(otherwise);
  values.clear();
  for (unsigned d = 0; d < dwords; ++d) {
    Value* pointers = pointer(e, a, plus(e, a.offsets, std::uint64_t{4} * d));
    values.push_back(e.ir.CreateMaskedGather(chunk_type, pointers, unaligned, a.active, inactive[d]));
  }
  merge.arrive(values);
  return merge.finish();
}

/// The byte at each active lane's address, from the aligned dword that holds it: that never crosses into another page.
Value* gather_byte(Emitter& e, const LaneAddresses& a, std::uint64_t displacement) {
  Value* offsets = plus(e, a.offsets, displacement);
  auto* element = llvm::cast<llvm::FixedVectorType>(offsets->getType())->getElementType();
  Value* aligned = e.ir.CreateAnd(offsets, e.splat(llvm::ConstantInt::getSigned(element, -4)));
  Value* zero = llvm::Constant::getNullValue(Emitter::lanes(e.i32()));
  Value* dword =
      e.ir.CreateMaskedGather(Emitter::lanes(e.i32()), pointer(e, a, aligned), llvm::Align(4), a.active, zero);
  Value* shift =
      e.ir.CreateShl(e.ir.CreateAnd(e.ir.CreateZExtOrTrunc(offsets, Emitter::lanes(e.i32())), e.splat(3U)), 3);
  return e.ir.CreateAnd(e.ir.CreateLShr(dword, shift), e.splat(0xffU));
}

/// 1 or 2 bytes a lane, zero-extended; inactive lanes get anything.
Value* load_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  Merge merge(e, 1);
  Value* consecutive = e.ir.CreateAnd(follow(e, a, bytes), is_full(e, a));
  llvm::BasicBlock* otherwise = enter_if(e, consecutive, "consecutive");
  Value* narrow = e.ir.CreateAlignedLoad(Emitter::lanes(e.ir.getIntNTy(8 * bytes)), first_pointer(e, a), unaligned);
  merge.arrive({e.ir.CreateZExt(narrow, Emitter::lanes(e.i32()))});

  e.ir.SetInsertPoint(otherwise);
  Value* value = gather_byte(e, a, 0);
  if (bytes == 2) value = e.ir.CreateOr(value, e.ir.CreateShl(gather_byte(e, a, 1), 8));
  merge.arrive({value});
  return merge.finish().front();
}

void store_dwords(Emitter& e, const LaneAddresses& a, const std::vector<Value*>& values) {
  const auto dwords = static_cast<unsigned>(values.size());
  Merge merge(e, 0);
  Value* consecutive = follow(e, a, 4 * dwords);
  if (dwords > 1) consecutive = e.ir.CreateAnd(consecutive, is_full(e, a));
  llvm::BasicBlock* otherwise = enter_if(e, consecutive, "consecutive");
  if (dwords == 1) {
    e.ir.CreateMaskedStore(values[0], first_pointer(e, a), unaligned, a.active);
  } else {
    // Both operands of a shuffle have one length: the dwords are joined in pairs, a missing fourth is anything.
    std::vector<int> join(2 * lanes_per_chunk);
    std::iota(join.begin(), join.end(), 0);
    Value* all = e.ir.CreateShuffleVector(values[0], values[1], join);
    if (dwords > 2) {
      std::vector<int> join_pairs(4 * lanes_per_chunk);
      std::iota(join_pairs.begin(), join_pairs.end(), 0);
      Value* last = dwords == 4 ? values[3] : llvm::PoisonValue::get(values[2]->getType());
      all = e.ir.CreateShuffleVector(all, e.ir.CreateShuffleVector(values[2], last, join), join_pairs);
    }
    std::vector<int> interleave;
    for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
      for (unsigned d = 0; d < dwords; ++d) interleave.push_back(static_cast<int>(d * lanes_per_chunk + lane));
    e.ir.CreateAlignedStore(e.ir.CreateShuffleVector(all, interleave), first_pointer(e, a), unaligned);
  }
  merge.arrive({});
  e.ir.SetInsertPoint(otherwise);
  for (unsigned d = 0; d < dwords; ++d)
    e.ir.CreateMaskedScatter(values[d], pointer(e, a, plus(e, a.offsets, std::uint64_t{4} * d)), unaligned, a.active);
  merge.arrive({});
  merge.finish();
}

void store_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, unsigned chunk, Value* value) {
  Merge merge(e, 0);
  Value* consecutive = e.ir.CreateAnd(follow(e, a, bytes), is_full(e, a));
  llvm::BasicBlock* otherwise = enter_if(e, consecutive, "consecutive");
  Value* narrow = e.ir.CreateTrunc(value, Emitter::lanes(e.ir.getIntNTy(8 * bytes)));
  e.ir.CreateAlignedStore(narrow, first_pointer(e, a), unaligned);
  merge.arrive({});

  e.ir.SetInsertPoint(otherwise);
  Value* addresses = a.offsets;
  if (a.base != nullptr) {
    Value* base = e.splat(e.ir.CreatePtrToInt(a.base, e.i64()));
    addresses = e.ir.CreateAdd(base, e.ir.CreateZExt(a.offsets, Emitter::lanes(e.i64())));
  }
  put_lane_addresses(e, chunk, addresses);
  put_lane_data(e, chunk, 0, value);
  Value* lanes = e.ir.CreateShl(e.ir.CreateZExt(bits(e, a.active), e.i64()), lanes_per_chunk * chunk);
  e.call(reinterpret_cast<const void*>(&runtime::store), e.ir.getVoidTy(),
         {e.state(), lanes, e.ir.getInt64(0), e.ir.getInt32(static_cast<std::uint32_t>(runtime::Segment::global)),
          e.ir.getInt32(bytes)});
  merge.arrive({});
  merge.finish();
}

Value* in_state(Emitter& e, std::size_t offset) {
  return e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offset);
}

}  // namespace

Value* fit(Emitter& e, const AccessFormat& format, Value* raw, Value* old) {
  Value* value = raw;
  if (format.bytes < 4 && format.extension == AccessFormat::Extension::sign) {
    const unsigned unused = 32 - 8 * format.bytes;
    value = e.ir.CreateAShr(e.ir.CreateShl(raw, unused), unused);
  }
  switch (format.part) {
  case AccessFormat::Part::low_half:
    return e.ir.CreateOr(e.ir.CreateAnd(old, e.splat(0xffff0000U)), e.ir.CreateAnd(value, e.splat(0xffffU)));
  case AccessFormat::Part::high_half:
    return e.ir.CreateOr(e.ir.CreateAnd(old, e.splat(0xffffU)), e.ir.CreateShl(value, 16));
  case AccessFormat::Part::whole:
    break;
  }
  return value;
}

Value* part_to_store(Emitter& e, const AccessFormat& format, Value* value) {
  return format.part == AccessFormat::Part::high_half ? e.ir.CreateLShr(value, 16) : value;
}

Operand part_of(const Operand& tuple, unsigned first, unsigned dwords) {
  Operand part = tuple;
  part.index += first;
  part.dwords = dwords;
  return part;
}

void load_chunk(Emitter& e, const Operand& destination, const AccessFormat& format, unsigned chunk,
                const LaneAddresses& addresses) {
  if (!destination.is_vector() || destination.dwords != format.dwords()) e.unsupported("destination");
  Value* zero = llvm::Constant::getNullValue(Emitter::lanes(e.i32()));
  if (format.bytes < 4) {
    Value* raw = load_small(e, addresses, format.bytes);
    if (addresses.out_of_range_is_zero) raw = e.ir.CreateSelect(addresses.active, raw, zero);
    e.set_vector(destination, chunk, fit(e, format, raw, e.vgpr(destination.index, chunk)));
    return;
  }
  std::vector<Value*> inactive;
  for (unsigned d = 0; d < format.dwords(); ++d) {
    Value* old = e.vgpr(destination.index + d, chunk);
    inactive.push_back(addresses.out_of_range_is_zero ? e.ir.CreateSelect(e.exec_mask(chunk), zero, old) : old);
  }
  const auto values = load_dwords(e, addresses, inactive);
  for (unsigned d = 0; d < format.dwords(); ++d) e.set_vgpr_unmasked(destination.index + d, chunk, values[d]);
}

void store_chunk(Emitter& e, const Operand& source, const AccessFormat& format, unsigned chunk,
                 const LaneAddresses& addresses) {
  if (!source.is_vector() || source.dwords != format.dwords()) e.unsupported("source");
  if (format.bytes < 4)
    return store_small(e, addresses, format.bytes, chunk, part_to_store(e, format, e.vector(source, chunk)));
  std::vector<Value*> values;
  for (unsigned d = 0; d < format.dwords(); ++d) values.push_back(e.vector(source, chunk, d));
  store_dwords(e, addresses, values);
}

void put_lane_addresses(Emitter& e, unsigned chunk, Value* addresses) {
  e.ir.CreateAlignedStore(addresses, in_state(e, offsetof(WaveState, lane_addresses) + std::size_t{128} * chunk),
                          llvm::Align(64));
}

void put_lane_data(Emitter& e, unsigned chunk, unsigned dword, Value* value) {
  e.ir.CreateAlignedStore(
      value, in_state(e, offsetof(WaveState, lane_data) + std::size_t{256} * dword + std::size_t{64} * chunk),
      llvm::Align(64));
}

Value* lane_data(Emitter& e, unsigned chunk, unsigned dword) {
  return e.ir.CreateAlignedLoad(
      Emitter::lanes(e.i32()),
      in_state(e, offsetof(WaveState, lane_data) + std::size_t{256} * dword + std::size_t{64} * chunk),
      llvm::Align(64));
}

void put_source(Emitter& e, const Operand& source, const AccessFormat& format) {
  if (!source.is_vector() || source.dwords != format.dwords()) e.unsupported("source");
  for (unsigned chunk = 0; chunk < chunk_count; ++chunk)
    for (unsigned d = 0; d < format.dwords(); ++d)
      put_lane_data(e, chunk, d, part_to_store(e, format, e.vector(source, chunk, d)));
}

void take_destination(Emitter& e, const Operand& destination, const AccessFormat& format) {
  if (!destination.is_vector() || destination.dwords != format.dwords()) e.unsupported("destination");
  for (unsigned chunk = 0; chunk < chunk_count; ++chunk)
    for (unsigned d = 0; d < format.dwords(); ++d) {
      Value* raw = lane_data(e, chunk, d);
      e.set_vector(destination, chunk, fit(e, format, raw, e.vgpr(destination.index + d, chunk)), d);
    }
}

void honour_cache_hints(Emitter& e, const Instruction& instruction) {
  for (const char* hint : {"slc", "scc", "nv"}) static_cast<void>(instruction.has(hint));
  if (instruction.has("glc")) e.ir.CreateFence(llvm::AtomicOrdering::AcquireRelease, llvm::SyncScope::SingleThread);
}

}  // namespace softgpu::compute
