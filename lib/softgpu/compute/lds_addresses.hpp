// Where the lanes of an instruction access LDS.
#pragma once

#include <cstdint>

#include "lane_addresses.hpp"

namespace softgpu::compute {

/// Lanes whose access ends within the work-group's LDS; the others read 0 and write nothing.
[[nodiscard]] LaneAddresses lds_addresses(Emitter& e, const Chunks& addresses, std::uint32_t offset,
                                          std::uint32_t bytes);

/// The lanes' dwords side by side from M0[15:0] + offset on: what has no address register accesses LDS there.
[[nodiscard]] LaneAddresses lane_number_addresses(Emitter& e, std::int32_t offset);

}  // namespace softgpu::compute
