// Emits the loads of lanes, each of which has an address of its own.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/access_ways.hpp"

namespace softgpu::compute {

/// One to four dwords a lane, as many as `inactive` has: what lanes get that are not active.
[[nodiscard]] Values load_dwords(Emitter& e, const LaneAddresses& a, const Values& inactive);
/// 1 or 2 bytes a lane, zero-extended; lanes that are not active get anything.
[[nodiscard]] Chunks load_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes);

}  // namespace softgpu::compute
