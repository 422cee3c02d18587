#include "softgpu/compute/emit/memory_order.hpp"

#include "softgpu/compute/run_time/memory_runtime.hpp"

namespace softgpu::compute {

void honour_cache_hints(Emitter& e, const Instruction& instruction) {
  // What other compute units or devices have written: glc, on gfx942 a scope of more than the wavefront.
  bool wants_current_value = false;
  for (const char* hint : {"glc", "sc0", "sc1"}) wants_current_value |= instruction.has(hint);
  ignore_cache_hints(instruction);
  if (!wants_current_value) return;
  e.may_wait_for(WaitsFor::anyone);
  e.call(reinterpret_cast<const void*>(&runtime::poll), e.ir.getVoidTy(), {e.state()});
}

void ignore_cache_hints(const Instruction& instruction) {
  for (const char* hint : {"glc", "slc", "dlc", "scc", "nv", "sc0", "sc1", "nt"})
    static_cast<void>(instruction.has(hint));
}

void keep_in_order(Emitter& e) {
  e.ir.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

void maintain_caches(Emitter& e, const Instruction& instruction) {
  ignore_cache_hints(instruction);
  e.ir.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}

}  // namespace softgpu::compute
