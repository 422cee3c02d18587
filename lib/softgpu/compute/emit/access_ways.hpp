// What loads and stores of lanes have in common: the ways to access memory, of which one is taken at run time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/emit/lane_addresses.hpp"

namespace softgpu::compute {

/// Chunks of dword after dword.
using Values = std::vector<Chunks>;

/// The blocks that access memory in one way each, and the block where they meet with the loaded values.
class Ways {
public:
  Ways(Emitter& e, std::size_t dwords) : e_(e), dwords_(dwords), end_(e.new_block("accessed")) {}

  /// Emission goes on in a block that runs if `condition` holds; otherwise() enters the block for the other case.
  void when(llvm::Value* condition) {
    llvm::BasicBlock* taken = e_.new_block("way");
    otherwise_ = e_.new_block("otherwise");
    e_.ir.CreateCondBr(condition, taken, otherwise_);
    e_.ir.SetInsertPoint(taken);
  }
  void otherwise() { e_.ir.SetInsertPoint(otherwise_); }
  /// After when(): the way is for one of two more conditions only, of which the second is asked where the first does
  /// not hold. Returns the value that goes with the one that holds.
  template <class Second>
  llvm::Value* only_if(llvm::Value* first, llvm::Value* value, Second&& second, llvm::Value* other_value) {
    llvm::BasicBlock* asks_second = e_.new_block("second");
    llvm::BasicBlock* taken = e_.new_block("way");
    auto* which = llvm::PHINode::Create(value->getType(), 2, "", taken);
    which->addIncoming(value, e_.ir.GetInsertBlock());
    e_.ir.CreateCondBr(first, taken, asks_second);
    e_.ir.SetInsertPoint(asks_second);
    llvm::Value* holds = second();
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

/// Aligned eight bytes are accessed at once where others see them (docs/memory_model.md). LLVM may split a load or
/// store, or load twice, unless it is volatile.
[[nodiscard]] inline bool keeps_whole(const LaneAddresses& a, std::size_t dwords) { return dwords > 1 && !a.in_lds; }

/// Calls `access(first dword, dwords)` for the parts that a lane accesses at once: two dwords as long as there are two.
template <class Access>
void for_each_part(std::size_t dwords, Access&& access) {
  for (std::size_t d = 0; d < dwords; d += 2) access(d, std::min<std::size_t>(2, dwords - d));
}

/// One or two dwords of a chunk's lanes as one number a lane, and back.
[[nodiscard]] llvm::Value* joined(Emitter& e, const Values& values, std::size_t first, std::size_t dwords,
                                  unsigned chunk);
void split(Emitter& e, llvm::Value* part, Values& values, std::size_t first, std::size_t dwords, unsigned chunk);

/// Whether LLVM makes a branch a lane of a gather or scatter: it takes minutes to allocate registers for a kernel with
/// hundreds of gathers and scatters.
[[nodiscard]] bool is_branch_a_lane(Emitter& e, const LaneAddresses& a);
/// Whether vectors of bytes and shorts can be accessed in part.
[[nodiscard]] bool can_mask_small(const Emitter& e);
/// Whether only the runtime knows what a lane sees there.
[[nodiscard]] bool goes_through_caches(Emitter& e, const LaneAddresses& a);
/// Whether the runtime accesses memory for each lane, however they lie.
[[nodiscard]] bool goes_lane_by_lane(Emitter& e, const LaneAddresses& a);

/// By the runtime, for `bytes` a lane. Lanes that are not active get anything.
[[nodiscard]] Values load_lane_by_lane(Emitter& e, const LaneAddresses& a, std::uint32_t bytes);
void store_lane_by_lane(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, const Values& values);

/// Whether the lanes lie so, see lane_shape (i1).
[[nodiscard]] llvm::Value* has_shape(Emitter& e, llvm::Value* shape, std::uint64_t which);

}  // namespace softgpu::compute
