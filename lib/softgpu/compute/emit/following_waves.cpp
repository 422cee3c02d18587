// One call of translated code runs a wavefront, and those that follow it if the runner says so
// (WaveState::waves_behind): what a wavefront starts with is little, and so is what many kernels do with it.
#include <cstddef>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

// The entry block becomes what each wavefront begins with: slots have their places before it.
void Emitter::run_following_waves() {
  llvm::Function& function = *entry_->getParent();
  std::vector<llvm::AllocaInst*> slots;
  for (llvm::Instruction& instruction : *entry_)
    if (auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) slots.push_back(slot);
  std::vector<llvm::ReturnInst*> ends;
  for (llvm::BasicBlock& block : function)
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) ends.push_back(end);

  llvm::BasicBlock* before = llvm::BasicBlock::Create(ir.getContext(), "slots", &function, entry_);
  ir.SetInsertPoint(before);
  ir.CreateBr(entry_);
  for (llvm::AllocaInst* slot : slots) slot->moveBefore(*before, before->getTerminator()->getIterator());

  llvm::BasicBlock* ended = new_block("ended");
  llvm::BasicBlock* behind = new_block("behind");
  llvm::BasicBlock* done = new_block("done");
  for (llvm::ReturnInst* end : ends) {
    ir.SetInsertPoint(end);
    ir.CreateBr(ended);
    end->eraseFromParent();
  }
  const auto place = [&](std::size_t offset) { return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), state(), offset); };
  ir.SetInsertPoint(ended);
  Value* left = ir.CreateLoad(i32(), place(offsetof(WaveState, waves_behind)));
  ir.CreateCondBr(ir.CreateIsNull(left), done, behind);
  ir.SetInsertPoint(behind);
  ir.CreateStore(ir.CreateSub(left, ir.getInt32(1)), place(offsetof(WaveState, waves_behind)));
  Value* wave = ir.CreateAdd(ir.CreateLoad(i32(), place(offsetof(WaveState, wave_in_group))), ir.getInt32(1));
  Value* begins_group = ir.CreateICmpEQ(wave, field(offsetof(WaveState, waves_in_group), i32()));
  wave = ir.CreateSelect(begins_group, ir.getInt32(0), wave);
  ir.CreateStore(wave, place(offsetof(WaveState, wave_in_group)));
  // By the pair of SGPRs that it is in: translated code loads pairs, and a host waits for the store of a part of what
  // it loads to reach its cache.
  static_assert(offsetof(WaveState, sgprs) % 8 == 0);
  Value* group_id = ir.CreateZExt(field(offsetof(WaveState, group_id_place), i32()), i64());
  Value* pair = ir.CreateInBoundsGEP(ir.getInt8Ty(), state(), ir.CreateAnd(group_id, ~std::uint64_t{7}));
  Value* one = ir.CreateShl(ir.CreateZExt(begins_group, i64()), ir.CreateShl(ir.CreateAnd(group_id, 4), 3));
  ir.CreateStore(ir.CreateAdd(ir.CreateLoad(i64(), pair), one), pair);
  Value* first_id = ir.CreateMul(ir.CreateZExt(wave, i64()), ir.getInt64(wavefront_size()));
  Value* ids = ir.CreateInBoundsGEP(i32(), field(offsetof(WaveState, group_ids), ir.getPtrTy()), first_id);
  ir.CreateStore(ids, place(offsetof(WaveState, work_item_ids)));
  ir.CreateBr(entry_);
  ir.SetInsertPoint(done);
  ir.CreateRetVoid();
}

}  // namespace softgpu::compute
