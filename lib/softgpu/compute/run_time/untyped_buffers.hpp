// Loads and stores of buffers: MUBUF's instructions that are not named "format".
//
// Called by translated code, as memory_runtime.hpp describes.
#pragma once

#include <cstdint>

#include "softgpu/compute/instruction_set/buffer_resource.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// The instruction's fields, in one number for translated code.
struct UntypedAccess {
  std::uint32_t bytes;  ///< of each lane
  BufferDescriptors layout;
  bool is_indexed;  ///< the instruction has IDXEN

  [[nodiscard]] std::uint32_t packed() const {
    return bytes | static_cast<std::uint32_t>(layout) << 8 | (is_indexed ? 1U : 0U) << 16;
  }
  [[nodiscard]] static UntypedAccess unpacked(std::uint32_t bits) {
    return {bits & 0xff, static_cast<BufferDescriptors>(bits >> 8 & 0xff), (bits >> 16 & 1) != 0};
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

}  // namespace softgpu::compute::runtime
