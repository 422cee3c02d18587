#include "memory_runtime.hpp"

#include <bit>
#include <chrono>
#include <cstring>

#include "buffer_resource.hpp"
#include "fault_guard.hpp"
#include "lane_memory.hpp"

namespace softgpu::compute::runtime {
namespace {

template <class Access>
void for_each_lane(std::uint64_t lanes, Access&& access) {
  for (; lanes != 0; lanes &= lanes - 1) access(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// How many bytes the access to dword `dword` of `bytes` has.
std::uint32_t piece(std::uint32_t bytes) { return bytes < 4 ? bytes : 4; }

template <class Access>
void for_each_piece_in_buffer(WaveState* state, std::uint64_t lanes, const BufferResource& buffer,
                              std::uint32_t scalar_offset, std::uint32_t bytes, Access&& access) {
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t index = (state->lane_addresses[lane] >> 32) + (buffer.adds_lane ? lane : 0);
    const std::uint64_t offset = state->lane_addresses[lane] & 0xffffffff;
    for (std::uint32_t at = 0; at < bytes; at += 4) {
      const bool inside = buffer.contains(index, offset + at, piece(bytes), scalar_offset);
      const std::uint64_t address = buffer.base + scalar_offset + buffer.place(index, offset + at);
      access(lane, at / 4, inside ? std::optional(address) : std::nullopt);
    }
  });
}

/// What a kernel accesses: at any alignment.
template <class T>
struct [[gnu::packed, gnu::may_alias]] InMemory {
  T value;
};

// Plain loops in one function each: the sanitizers must not look at what a kernel accesses.
template <class T, unsigned count>
__attribute__((no_sanitize("address", "thread", "undefined"))) void gather_elements(WaveState* state,
                                                                                    std::uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    const auto* from = reinterpret_cast<const InMemory<T>*>(state->lane_addresses[lane]);  // NOLINT
    for (unsigned i = 0; i < count; ++i) state->lane_data[i][lane] = from[i].value;
  }
}
template <class T, unsigned count>
__attribute__((no_sanitize("address", "thread", "undefined"))) void scatter_elements(WaveState* state,
                                                                                     std::uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    auto* to = reinterpret_cast<InMemory<T>*>(state->lane_addresses[lane]);  // NOLINT
    for (unsigned i = 0; i < count; ++i) to[i].value = static_cast<T>(state->lane_data[i][lane]);
  }
}

}  // namespace

std::uint32_t read(std::uint64_t address, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    return *reinterpret_cast<const std::uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
  case 2:
    return *reinterpret_cast<const std::uint16_t*>(address);  // NOLINT(performance-no-int-to-ptr)
  default:
    return *reinterpret_cast<const std::uint32_t*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
}

void write(std::uint64_t address, std::uint32_t value, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    *reinterpret_cast<std::uint8_t*>(address) = static_cast<std::uint8_t>(value);  // NOLINT(performance-no-int-to-ptr)
    return;
  case 2:
    *reinterpret_cast<std::uint16_t*>(address) =  // NOLINT(performance-no-int-to-ptr)
        static_cast<std::uint16_t>(value);
    return;
  default:
    *reinterpret_cast<std::uint32_t*>(address) = value;  // NOLINT(performance-no-int-to-ptr)
  }
}

void load(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment, std::uint32_t bytes) {
  for_each_lane(lanes, [&](unsigned lane) {
    for (std::uint32_t at = 0; at < bytes; at += 4) {
      const auto address =
          host_address(*state, lane, flat_scratch, segment, state->lane_addresses[lane] + at, piece(bytes));
      state->lane_data[at / 4][lane] = address ? read(*address, piece(bytes)) : 0;
    }
  });
}

void store(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment, std::uint32_t bytes) {
  for_each_lane(lanes, [&](unsigned lane) {
    for (std::uint32_t at = 0; at < bytes; at += 4) {
      const auto address =
          host_address(*state, lane, flat_scratch, segment, state->lane_addresses[lane] + at, piece(bytes));
      if (address) write(*address, state->lane_data[at / 4][lane], piece(bytes));
    }
  });
}

void gather(WaveState* state, std::uint64_t lanes, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    return gather_elements<std::uint8_t, 1>(state, lanes);
  case 2:
    return gather_elements<std::uint16_t, 1>(state, lanes);
  case 4:
    return gather_elements<std::uint32_t, 1>(state, lanes);
  case 8:
    return gather_elements<std::uint32_t, 2>(state, lanes);
  case 12:
    return gather_elements<std::uint32_t, 3>(state, lanes);
  default:
    return gather_elements<std::uint32_t, 4>(state, lanes);
  }
}

void scatter(WaveState* state, std::uint64_t lanes, std::uint32_t bytes) {
  switch (bytes) {
  case 1:
    return scatter_elements<std::uint8_t, 1>(state, lanes);
  case 2:
    return scatter_elements<std::uint16_t, 1>(state, lanes);
  case 4:
    return scatter_elements<std::uint32_t, 1>(state, lanes);
  case 8:
    return scatter_elements<std::uint32_t, 2>(state, lanes);
  case 12:
    return scatter_elements<std::uint32_t, 3>(state, lanes);
  default:
    return scatter_elements<std::uint32_t, 4>(state, lanes);
  }
}

void buffer_load(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                 std::uint32_t scalar_offset, std::uint32_t bytes) {
  for_each_piece_in_buffer(state, lanes, {resource_low, resource_high}, scalar_offset, bytes,
                           [&](unsigned lane, std::uint32_t dword, std::optional<std::uint64_t> address) {
                             state->lane_data[dword][lane] = address ? read(*address, piece(bytes)) : 0;
                           });
}

void buffer_store(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                  std::uint32_t scalar_offset, std::uint32_t bytes) {
  for_each_piece_in_buffer(state, lanes, {resource_low, resource_high}, scalar_offset, bytes,
                           [&](unsigned lane, std::uint32_t dword, std::optional<std::uint64_t> address) {
                             if (address) write(*address, state->lane_data[dword][lane], piece(bytes));
                           });
}

std::uint64_t buffer_addresses(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low,
                               std::uint64_t resource_high, std::uint32_t scalar_offset, std::uint32_t bytes) {
  const BufferResource buffer(resource_low, resource_high);
  std::uint64_t inside = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t index = (state->lane_addresses[lane] >> 32) + (buffer.adds_lane ? lane : 0);
    const std::uint64_t offset = state->lane_addresses[lane] & 0xffffffff;
    if (buffer.contains(index, offset, bytes, scalar_offset)) {
      inside |= std::uint64_t{1} << lane;
      state->lane_addresses[lane] = buffer.base + scalar_offset + buffer.place(index, offset);
    } else {
      state->lane_data[0][lane] = state->lane_data[1][lane] = 0;
    }
  });
  return inside;
}

void permute(WaveState* state, std::uint64_t lanes) {
  std::uint32_t received[64] = {};
  for_each_lane(lanes,
                [&](unsigned lane) { received[state->lane_addresses[lane] / 4 % 64] = state->lane_data[0][lane]; });
  std::memcpy(state->lane_data[0], received, sizeof received);
}

void poll(WaveState* state) {
  constexpr std::uint32_t patience = 64;
  if (++state->polls % patience == 0) state->yield(state);
}

std::uint64_t real_time() { return shader_clock() / (1'000'000'000 / real_time_frequency); }

std::uint64_t shader_clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace softgpu::compute::runtime
