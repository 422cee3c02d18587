#include "softgpu/compute/emit/memory_order.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/l2_cache.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

void honour_cache_hints(Emitter& e, const Instruction& instruction) {
  // What other compute units or devices have written: glc, on gfx942 a scope of more than the wavefront.
  bool wants_current_value = false;
  for (const char* hint : {"glc", "sc0", "sc1"}) wants_current_value |= instruction.has(hint);
  ignore_cache_hints(instruction);
  if (e.has_caches()) {
    llvm::Value* field =
        e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offsetof(WaveState, wants_current_value));
    e.ir.CreateStore(e.ir.getInt32(wants_current_value ? 1 : 0), field);
  }
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
  const auto is_any_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, instruction.mnemonic) != names.end();
  };
  const auto call = [&](void (*function)(WaveState*)) {
    e.call(reinterpret_cast<const void*>(function), e.ir.getVoidTy(), {e.state()});
  };
  if (!e.has_caches()) return;
  if (is_any_of({"buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_inv", "buffer_gl0_inv"}))
    call(runtime::invalidate_vector_cache);
  if (is_any_of({"buffer_wbl2"})) call(runtime::write_back_l2);
  if (is_any_of({"s_dcache_inv", "s_dcache_inv_vol"})) call(runtime::invalidate_scalar_cache);
}

}  // namespace softgpu::compute
