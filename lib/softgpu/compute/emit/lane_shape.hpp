// How the lanes' addresses lie to each other: it decides by which instructions the host accesses them.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/lane_addresses.hpp"

namespace softgpu::compute {

/// What is found out at run time about an access of a dword a lane (i64): a bit for each dword from lane 0's on that is
/// some lane's, the same in all chunks.
namespace lane_shape {

inline constexpr std::uint64_t scattered = 0;         ///< no other shape
inline constexpr std::uint64_t uniform = 1;           ///< lane 0's dword; inactive lanes may be elsewhere
inline constexpr std::uint64_t consecutive = 0xffff;  ///< dword after dword; inactive lanes may be elsewhere
// Others are of a Window, with bits from 32 on where the chunks' lanes 0 are not in the same place of a cache line.

}  // namespace lane_shape

/// The shape of an access. It depends on the offsets and the active lanes only: an access that certainly came before,
/// with the same offsets and lanes, is not examined again.
[[nodiscard]] llvm::Value* find_shape(Emitter& e, const LaneAddresses& a);

}  // namespace softgpu::compute
