#include "softgpu/compute/emit/turns.hpp"

#include <cstddef>

#include <llvm/IR/MDBuilder.h>

#include "softgpu/compute/run_time/memory_runtime.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

void count_loop(Emitter& e) {
  e.may_wait_for(WaitsFor::turns);
  Value* place = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offsetof(WaveState, loops_left));
  Value* left = e.ir.CreateSub(e.ir.CreateLoad(e.i32(), place), e.ir.getInt32(1));
  e.ir.CreateStore(left, place);
  llvm::BasicBlock* look = e.new_block("look");
  llvm::BasicBlock* go_on = e.new_block("go_on");
  e.ir.CreateCondBr(e.ir.CreateIsNull(left), look, go_on,
                    llvm::MDBuilder(e.ir.getContext()).createBranchWeights(1, WaveState::loops_per_look));
  e.ir.SetInsertPoint(look);
  e.call(reinterpret_cast<const void*>(&runtime::look_at_clock), e.ir.getVoidTy(), {e.state()});
  e.ir.CreateBr(go_on);
  e.ir.SetInsertPoint(go_on);
}

}  // namespace softgpu::compute
