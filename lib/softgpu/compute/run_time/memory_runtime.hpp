// Memory instructions executed lane by lane: translated code calls these functions when its vector paths do not apply.
//
// Operands come in WaveState::lane_addresses and lane_data, results go to lane_data; lanes that are not in `lanes` are
// neither read nor written. All functions run on the wavefront's stack: a wild address ends the wavefront by a jump,
// so that none of them owns anything.
#pragma once

#include <cstdint>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// What a lane's address means.
enum class Segment : std::uint32_t {
  global,   ///< a host address
  flat,     ///< a host address, or an offset within the shared or the private aperture
  scratch,  ///< an offset from FLAT_SCRATCH within the lane's own memory
  lds,      ///< an offset within the work-group's LDS; beyond its end reads give 0 and writes are dropped
};

/// `offset` is the instruction's; `bytes` is 1, 2, 4, 8, 12 or 16; bytes and shorts are not extended.
void load(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment, std::uint64_t offset,
          std::uint32_t bytes);
void store(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment, std::uint64_t offset,
           std::uint32_t bytes);

/// The same, and faster, for addresses that are known to be host addresses, LDS among them.
void gather(WaveState* state, std::uint64_t lanes, std::uint32_t bytes);
void scatter(WaveState* state, std::uint64_t lanes, std::uint32_t bytes);
/// The same through the caches, where there are any: not for LDS.
void gather_cached(WaveState* state, std::uint64_t lanes, std::uint32_t bytes);
void scatter_cached(WaveState* state, std::uint64_t lanes, std::uint32_t bytes);

/// Ends the wavefront where one of the lanes' `bytes` at lane_addresses are not the GPU's memory.
void check_lanes(WaveState* state, std::uint64_t lanes, std::uint32_t bytes);
/// The same for one access.
void check_scalar(WaveState* state, std::uint64_t address, std::uint32_t bytes);

/// ds_permute: each lane sends lane_data[0] to lane (lane_addresses / 4) % 64; a lane that gets nothing reads 0.
void permute(WaveState* state, std::uint64_t lanes);

/// Called before each access that asks for memory's current value: earlier stores become visible to all first. It may
/// wait for another wavefront: every so often the others run.
void poll(WaveState* state);

}  // namespace softgpu::compute::runtime
