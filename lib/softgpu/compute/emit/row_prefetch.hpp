// Prefetches for rows of lanes: each wavefront mostly goes on where the previous one ended.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/lane_addresses.hpp"

namespace softgpu::compute {

enum class Prefetch : std::uint8_t { for_load, for_store };

/// What a wavefront a few further on accesses instead of the `chunk_bytes` at `from`, which are a chunk's. Without it,
/// every page begins with a wait for memory. LDS is in the cache already.
void prefetch_ahead(Emitter& e, const LaneAddresses& a, Prefetch purpose, llvm::Value* from, unsigned chunk_bytes);

}  // namespace softgpu::compute
