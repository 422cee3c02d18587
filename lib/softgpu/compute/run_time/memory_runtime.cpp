#include "softgpu/compute/run_time/memory_runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <iterator>
#include <span>

#include <sys/mman.h>

#include "softgpu/compute/run_time/accessible_memory.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/interrupt.hpp"
#include "softgpu/compute/run_time/lane_memory.hpp"
#include "softgpu/compute/run_time/versions_by_cpu.hpp"

namespace softgpu::compute::runtime {
namespace {

/// Calls `access(lane, at, bytes, host address, where that is)` for each part of each lane's bytes that is accessed at
/// once.
template <class Access>
void for_each_piece(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment,
                    std::uint64_t offset, std::uint32_t bytes, Access&& access) {
  for_each_lane(lanes, [&](unsigned lane) {
    const LanePlace place = place_of(*state, segment, state->lane_addresses[lane], offset);
    const bool in_pairs = place.segment == Segment::global;
    const bool inside = place.segment != Segment::lds || place.address + bytes <= state->lds_bytes;
    // The lanes' dwords alternate in private memory: two dwords of a lane do not lie side by side.
    const bool crosses = place.segment == Segment::scratch && place.address % 4 + std::min(bytes, 4U) > 4;
    for (std::uint32_t at = 0; at < bytes;) {
      const std::uint32_t size = crosses ? 1 : piece(bytes - at, in_pairs);
      access(lane, at, size, inside ? host_address(*state, lane, flat_scratch, place, at, size) : std::nullopt,
             place.segment);
      at += size;
    }
  });
}

/// Whether the program has anything at the address.
bool is_in_memory(std::uint64_t address) {
  constexpr std::uint64_t page = 4096;
  unsigned char resident = 0;
  void* begin = reinterpret_cast<void*>(address / page * page);  // NOLINT(performance-no-int-to-ptr)
  return mincore(begin, page, &resident) == 0;
}

/// What a kernel accesses: at any alignment. LLVM and GCC split no volatile access that the host has an instruction
/// for.
template <class T>
struct [[gnu::packed, gnu::may_alias]] InMemory {
  T value;
};
template <class T>
__attribute__((no_sanitize("address", "thread", "undefined"), always_inline)) inline volatile InMemory<T>&
in_memory(std::uint64_t address) {
  return *reinterpret_cast<volatile InMemory<T>*>(address);  // NOLINT
}

// Plain loops in one function each: the sanitizers must not look at a kernel's accesses.
template <class T>
__attribute__((no_sanitize("address", "thread", "undefined"))) void gather_elements(WaveState* state,
                                                                                    std::uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    state->lane_data[0][lane] = in_memory<T>(state->lane_addresses[lane]).value;
  }
}

std::uint64_t all_lanes(const WaveState& state) { return ~std::uint64_t{0} >> (64 - state.wavefront_size); }

using EightAddresses [[gnu::vector_size(64)]] = std::uint64_t;

/// The bits in which any lane's address is not `first` and `step` more from lane to lane.
SOFTGPU_VERSIONS_BY_CPU std::uint64_t differing_bits(const std::uint64_t* addresses, unsigned lanes,
                                                     std::uint64_t first, std::uint64_t step) {
  EightAddresses wanted = first + step * EightAddresses{0, 1, 2, 3, 4, 5, 6, 7};
  EightAddresses differ = {};
  for (unsigned lane = 0; lane < lanes; lane += 8, wanted += 8 * step) {
    EightAddresses eight;
    std::memcpy(&eight, addresses + lane, sizeof eight);
    differ |= eight ^ wanted;
  }
  std::uint64_t any = 0;
  for (unsigned i = 0; i < 8; ++i) any |= differ[i];
  return any;
}

/// Whether the lanes have the same address, as far as these bits of it.
bool are_all(const WaveState& state, std::uint64_t lanes, std::uint64_t address, std::uint64_t bits) {
  if (lanes == all_lanes(state))
    return (differing_bits(state.lane_addresses, state.wavefront_size, address, 0) & bits) == 0;
  std::uint64_t differs = 0;
  for_each_lane(lanes, [&](unsigned lane) { differs |= state.lane_addresses[lane] ^ address; });
  return (differs & bits) == 0;
}

/// The distance from each lane's address to the next one's, where every lane accesses memory and all distances are the
/// same.
std::optional<std::uint64_t> distance_of(const WaveState& state, std::uint64_t lanes) {
  if (lanes != all_lanes(state)) return std::nullopt;
  const std::uint64_t step = state.lane_addresses[1] - state.lane_addresses[0];
  if (differing_bits(state.lane_addresses, state.wavefront_size, state.lane_addresses[0], step) != 0)
    return std::nullopt;
  return step;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) inline std::uint32_t read_dword(std::uint64_t address) {
  return in_memory<std::uint32_t>(address).value;
}
__attribute__((no_sanitize("address", "thread", "undefined"))) inline void write_dword(std::uint64_t address,
                                                                                       std::uint32_t value) {
  in_memory<std::uint32_t>(address).value = value;
}

using FourDwords [[gnu::vector_size(16)]] = std::uint32_t;

/// Lanes whose dwords lie side by side, as they mostly do.
__attribute__((no_sanitize("address", "thread", "undefined"))) void gather_row(WaveState* state) {
  for (unsigned lane = 0; lane < state->wavefront_size; lane += 4) {
    const FourDwords four = in_memory<FourDwords>(state->lane_addresses[lane]).value;
    std::memcpy(&state->lane_data[0][lane], &four, sizeof four);
  }
}
__attribute__((no_sanitize("address", "thread", "undefined"))) void scatter_row(WaveState* state) {
  for (unsigned lane = 0; lane < state->wavefront_size; lane += 4) {
    FourDwords four;
    std::memcpy(&four, &state->lane_data[0][lane], sizeof four);
    in_memory<FourDwords>(state->lane_addresses[lane]).value = four;
  }
}

/// A dword a lane.
__attribute__((no_sanitize("address", "thread", "undefined"))) void load_row(WaveState* state, unsigned dword,
                                                                             std::uint64_t from) {
  for (unsigned lane = 0; lane < state->wavefront_size; lane += 4) {
    const FourDwords four = in_memory<FourDwords>(from + 4 * lane).value;
    std::memcpy(&state->lane_data[dword][lane], &four, sizeof four);
  }
}
__attribute__((no_sanitize("address", "thread", "undefined"))) void store_row(WaveState* state, std::uint64_t lanes,
                                                                              unsigned dword, std::uint64_t to) {
  if (lanes != all_lanes(*state)) {
    for (; lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
      in_memory<std::uint32_t>(to + 4 * lane).value = state->lane_data[dword][lane];
    }
    return;
  }
  for (unsigned lane = 0; lane < state->wavefront_size; lane += 4) {
    FourDwords four;
    std::memcpy(&four, &state->lane_data[dword][lane], sizeof four);
    in_memory<FourDwords>(to + 4 * lane).value = four;
  }
}

/// Where the lanes access a dword of private memory each, and more dwords behind it, at the same offset: compilers keep
/// variables there. The first dword's row, in which the lanes' dwords lie side by side.
std::optional<std::uint64_t> private_row(const WaveState& state, std::uint64_t lanes, std::uint64_t flat_scratch,
                                         Segment segment, std::uint64_t offset, std::uint32_t bytes) {
  if (state.caches != nullptr || lanes == 0 || bytes % 4 != 0) return std::nullopt;
  const std::uint64_t address = state.lane_addresses[std::countr_zero(lanes)];
  const LanePlace place = place_of(state, segment, address, offset);
  const std::uint32_t size = state.scratch_bytes_per_lane;
  if (place.segment != Segment::scratch || place.address % 4 != 0 || place.address > size ||
      bytes > size - place.address || !are_all(state, lanes, address, ~std::uint64_t{0}))
    return std::nullopt;
  return scratch_address(state, flat_scratch, 0, place.address);
}

/// Whether the lanes access dwords, all of them by addresses in the aperture of LDS.
bool are_in_lds(const WaveState& state, std::uint64_t lanes, Segment segment, std::uint32_t bytes) {
  constexpr std::uint64_t aperture = 0xffffffff00000000;
  return segment == Segment::flat && state.shared_aperture != 0 && bytes % 4 == 0 &&
         are_all(state, lanes, state.shared_aperture, aperture);
}

/// Whether places in LDS are all within `limit` of its beginning. Writes them, as host addresses, over the addresses.
SOFTGPU_VERSIONS_BY_CPU bool move_to_lds(std::uint64_t* addresses, unsigned lanes, std::uint64_t offset,
                                         std::uint64_t lds, std::uint64_t limit) {
  std::array<EightAddresses, 8> places;
  EightAddresses beyond = {};
  for (unsigned eight = 0; eight < lanes / 8; ++eight) {
    std::memcpy(&places[eight], addresses + 8 * eight, sizeof places[eight]);
    places[eight] = (places[eight] + offset) & 0xffffffff;
    beyond |= limit - places[eight];
  }
  std::uint64_t any = 0;
  for (unsigned i = 0; i < 8; ++i) any |= beyond[i];
  if (any >> 63 != 0) return false;
  for (unsigned eight = 0; eight < lanes / 8; ++eight) {
    places[eight] += lds;
    std::memcpy(addresses + 8 * eight, &places[eight], sizeof places[eight]);
  }
  return true;
}

/// Whether all lanes are enabled and access LDS within its size; their addresses are the host's then.
bool are_within_lds(WaveState& state, std::uint64_t lanes, std::uint64_t offset, std::uint32_t bytes) {
  return lanes == all_lanes(state) && state.lds_bytes >= bytes &&
         move_to_lds(state.lane_addresses, state.wavefront_size, offset, std::bit_cast<std::uint64_t>(state.lds),
                     state.lds_bytes - bytes);
}

/// Calls `access(lane, host address)`, without the address where the lane's bytes are not all in LDS.
template <class Access>
void for_each_lane_in_lds(const WaveState& state, std::uint64_t lanes, std::uint64_t offset, std::uint32_t bytes,
                          Access&& access) {
  const auto lds = std::bit_cast<std::uint64_t>(state.lds);
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t place = (state.lane_addresses[lane] + offset) & 0xffffffff;
    access(lane, place + bytes <= state.lds_bytes ? std::optional(lds + place) : std::nullopt);
  });
}

/// The dword at lane 0's address, for all lanes.
void broadcast_dword(WaveState* state) {
  std::fill_n(state->lane_data[0], state->wavefront_size, read_dword(state->lane_addresses[0]));
}

template <unsigned dwords>
__attribute__((no_sanitize("address", "thread", "undefined"))) void gather_dwords(WaveState* state,
                                                                                  std::uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    const std::uint64_t from = state->lane_addresses[lane];
    for (unsigned d = 0; d + 1 < dwords; d += 2) {
      const std::uint64_t pair = in_memory<std::uint64_t>(from + 4 * d).value;
      state->lane_data[d][lane] = static_cast<std::uint32_t>(pair);
      state->lane_data[d + 1][lane] = static_cast<std::uint32_t>(pair >> 32);
    }
    if (dwords % 2 != 0) state->lane_data[dwords - 1][lane] = in_memory<std::uint32_t>(from + 4 * (dwords - 1)).value;
  }
}
template <class T>
__attribute__((no_sanitize("address", "thread", "undefined"))) void scatter_elements(WaveState* state,
                                                                                     std::uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    in_memory<T>(state->lane_addresses[lane]).value = static_cast<T>(state->lane_data[0][lane]);
  }
}
template <unsigned dwords>
__attribute__((no_sanitize("address", "thread", "undefined"))) void scatter_dwords(WaveState* state,
                                                                                   std::uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    const std::uint64_t to = state->lane_addresses[lane];
    for (unsigned d = 0; d + 1 < dwords; d += 2)
      in_memory<std::uint64_t>(to + 4 * d).value =
          state->lane_data[d][lane] | std::uint64_t{state->lane_data[d + 1][lane]} << 32;
    if (dwords % 2 != 0) in_memory<std::uint32_t>(to + 4 * (dwords - 1)).value = state->lane_data[dwords - 1][lane];
  }
}

}  // namespace

std::uint64_t read(std::uint64_t address, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    return in_memory<std::uint8_t>(address).value;
  case 2:
    return in_memory<std::uint16_t>(address).value;
  case 4:
    return in_memory<std::uint32_t>(address).value;
  default:
    return in_memory<std::uint64_t>(address).value;
  }
}

void write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    in_memory<std::uint8_t>(address).value = static_cast<std::uint8_t>(value);
    return;
  case 2:
    in_memory<std::uint16_t>(address).value = static_cast<std::uint16_t>(value);
    return;
  case 4:
    in_memory<std::uint32_t>(address).value = static_cast<std::uint32_t>(value);
    return;
  default:
    in_memory<std::uint64_t>(address).value = value;
  }
}

void load(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment, std::uint64_t offset,
          std::uint32_t bytes) {
  if (const auto row = private_row(*state, lanes, flat_scratch, segment, offset, bytes)) {
    for (unsigned d = 0; d < bytes / 4; ++d) load_row(state, d, *row + std::uint64_t{4} * d * state->wavefront_size);
    return;
  }
  if (are_in_lds(*state, lanes, segment, bytes)) {
    if (are_within_lds(*state, lanes, offset, bytes)) return gather(state, lanes, bytes);
    for_each_lane_in_lds(*state, lanes, offset, bytes, [&](unsigned lane, std::optional<std::uint64_t> address) {
      for (std::uint32_t at = 0; at < bytes; at += 4)
        state->lane_data[at / 4][lane] = address ? read_dword(*address + at) : 0;
    });
    return;
  }
  for_each_piece(
      state, lanes, flat_scratch, segment, offset, bytes,
      [&](unsigned lane, std::uint32_t at, std::uint32_t size, std::optional<std::uint64_t> address, Segment where) {
        if (!address) return put_lane_bytes(*state, lane, at, size, 0);
        put_lane_bytes(*state, lane, at, size,
                       where != Segment::lds ? read_cached(*state, *address, size) : read(*address, size));
      });
}

void store(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment, std::uint64_t offset,
           std::uint32_t bytes) {
  if (const auto row = private_row(*state, lanes, flat_scratch, segment, offset, bytes)) {
    for (unsigned d = 0; d < bytes / 4; ++d)
      store_row(state, lanes, d, *row + std::uint64_t{4} * d * state->wavefront_size);
    return;
  }
  if (are_in_lds(*state, lanes, segment, bytes)) {
    if (are_within_lds(*state, lanes, offset, bytes)) return scatter(state, lanes, bytes);
    for_each_lane_in_lds(*state, lanes, offset, bytes, [&](unsigned lane, std::optional<std::uint64_t> address) {
      for (std::uint32_t at = 0; address && at < bytes; at += 4)
        write_dword(*address + at, state->lane_data[at / 4][lane]);
    });
    return;
  }
  for_each_piece(
      state, lanes, flat_scratch, segment, offset, bytes,
      [&](unsigned lane, std::uint32_t at, std::uint32_t size, std::optional<std::uint64_t> address, Segment where) {
        if (!address) return;
        const std::uint64_t value = lane_bytes(*state, lane, at, size);
        where != Segment::lds ? write_cached(*state, *address, value, size) : write(*address, value, size);
      });
}

void gather(WaveState* state, std::uint64_t lanes, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    return gather_elements<std::uint8_t>(state, lanes);
  case 2:
    return gather_elements<std::uint16_t>(state, lanes);
  case 4:
    if (const auto distance = distance_of(*state, lanes)) {
      if (*distance == 4) return gather_row(state);
      if (*distance == 0) return broadcast_dword(state);
    }
    return gather_dwords<1>(state, lanes);
  case 8:
    return gather_dwords<2>(state, lanes);
  case 12:
    return gather_dwords<3>(state, lanes);
  default:
    return gather_dwords<4>(state, lanes);
  }
}

void scatter(WaveState* state, std::uint64_t lanes, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    return scatter_elements<std::uint8_t>(state, lanes);
  case 2:
    return scatter_elements<std::uint16_t>(state, lanes);
  case 4:
    return distance_of(*state, lanes) == 4 ? scatter_row(state) : scatter_dwords<1>(state, lanes);
  case 8:
    return scatter_dwords<2>(state, lanes);
  case 12:
    return scatter_dwords<3>(state, lanes);
  default:
    return scatter_dwords<4>(state, lanes);
  }
}

void gather_cached(WaveState* state, std::uint64_t lanes, std::uint32_t bytes) {
  for_each_lane(lanes, [&](unsigned lane) {
    for (std::uint32_t at = 0; at < bytes;) {
      const std::uint32_t size = piece(bytes - at, true);
      put_lane_bytes(*state, lane, at, size, read_cached(*state, state->lane_addresses[lane] + at, size));
      at += size;
    }
  });
}

void scatter_cached(WaveState* state, std::uint64_t lanes, std::uint32_t bytes) {
  for_each_lane(lanes, [&](unsigned lane) {
    for (std::uint32_t at = 0; at < bytes;) {
      const std::uint32_t size = piece(bytes - at, true);
      write_cached(*state, state->lane_addresses[lane] + at, lane_bytes(*state, lane, at, size), size);
      at += size;
    }
  });
}

namespace {

/// Whether `bytes` from each address on are in the range. Of each CPU's vector instructions, which have no comparison
/// of unsigned integers: where an address is outside, one of two differences is negative.
bool are_all_in(const WaveState::Range& range, std::span<const std::uint64_t> addresses, std::uint32_t bytes) {
  const std::uint64_t size = range.end - range.begin;
  if (size < bytes) return false;
  std::uint64_t negative = 0;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t offset = address - range.begin;
    negative |= offset | (size - bytes - offset);
  }
  return negative >> 63 == 0;
}

}  // namespace

void check_lanes(WaveState* state, std::uint64_t lanes, std::uint32_t bytes) {
  // Mostly all lanes go to one buffer.
  if (lanes == all_lanes(*state))
    for (const WaveState::Range& range : state->ranges)
      if (range.contains(state->lane_addresses[0]))
        if (are_all_in(range, std::span(state->lane_addresses).first(state->wavefront_size), bytes)) return;
  for_each_lane(lanes, [&](unsigned lane) { check_access(*state, state->lane_addresses[lane], bytes); });
}

void check_scalar(WaveState* state, std::uint64_t address, std::uint32_t bytes) {
  check_access(*state, address, bytes);
}

void look_up_access(WaveState& state, std::uint64_t address) {
  if (is_in_packet(state, address)) return;
  // An interrupt must not leave the wavefront in here, where a lock is held.
  FaultGuard* guard = FaultGuard::suspend();
  const AccessibleMemory::Range range = state.memory->range_of(address);
  const bool is_mapped = range.contains(address) || is_in_memory(address);
  FaultGuard::resume(guard);
  if (Interruptible::interrupted()) FaultGuard::exit({EarlyExit::Cause::interrupted});
  if (!range.contains(address))
    FaultGuard::exit({is_mapped ? EarlyExit::Cause::foreign_memory : EarlyExit::Cause::memory_fault, address});
  state.ranges[state.oldest_range++ % std::size(state.ranges)] = {range.begin, range.end};
}

void permute(WaveState* state, std::uint64_t lanes) {
  std::uint32_t received[64] = {};
  for_each_lane(lanes,
                [&](unsigned lane) { received[state->lane_addresses[lane] / 4 % 64] = state->lane_data[0][lane]; });
  std::memcpy(state->lane_data[0], received, sizeof received);
}

void poll(WaveState* state) {
  constexpr std::uint32_t patience = 64;
  // A locked instruction, which is x86's full barrier, too.
  const std::uint32_t before = std::atomic_ref(state->polls).fetch_add(1, std::memory_order_seq_cst);
  if ((before + 1) % patience == 0) state->yield(state);
}

}  // namespace softgpu::compute::runtime
