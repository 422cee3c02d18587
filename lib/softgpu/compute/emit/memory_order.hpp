// The order of accesses to memory that other threads see: docs/memory_model.md has the whole model.
#pragma once

#include "softgpu/compute/emit/emitter.hpp"

namespace softgpu::compute {

/// Behind an access to memory that other threads access, too: the compiler moves and merges no accesses across it.
void keep_in_order(Emitter& e);
/// Reads the cache modifiers of a load or a returning atomic. Memory is coherent here, but for Caches::kept. A load of
/// the current value (glc) does not read before all threads see the wavefront's earlier stores. It may wait for another
/// wavefront, so it lets other wavefronts run now and then.
void honour_cache_hints(Emitter& e, const Instruction& instruction);
/// Reads the cache modifiers of a store that calls the runtime where there are caches.
void honour_store_hints(Emitter& e, const Instruction& instruction);
/// Reads cache modifiers that need nothing done: coherent memory has their effect.
void ignore_cache_hints(const Instruction& instruction);
/// Writes back or invalidates caches. Host memory is coherent, but for Caches::kept; the order that these instructions
/// give is kept, for other threads, too.
void maintain_caches(Emitter& e, const Instruction& instruction);

}  // namespace softgpu::compute
