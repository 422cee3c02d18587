// What comes before what in memory that others see: docs/memory_model.md has the whole of it.
#pragma once

#include "softgpu/compute/emit/emitter.hpp"

namespace softgpu::compute {

/// Behind an access to memory that others access, too: the compiler neither moves nor merges accesses across it.
void keep_in_order(Emitter& e);
/// Reads the cache modifiers of a load or a returning atomic. Memory is coherent here, but what asks for the current
/// value (glc) is not read before the wavefront's earlier stores are visible to all, may be waiting for another
/// wavefront, and now and then lets the others run.
void honour_cache_hints(Emitter& e, const Instruction& instruction);
/// Those of a store, which ask for nothing that is not so anyway.
void ignore_cache_hints(const Instruction& instruction);
/// Writes back or invalidates caches. Host memory is coherent; what that orders stays ordered, also for other threads.
void maintain_caches(Emitter& e, const Instruction& instruction);

}  // namespace softgpu::compute
