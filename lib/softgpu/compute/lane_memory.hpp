// One lane's access to memory, shared by the runtime's loads, stores and atomics.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "fault_guard.hpp"
#include "memory_runtime.hpp"

namespace softgpu::compute::runtime {

/// Where dword `offset` of a lane's private memory is: the lanes' dwords alternate.
inline std::uint64_t scratch_address(const WaveState& state, std::uint64_t wave_base, unsigned lane,
                                     std::uint64_t offset) {
  return wave_base + offset / 4 * 4 * state.wavefront_size + lane * 4 + offset % 4;
}

/// The host address of what `address` means in `segment`; nothing for what lies beyond LDS.
inline std::optional<std::uint64_t> host_address(const WaveState& state, unsigned lane, std::uint64_t flat_scratch,
                                                 Segment segment, std::uint64_t address, std::uint32_t bytes) {
  const std::uint64_t offset = address & 0xffffffff;
  if (segment == Segment::flat) {
    const std::uint64_t aperture = address - offset;
    segment = Segment::global;
    if (aperture == state.shared_aperture && aperture != 0) segment = Segment::lds;
    if (aperture == state.private_aperture && aperture != 0) segment = Segment::scratch;
  }
  switch (segment) {
  case Segment::global:
  case Segment::flat:
    return address;
  case Segment::lds:
    if (offset + bytes > state.lds_bytes) return std::nullopt;
    return std::bit_cast<std::uint64_t>(state.lds) + offset;
  case Segment::scratch:
    break;
  }
  // A 64-bit atomic on private memory would span two rows.
  if (offset + bytes > state.scratch_bytes_per_lane || offset % 4 + bytes > 4)
    FaultGuard::exit({EarlyExit::Cause::memory_fault, address});
  return scratch_address(state, flat_scratch, lane, offset);
}

/// 1, 2 or 4 bytes at any alignment. A kernel may race and step over an object's end; the sanitizers must not look.
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) std::uint32_t read(std::uint64_t address,
                                                                                            std::uint32_t bytes);
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) void
write(std::uint64_t address, std::uint32_t value, std::uint32_t bytes);

}  // namespace softgpu::compute::runtime
