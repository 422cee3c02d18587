// One lane's access to memory, shared by the runtime's loads, stores and atomics.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"

namespace softgpu::compute::runtime {

template <class Access>
void for_each_lane(std::uint64_t lanes, Access&& access) {
  for (; lanes != 0; lanes &= lanes - 1) access(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// How many bytes of `left` are accessed at once: a byte, a short, a dword, or two where `in_pairs`.
inline std::uint32_t piece(std::uint32_t left, bool in_pairs) { return left >= 8 && in_pairs ? 8 : std::min(left, 4U); }

/// A lane's dwords from `at` bytes on, and what they become from there on.
inline std::uint64_t lane_bytes(const WaveState& state, unsigned lane, std::uint32_t at, std::uint32_t size) {
  const std::uint64_t low = state.lane_data[at / 4][lane] >> at % 4 * 8;
  return size == 8 ? low | std::uint64_t{state.lane_data[at / 4 + 1][lane]} << 32 : low;
}
inline void put_lane_bytes(WaveState& state, unsigned lane, std::uint32_t at, std::uint32_t size, std::uint64_t value) {
  std::uint32_t& dword = state.lane_data[at / 4][lane];
  dword = at % 4 == 0 ? static_cast<std::uint32_t>(value) : dword | static_cast<std::uint32_t>(value) << at % 4 * 8;
  if (size == 8) state.lane_data[at / 4 + 1][lane] = static_cast<std::uint32_t>(value >> 32);
}

/// Looks an address up that is not in the window: ends the wavefront if it is neither the GPU's nor in the dispatch
/// packet, or notes its range.
void look_up_access(WaveState& state, std::uint64_t address);

/// Ends the wavefront where `bytes` from an address on are not the GPU's memory (accessible_memory.hpp).
inline void check_access(WaveState& state, std::uint64_t address, std::uint32_t bytes) {
  const auto is_known = [&](std::uint64_t at) {
    if (((at ^ state.window_base) & state.window_mask) == 0) return true;
    return std::ranges::any_of(state.ranges, [&](const WaveState::Range& range) { return range.contains(at); });
  };
  for (const std::uint64_t at : {address, address + bytes - 1})
    if (!is_known(at)) look_up_access(state, at);
}

/// Where dword `offset` of a lane's private memory is: the lanes' dwords alternate.
inline std::uint64_t scratch_address(const WaveState& state, std::uint64_t wave_base, unsigned lane,
                                     std::uint64_t offset) {
  return wave_base + offset / 4 * 4 * state.wavefront_size + lane * 4 + offset % 4;
}

/// Where a lane accesses memory: a host address, or an offset within LDS or within the lane's private memory.
struct LanePlace {
  Segment segment;  ///< not flat
  std::uint64_t address;
};

/// A flat address is in an aperture where its register is, whatever the instruction's offset; there it wraps at 2^32
/// (RDNA3 manual, section 11.1.1; LLVM, SelectFlatOffsetImpl in AMDGPUISelDAGToDAG.cpp).
inline LanePlace place_of(const WaveState& state, Segment segment, std::uint64_t address, std::uint64_t offset) {
  if (segment == Segment::flat) {
    segment = Segment::global;
    const std::uint64_t aperture = address & 0xffffffff00000000;
    if (aperture == state.shared_aperture && aperture != 0) segment = Segment::lds;
    if (aperture == state.private_aperture && aperture != 0) segment = Segment::scratch;
    if (segment != Segment::global) return {segment, (address + offset) & 0xffffffff};
  }
  return {segment, address + offset};
}

/// The host address of `bytes` that are `at` bytes behind the place; nothing beyond LDS.
inline std::optional<std::uint64_t> host_address(WaveState& state, unsigned lane, std::uint64_t flat_scratch,
                                                 const LanePlace& place, std::uint32_t at, std::uint32_t bytes) {
  const std::uint64_t address = place.address + at;
  if (place.segment == Segment::global) {
    check_access(state, address, bytes);
    return address;
  }
  if (place.segment == Segment::lds) {
    if (address + bytes > state.lds_bytes) return std::nullopt;
    return std::bit_cast<std::uint64_t>(state.lds) + address;
  }
  const std::uint32_t size = state.scratch_bytes_per_lane;
  const auto leave = [&](EarlyExit::Cause cause) {
    FaultGuard::exit({.cause = cause, .address = address, .lane = lane, .private_bytes = size});
  };
  if (address > size || bytes > size - address) leave(EarlyExit::Cause::private_memory_overrun);
  if (address % 4 + bytes > 4) leave(EarlyExit::Cause::split_private_atomic);  // it would span two rows
  return scratch_address(state, flat_scratch, lane, address);
}

/// 1, 2, 4 or 8 bytes at any alignment; at their own, at once. A kernel may race and step over an object's end; the
/// sanitizers must not look.
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) std::uint64_t read(std::uint64_t address,
                                                                                            std::uint32_t bytes);
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) void
write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes);

/// The dispatch packet, whose memory is the soft GPU's: caches know nothing of the packet that was there before.
inline bool is_in_packet(const WaveState& state, std::uint64_t address) {
  constexpr std::uint64_t packet_bytes = 64;
  return address - state.packet_address < packet_bytes;
}

/// The same as a wavefront's vector instructions see memory other than LDS: through the caches, where there are any.
inline std::uint64_t read_cached(const WaveState& state, std::uint64_t address, std::uint32_t bytes) {
  if (state.caches == nullptr || is_in_packet(state, address)) return read(address, bytes);
  return state.caches->read(state.vector_cache, address, bytes, state.goes_past);
}
inline void write_cached(const WaveState& state, std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
  state.caches != nullptr ? state.caches->write(state.vector_cache, address, value, bytes, state.goes_past)
                          : write(address, value, bytes);
}

}  // namespace softgpu::compute::runtime
