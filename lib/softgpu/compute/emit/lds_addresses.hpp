// Where the lanes of an instruction access LDS.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/lane_addresses.hpp"

namespace softgpu::compute {

/// An LDS address is the register plus the offset, modulo 2^32 (ISA manuals, "LDS Instruction Fields"): a register that
/// is negative as a signed number may reach LDS. Lanes whose access ends within the work-group's LDS are active; the
/// others read 0 and write nothing.
[[nodiscard]] LaneAddresses lds_addresses(Emitter& e, const LaneOffsets& addresses, std::uint32_t offset,
                                          std::uint32_t bytes);

/// The lanes' dwords side by side from M0[15:0] + offset on: what has no address register accesses LDS there.
[[nodiscard]] LaneAddresses lane_number_addresses(Emitter& e, std::int32_t offset);
/// The same for a transfer between memory and LDS. A lane's three or four dwords have room for four.
[[nodiscard]] LaneAddresses transfer_addresses(Emitter& e, std::int32_t offset, std::uint32_t bytes = 4);

}  // namespace softgpu::compute
