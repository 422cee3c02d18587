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

namespace {

/// What other compute units or devices have written is asked for by glc, on gfx942 and RDNA4 by a scope. Atomics go
/// past the caches in any case: where they return what was in memory, a wavefront may wait for it.
GoesPast goes_past(const Emitter& e, const Instruction& instruction) {
  bool is_any = false;
  for (const char* hint : {"glc", "sc0", "sc1"}) is_any |= instruction.has(hint);
  const bool is_atomic = instruction.mnemonic.find("_atomic_") != std::string::npos;
  is_any |= is_atomic ? instruction.word("th").value_or("").ends_with("_RETURN") : instruction.has("scope");
  if (!is_any) return GoesPast::nothing;
  return instruction.has(e.architecture().goes_past_all_caches) ? GoesPast::all : GoesPast::first_level;
}

/// Reads the modifiers.
GoesPast tell_caches(Emitter& e, const Instruction& instruction) {
  const GoesPast caches = goes_past(e, instruction);
  ignore_cache_hints(instruction);
  if (!e.has_caches()) return caches;
  llvm::Value* field = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offsetof(WaveState, goes_past));
  e.ir.CreateStore(e.ir.getInt32(static_cast<std::uint32_t>(caches)), field);
  return caches;
}

}  // namespace

void honour_cache_hints(Emitter& e, const Instruction& instruction) {
  if (tell_caches(e, instruction) == GoesPast::nothing) return;
  e.may_wait_for(WaitsFor::anyone);
  e.call(reinterpret_cast<const void*>(&runtime::poll), e.ir.getVoidTy(), {e.state()});
}

void honour_store_hints(Emitter& e, const Instruction& instruction) { tell_caches(e, instruction); }

void ignore_cache_hints(const Instruction& instruction) {
  for (const char* hint : {"glc", "slc", "dlc", "scc", "nv", "sc0", "sc1", "nt", "th", "scope"})
    static_cast<void>(instruction.has(hint));
}

void keep_in_order(Emitter& e) {
  e.ir.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

void maintain_caches(Emitter& e, const Instruction& instruction) {
  const bool beyond_a_work_group = instruction.has("sc1");
  const bool beyond_a_compute_unit = instruction.has("scope");  // the narrowest one is not printed
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
  if (is_any_of({"global_inv", "global_wbinv"}) && beyond_a_compute_unit) call(runtime::invalidate_vector_cache);
  if (is_any_of({"buffer_gl1_inv", "s_gl1_inv"})) call(runtime::invalidate_shader_array_cache);
  if (is_any_of({"buffer_inv"}) && beyond_a_work_group && e.architecture().l2_caches > 1) call(runtime::invalidate_l2);
  if (is_any_of({"buffer_wbl2"})) call(runtime::write_back_l2);
  if (is_any_of({"s_dcache_inv", "s_dcache_inv_vol"})) call(runtime::invalidate_scalar_cache);
}

}  // namespace softgpu::compute
