// Memory instructions executed lane by lane: translated code calls these functions when its vector paths do not apply.
//
// Operands come in WaveState::lane_addresses and lane_data, results go to lane_data; lanes that are not in `lanes` are
// neither read nor written. All functions run on the wavefront's stack: a wild address ends the wavefront by a jump,
// so that none of them owns anything.
#pragma once

#include <cstdint>

#include "softgpu/compute/instruction_set/buffer_resource.hpp"
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

/// What a buffer instruction accesses, in one number for translated code.
struct UntypedAccess {
  std::uint32_t bytes;  ///< of each lane
  BufferDescriptors layout;

  [[nodiscard]] std::uint32_t packed() const { return bytes | static_cast<std::uint32_t>(layout) << 8; }
  [[nodiscard]] static UntypedAccess unpacked(std::uint32_t bits) {
    return {bits & 0xff, static_cast<BufferDescriptors>(bits >> 8)};
  }
};

/// A buffer resource descriptor and where in the buffer: lane_addresses holds index << 32 | offset of each lane.
/// Accesses out of the buffer's range read 0 and write nothing. `access` is an UntypedAccess.
void buffer_load(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                 std::uint32_t scalar_offset, std::uint32_t access);
void buffer_store(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                  std::uint32_t scalar_offset, std::uint32_t access);
/// Replaces lane_addresses by host addresses, and zeroes the data of lanes out of range. Returns the lanes in range.
std::uint64_t buffer_addresses(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low,
                               std::uint64_t resource_high, std::uint32_t scalar_offset, std::uint32_t access);

/// Ends the wavefront where one of the lanes' `bytes` at lane_addresses are not the GPU's memory.
void check_lanes(WaveState* state, std::uint64_t lanes, std::uint32_t bytes);
/// The same for one access.
void check_scalar(WaveState* state, std::uint64_t address, std::uint32_t bytes);

/// ds_permute: each lane sends lane_data[0] to lane (lane_addresses / 4) % 64; a lane that gets nothing reads 0.
void permute(WaveState* state, std::uint64_t lanes);

/// Called before each access that asks for memory's current value: earlier stores become visible to all first. It may
/// wait for another wavefront: every so often the others run.
void poll(WaveState* state);

/// Called by loops, after every so many branches back: ends a turn that has taken long.
void look_at_clock(WaveState* state);

/// s_memrealtime counts at 100 MHz, s_memtime at the frequency that the topology tells of the GPU, whatever the host's.
inline constexpr std::uint64_t real_time_frequency = 100'000'000;
inline constexpr std::uint32_t shader_megahertz = 1700;  ///< a multiple of 100
std::uint64_t real_time();
std::uint64_t shader_clock();

}  // namespace softgpu::compute::runtime
