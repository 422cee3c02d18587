// Emits the stores of lanes, each of which has an address of its own.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/access_ways.hpp"

namespace softgpu::compute {

/// One to four dwords a lane.
void store_dwords(Emitter& e, const LaneAddresses& a, const Values& values);
/// 1 or 2 bytes a lane.
void store_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, const Chunks& values);

}  // namespace softgpu::compute
