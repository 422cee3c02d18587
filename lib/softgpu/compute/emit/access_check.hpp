// Emits the checks that an access stays within the GPU's memory (run_time/accessible_memory.hpp).
//
// An address within the window passes by itself: what is not mapped there faults. For any other address the runtime
// looks at the ranges, and ends the wavefront where there is none. An access with a scalar base and 32-bit offsets is
// checked by its base alone: the window has guards on both sides.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/lane_addresses.hpp"

namespace softgpu::compute {

/// Before the active lanes access `bytes` each at these addresses of memory.
void check_access(Emitter& e, const LaneAddresses& addresses, std::uint32_t bytes);
/// Before a scalar access of `bytes` at `address` (i64), which a 32-bit offset makes of `base` (i64); if `happens` (i1)
/// is given and does not hold, there is no access.
void check_access(Emitter& e, llvm::Value* base, llvm::Value* address, std::uint32_t bytes,
                  llvm::Value* happens = nullptr);

/// Whether there is a window, and it has `base` (i64): then what 32-bit offsets, shifted or not, make of it is in no
/// aperture (i1).
[[nodiscard]] llvm::Value* is_surely_inside(Emitter& e, llvm::Value* base);

}  // namespace softgpu::compute
