// Loops give way: wavefronts share threads, and a wavefront that never ends its turn would stop all others.
//
// Whatever a loop does, another wavefront may have to run before the loop can end: a load without any hint may poll
// memory. So every branch back counts down, and after so many of them the wavefront looks at the clock.
#include <llvm/IR/MDBuilder.h>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/run_time/clocks.hpp"

namespace softgpu::compute {
namespace {

constexpr unsigned loops_per_look = 256;

}  // namespace

void Emitter::count_loop() {
  may_wait_for(WaitsFor::turns);
  if (loops_slot_ == nullptr) {
    loops_slot_ = entry_ir_.CreateAlloca(i32(), nullptr, "loops");
    entry_ir_.CreateStore(entry_ir_.getInt32(loops_per_look), loops_slot_);
  }
  llvm::Value* left = ir.CreateSub(ir.CreateLoad(i32(), loops_slot_), ir.getInt32(1));
  ir.CreateStore(left, loops_slot_);
  llvm::BasicBlock* look = new_block("look");
  llvm::BasicBlock* go_on = new_block("go_on");
  ir.CreateCondBr(ir.CreateIsNull(left), look, go_on,
                  llvm::MDBuilder(ir.getContext()).createBranchWeights(1, loops_per_look));
  ir.SetInsertPoint(look);
  ir.CreateStore(ir.getInt32(loops_per_look), loops_slot_);
  call(reinterpret_cast<const void*>(&runtime::look_at_clock), ir.getVoidTy(), {state()});
  ir.CreateBr(go_on);
  ir.SetInsertPoint(go_on);
}

}  // namespace softgpu::compute
