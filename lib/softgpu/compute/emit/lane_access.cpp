#include "softgpu/compute/emit/lane_access.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "softgpu/compute/emit/lane_shape.hpp"
#include "softgpu/compute/emit/lane_window.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

/// Chunks of dword after dword.
using Values = std::vector<Chunks>;

/// Aligned eight bytes are accessed at once where others see them (docs/memory_model.md). LLVM may split a load or
/// store, or load twice, unless it is volatile.
bool keeps_whole(const LaneAddresses& a, std::size_t dwords) { return dwords > 1 && !a.in_lds; }

/// The blocks that access memory in one way each, and the block where they meet with the loaded values.
class Ways {
public:
  Ways(Emitter& e, std::size_t dwords) : e_(e), dwords_(dwords), end_(e.new_block("accessed")) {}

  /// Emission goes on in a block that runs if `condition` holds; otherwise() enters the block for the other case.
  void when(Value* condition) {
    llvm::BasicBlock* taken = e_.new_block("way");
    otherwise_ = e_.new_block("otherwise");
    e_.ir.CreateCondBr(condition, taken, otherwise_);
    e_.ir.SetInsertPoint(taken);
  }
  void otherwise() { e_.ir.SetInsertPoint(otherwise_); }
  /// After when(): the way is for one of two more conditions only, of which the second is asked where the first does
  /// not hold. Returns the value that goes with the one that holds.
  template <class Second>
  Value* only_if(Value* first, Value* value, Second&& second, Value* other_value) {
    llvm::BasicBlock* asks_second = e_.new_block("second");
    llvm::BasicBlock* taken = e_.new_block("way");
    auto* which = llvm::PHINode::Create(value->getType(), 2, "", taken);
    which->addIncoming(value, e_.ir.GetInsertBlock());
    e_.ir.CreateCondBr(first, taken, asks_second);
    e_.ir.SetInsertPoint(asks_second);
    Value* holds = second();
    which->addIncoming(other_value, e_.ir.GetInsertBlock());
    e_.ir.CreateCondBr(holds, taken, otherwise_);
    e_.ir.SetInsertPoint(taken);
    return which;
  }

  void arrive(Values values = {}) {
    arrivals_.emplace_back(e_.ir.GetInsertBlock(), std::move(values));
    e_.ir.CreateBr(end_);
  }
  Values finish() {
    e_.ir.SetInsertPoint(end_);
    Values result(dwords_);
    for (std::size_t d = 0; d < dwords_; ++d)
      for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) {
        auto* merged = e_.ir.CreatePHI(Emitter::lanes(e_.i32()), static_cast<unsigned>(arrivals_.size()));
        for (const auto& [block, values] : arrivals_) merged->addIncoming(values[d][chunk], block);
        result[d][chunk] = merged;
      }
    return result;
  }

private:
  Emitter& e_;
  std::size_t dwords_;
  llvm::BasicBlock* end_;
  llvm::BasicBlock* otherwise_ = nullptr;
  std::vector<std::pair<llvm::BasicBlock*, Values>> arrivals_;
};

/// Prefetches for the wavefront after the next, if each wavefront goes on where the previous one ended. Without it,
/// every page begins with a wait for memory.
void prefetch(Emitter& e, Value* from, unsigned chunk_bytes) {
  const unsigned distance = 2 * e.chunks() * chunk_bytes;
  for (unsigned line = 0; line < chunk_bytes; line += 64) {
    Value* place = e.ir.CreateConstGEP1_64(e.ir.getInt8Ty(), from, distance + line);
    e.ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {place->getType()},
                         {place, e.ir.getInt32(0), e.ir.getInt32(3), e.ir.getInt32(1)});
  }
}

/// The first `count` of `size` dwords in memory. The other dwords are undefined, and their memory is not touched.
Value* load_first_dwords(Emitter& e, Value* from, unsigned count, unsigned size, bool is_volatile) {
  auto* type = llvm::FixedVectorType::get(e.i32(), size);
  if (count == size) return e.ir.CreateAlignedLoad(type, from, unaligned, is_volatile);
  std::vector<llvm::Constant*> mask;
  for (unsigned i = 0; i < size; ++i) mask.push_back(e.ir.getInt1(i < count));
  return e.ir.CreateMaskedLoad(type, from, unaligned, llvm::ConstantVector::get(mask), llvm::PoisonValue::get(type));
}

/// One vector load a chunk, whose dwords are dealt out to the registers; `step` dwords from lane to lane.
Values load_consecutive(Emitter& e, const LaneAddresses& a, const Values& inactive, unsigned step) {
  const auto dwords = static_cast<unsigned>(inactive.size());
  Values values(dwords);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    if (dwords == 1) {
      Value* from = accessible_pointer(e, a, chunk);
      if (!a.in_lds) prefetch(e, from, 4 * lanes_per_chunk);
      values[0][chunk] =
          e.ir.CreateMaskedLoad(Emitter::lanes(e.i32()), from, unaligned, a.active[chunk], inactive[0][chunk]);
      continue;
    }
    Value* from = first_pointer(e, a, chunk);
    const unsigned size = lanes_per_chunk * step;
    if (!a.in_lds) prefetch(e, from, 4 * size);
    Value* all = load_first_dwords(e, from, size - (step - dwords), size, keeps_whole(a, dwords));
    for (unsigned d = 0; d < dwords; ++d) {
      std::vector<int> elements;
      for (unsigned lane = 0; lane < lanes_per_chunk; ++lane) elements.push_back(static_cast<int>(lane * step + d));
      values[d][chunk] = e.ir.CreateShuffleVector(all, elements);
    }
  }
  return values;
}

/// Calls `access(first dword, dwords)` for the parts that a lane accesses at once: two dwords as long as there are two.
template <class Access>
void for_each_part(std::size_t dwords, Access&& access) {
  for (std::size_t d = 0; d < dwords; d += 2) access(d, std::min<std::size_t>(2, dwords - d));
}

/// One or two dwords of a chunk's lanes as one number a lane, and back.
Value* joined(Emitter& e, const Values& values, std::size_t first, std::size_t dwords, unsigned chunk) {
  return dwords == 1 ? values[first][chunk] : e.combine(values[first][chunk], values[first + 1][chunk]);
}
void split(Emitter& e, Value* part, Values& values, std::size_t first, std::size_t dwords, unsigned chunk) {
  values[first][chunk] = dwords == 1 ? part : e.low_half(part);
  if (dwords == 2) values[first + 1][chunk] = e.high_half(part);
}

/// Scalar loads for each chunk.
Values load_uniform(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  Values values(inactive.size());
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* from = accessible_pointer(e, a, chunk);
    for_each_part(values.size(), [&](std::size_t d, std::size_t dwords) {
      Value* place = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), from, 4 * d);
      Value* part = e.ir.CreateAlignedLoad(dwords == 1 ? e.i32() : e.i64(), place, unaligned, keeps_whole(a, dwords));
      split(e, e.splat(part), values, d, dwords, chunk);
      for (std::size_t i = d; i < d + dwords; ++i)
        values[i][chunk] = e.ir.CreateSelect(a.active[chunk], values[i][chunk], inactive[i][chunk]);
    });
  }
  return values;
}

/// Whether LLVM makes a branch a lane of a gather or scatter: it takes minutes to allocate registers for a kernel with
/// hundreds of gathers and scatters.
bool is_branch_a_lane(Emitter& e, const LaneAddresses& a) {
  return e.vectors() != HostVectors::avx512 && !llvm::isa<llvm::Constant>(a.active[0]);
}

/// The runtime's gather or scatter, for `bytes` a lane.
void call_for_lanes(Emitter& e, void (*function)(WaveState*, std::uint64_t, std::uint32_t), const LaneAddresses& a,
                    std::uint32_t bytes) {
  Chunks addresses;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) addresses[chunk] = address_numbers(e, a, chunk);
  put_lane_addresses(e, addresses);
  e.call(reinterpret_cast<const void*>(function), e.ir.getVoidTy(),
         {e.state(), e.mask_from_chunks(a.active), e.ir.getInt32(bytes)});
}

/// Lanes that are not active get anything.
Values load_lane_by_lane(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  call_for_lanes(e, runtime::gather, a, bytes);
  Values values((bytes + 3) / 4);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < values.size(); ++d) values[d][chunk] = lane_data(e, chunk, d);
  return values;
}

void store_lane_by_lane(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, const Values& values) {
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < values.size(); ++d) put_lane_data(e, chunk, d, values[d][chunk]);
  call_for_lanes(e, runtime::scatter, a, bytes);
}

Values load_lane_by_lane(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  Values values = load_lane_by_lane(e, a, static_cast<std::uint32_t>(4 * inactive.size()));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (std::size_t d = 0; d < values.size(); ++d)
      values[d][chunk] = e.ir.CreateSelect(a.active[chunk], values[d][chunk], inactive[d][chunk]);
  return values;
}

/// Whether only the runtime knows what a lane sees there.
bool goes_through_caches(Emitter& e, const LaneAddresses& a) { return e.has_caches() && !a.in_lds; }

Values load_gathered(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  if (is_branch_a_lane(e, a)) return load_lane_by_lane(e, a, inactive);
  Values values(inactive.size());
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for_each_part(values.size(), [&](std::size_t d, std::size_t dwords) {
      Value* otherwise = joined(e, inactive, d, dwords, chunk);
      Value* part = e.ir.CreateMaskedGather(otherwise->getType(), lane_pointers(e, a, chunk, 4 * d), unaligned,
                                            a.active[chunk], otherwise);
      split(e, part, values, d, dwords, chunk);
    });
  return values;
}

Value* is(Emitter& e, Value* shape, std::uint64_t which) { return e.ir.CreateICmpEQ(shape, e.ir.getInt64(which)); }

Values load_dword(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  Value* shape = find_shape(e, a);
  Ways ways(e, 1);
  ways.when(is(e, shape, lane_shape::consecutive));
  ways.arrive(load_consecutive(e, a, inactive, 1));
  ways.otherwise();
  ways.when(is(e, shape, lane_shape::uniform));
  ways.arrive(load_uniform(e, a, inactive));
  ways.otherwise();
  if (Window::is_possible(e)) {
    ways.when(e.ir.CreateNot(is(e, shape, lane_shape::scattered)));
    Window window(e, a, shape);
    // A branch, not a selection: the addresses do not wait for the answer.
    Value* before_lane_0 = ways.only_if(
        window.is_in_lines(), window.from_line(), [&] { return window.is_in_pages(); }, window.from_lane_0());
    ways.arrive({window.load(before_lane_0)});
    ways.otherwise();
  }
  ways.arrive(load_gathered(e, a, inactive));
  return ways.finish();
}

/// Two to four dwords a lane.
Values load_tuples(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  const auto dwords = static_cast<std::uint32_t>(inactive.size());
  Ways ways(e, dwords);
  ways.when(e.ir.CreateAnd(follow(e, a, 4 * dwords), all_active(e, a)));
  ways.arrive(load_consecutive(e, a, inactive, dwords));
  ways.otherwise();
  if (dwords == 3) {  // compilers load three of four dwords if the last is not used
    ways.when(e.ir.CreateAnd(follow(e, a, 16), all_active(e, a)));
    ways.arrive(load_consecutive(e, a, inactive, 4));
    ways.otherwise();
  }
  ways.when(follow(e, a, 0));
  ways.arrive(load_uniform(e, a, inactive));
  ways.otherwise();
  ways.arrive(load_gathered(e, a, inactive));
  return ways.finish();
}

Values load_dwords(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  if (goes_through_caches(e, a)) return load_lane_by_lane(e, a, inactive);
  if (a.is_consecutive) return load_consecutive(e, a, inactive, static_cast<unsigned>(inactive.size()));
  return inactive.size() == 1 ? load_dword(e, a, inactive) : load_tuples(e, a, inactive);
}

/// The aligned dwords that hold the bytes at these addresses (<16 x i64>): an aligned dword lies in one page.
Value* gather_aligned_dwords(Emitter& e, Value* addresses, Value* active) {
  Value* aligned =
      e.ir.CreateIntToPtr(e.ir.CreateAnd(addresses, e.splat64(~std::uint64_t{3})), Emitter::lanes(e.ir.getPtrTy()));
  return e.ir.CreateMaskedGather(Emitter::lanes(e.i32()), aligned, llvm::Align(4), active, zeros(e));
}

/// 1 or 2 bytes at each active lane's address. An aligned short is read at once; one in two dwords is read in two
/// parts.
Value* gather_small(Emitter& e, const LaneAddresses& a, unsigned chunk, std::uint32_t bytes) {
  Value* addresses = address_numbers(e, a, chunk);
  Value* byte = e.ir.CreateAnd(e.ir.CreateTrunc(addresses, Emitter::lanes(e.i32())), e.splat(3U));
  Value* value = e.ir.CreateLShr(gather_aligned_dwords(e, addresses, a.active[chunk]), e.ir.CreateShl(byte, 3));
  if (bytes == 1) return e.ir.CreateAnd(value, e.splat(0xffU));
  Value* crosses = e.ir.CreateAnd(e.ir.CreateICmpEQ(byte, e.splat(3U)), a.active[chunk]);
  Value* next = gather_aligned_dwords(e, e.ir.CreateAdd(addresses, e.splat64(1)), crosses);
  return e.ir.CreateAnd(e.ir.CreateOr(value, e.ir.CreateShl(next, 8)), e.splat(0xffffU));
}

Chunks gather_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  if (is_branch_a_lane(e, a)) return load_lane_by_lane(e, a, bytes).front();
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) values[chunk] = gather_small(e, a, chunk, bytes);
  return values;
}

/// 1 or 2 bytes a lane, zero-extended; lanes that are not active get anything.
Chunks load_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  if (goes_through_caches(e, a)) return load_lane_by_lane(e, a, bytes).front();
  Ways ways(e, 1);
  Values values(1);
  ways.when(e.ir.CreateAnd(follow(e, a, bytes), all_active(e, a)));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    llvm::Type* narrow = Emitter::lanes(e.ir.getIntNTy(8 * bytes));
    values[0][chunk] =
        e.ir.CreateZExt(e.ir.CreateAlignedLoad(narrow, first_pointer(e, a, chunk), unaligned), Emitter::lanes(e.i32()));
  }
  ways.arrive(values);
  ways.otherwise();
  ways.arrive({gather_small(e, a, bytes)});
  return ways.finish().front();
}

/// One vector of the dwords of a chunk's lanes in memory order.
Value* interleave(Emitter& e, const Values& values, unsigned chunk) {
  const auto dwords = static_cast<unsigned>(values.size());
  const auto join = [&](Value* first, Value* second, unsigned lanes_each) {
    std::vector<int> elements(std::size_t{2} * lanes_each);
    std::iota(elements.begin(), elements.end(), 0);
    return e.ir.CreateShuffleVector(first, second, elements);
  };
  Value* all = join(values[0][chunk], values[1][chunk], lanes_per_chunk);
  if (dwords > 2) {
    // Both operands of a shuffle have one length: a missing fourth dword is anything.
    Value* last = dwords == 4 ? values[3][chunk] : llvm::PoisonValue::get(values[2][chunk]->getType());
    all = join(all, join(values[2][chunk], last, lanes_per_chunk), 2 * lanes_per_chunk);
  }
  std::vector<int> order;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
    for (unsigned d = 0; d < dwords; ++d) order.push_back(static_cast<int>(d * lanes_per_chunk + lane));
  return e.ir.CreateShuffleVector(all, order);
}

void store_consecutive(Emitter& e, const LaneAddresses& a, const Values& values) {
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    if (values.size() == 1)
      e.ir.CreateMaskedStore(values[0][chunk], accessible_pointer(e, a, chunk), unaligned, a.active[chunk]);
    else
      e.ir.CreateAlignedStore(interleave(e, values, chunk), first_pointer(e, a, chunk), unaligned,
                              keeps_whole(a, values.size()));
  }
}

void store_scattered(Emitter& e, const LaneAddresses& a, const Values& values) {
  if (is_branch_a_lane(e, a)) return store_lane_by_lane(e, a, static_cast<std::uint32_t>(4 * values.size()), values);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for_each_part(values.size(), [&](std::size_t d, std::size_t dwords) {
      e.ir.CreateMaskedScatter(joined(e, values, d, dwords, chunk), lane_pointers(e, a, chunk, 4 * d), unaligned,
                               a.active[chunk]);
    });
}

void store_dword(Emitter& e, const LaneAddresses& a, const Values& values) {
  Value* shape = find_shape(e, a);
  Ways ways(e, 0);
  ways.when(is(e, shape, lane_shape::consecutive));
  store_consecutive(e, a, values);
  ways.arrive();
  ways.otherwise();
  if (Window::is_possible(e)) {
    static_assert(lane_shape::scattered == 0 && lane_shape::uniform == 1);
    ways.when(e.ir.CreateICmpUGT(shape, e.ir.getInt64(lane_shape::uniform)));
    Window window(e, a, shape);
    window.store(values[0], e.ir.CreateSelect(window.is_in_lines(), window.from_line(), window.from_lane_0()));
    ways.arrive();
    ways.otherwise();
  }
  store_scattered(e, a, values);
  ways.arrive();
  ways.finish();
}

/// Two to four dwords a lane.
void store_tuples(Emitter& e, const LaneAddresses& a, const Values& values) {
  Ways ways(e, 0);
  ways.when(e.ir.CreateAnd(follow(e, a, 4 * static_cast<std::uint32_t>(values.size())), all_active(e, a)));
  store_consecutive(e, a, values);
  ways.arrive();
  ways.otherwise();
  store_scattered(e, a, values);
  ways.arrive();
  ways.finish();
}

void store_dwords(Emitter& e, const LaneAddresses& a, const Values& values) {
  if (goes_through_caches(e, a)) return store_lane_by_lane(e, a, static_cast<std::uint32_t>(4 * values.size()), values);
  if (a.is_consecutive) return store_consecutive(e, a, values);
  values.size() == 1 ? store_dword(e, a, values) : store_tuples(e, a, values);
}

/// No host scatters bytes.
void store_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, const Chunks& values) {
  if (goes_through_caches(e, a)) return store_lane_by_lane(e, a, bytes, {values});
  Ways ways(e, 0);
  ways.when(e.ir.CreateAnd(follow(e, a, bytes), all_active(e, a)));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* narrow = e.ir.CreateTrunc(values[chunk], Emitter::lanes(e.ir.getIntNTy(8 * bytes)));
    e.ir.CreateAlignedStore(narrow, first_pointer(e, a, chunk), unaligned);
  }
  ways.arrive();

  ways.otherwise();
  store_lane_by_lane(e, a, bytes, {values});
  ways.arrive();
  ways.finish();
}

void check_width(Emitter& e, const Operand& data, const AccessFormat& format) {
  if (!data.is_vector() || data.dwords != format.dwords()) e.unsupported("operand " + data.text);
}

Value* extended(Emitter& e, const AccessFormat& format, Value* raw) {
  if (format.bytes >= 4 || format.extension != AccessFormat::Extension::sign) return raw;
  const unsigned unused = 32 - 8 * format.bytes;
  return e.ir.CreateAShr(e.ir.CreateShl(raw, unused), unused);
}

/// What a load writes to the register, given the bytes it read.
Value* fit(Emitter& e, const AccessFormat& format, Value* raw, Value* old) {
  Value* value = extended(e, format, raw);
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

/// The bytes that a store takes from a register, in the low end.
Value* part_to_store(Emitter& e, const AccessFormat& format, Value* value) {
  return format.part == AccessFormat::Part::high_half ? e.ir.CreateLShr(value, 16) : value;
}

}  // namespace

void load_lanes(Emitter& e, const Operand& destination, const AccessFormat& format, const LaneAddresses& addresses) {
  check_width(e, destination, format);
  if (format.bytes < 4) {
    const Chunks raw = load_small(e, addresses, format.bytes);
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* value = raw[chunk];
      if (addresses.out_of_range_is_zero) value = e.ir.CreateSelect(addresses.active[chunk], value, zeros(e));
      e.set_vector(destination, chunk, fit(e, format, value, e.vgpr(destination.index, chunk)));
    }
    return;
  }
  Values inactive(format.dwords());
  for (unsigned d = 0; d < format.dwords(); ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* old = e.vgpr(destination.index + d, chunk);
      inactive[d][chunk] = addresses.out_of_range_is_zero ? e.ir.CreateSelect(e.exec_mask(chunk), zeros(e), old) : old;
    }
  const Values values = load_dwords(e, addresses, inactive);
  for (unsigned d = 0; d < format.dwords(); ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
      e.set_vgpr_unmasked(destination.index + d, chunk, values[d][chunk]);
}

void store_lanes(Emitter& e, const Operand& source, const AccessFormat& format, const LaneAddresses& addresses) {
  check_width(e, source, format);
  Values values(format.dwords());
  for (unsigned d = 0; d < format.dwords(); ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
      values[d][chunk] = part_to_store(e, format, e.vector(source, chunk, d));
  if (format.bytes < 4)
    store_small(e, addresses, format.bytes, values[0]);
  else
    store_dwords(e, addresses, values);
}

Chunks load_lanes(Emitter& e, const LaneAddresses& addresses) {
  Values inactive(1);
  inactive[0].fill(zeros(e));
  return load_dwords(e, addresses, inactive).front();
}

void store_lanes(Emitter& e, const Chunks& dwords, const LaneAddresses& addresses) {
  store_dwords(e, addresses, {dwords});
}

Operand part_of(const Operand& tuple, unsigned first, unsigned dwords) {
  Operand part = tuple;
  part.index += first;
  part.dwords = dwords;
  return part;
}

void put_source(Emitter& e, const Operand& source, const AccessFormat& format, unsigned first) {
  check_width(e, source, format);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < format.dwords(); ++d)
      put_lane_data(e, chunk, first + d, part_to_store(e, format, e.vector(source, chunk, d)));
}

void take_destination(Emitter& e, const Operand& destination, const AccessFormat& format) {
  check_width(e, destination, format);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < format.dwords(); ++d) {
      Value* raw = lane_data(e, chunk, d);
      e.set_vector(destination, chunk, fit(e, format, raw, e.vgpr(destination.index + d, chunk)), d);
    }
}

Chunks loaded_dwords(Emitter& e, const AccessFormat& format) {
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) values[chunk] = extended(e, format, lane_data(e, chunk, 0));
  return values;
}

}  // namespace softgpu::compute
