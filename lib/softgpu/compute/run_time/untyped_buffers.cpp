#include "softgpu/compute/run_time/untyped_buffers.hpp"

#include <optional>

#include "softgpu/compute/run_time/image_view.hpp"
#include "softgpu/compute/run_time/lane_memory.hpp"

namespace softgpu::compute::runtime {
namespace {

BufferResource known_buffer(std::uint64_t low, std::uint64_t high, const UntypedAccess& access) {
  const BufferResource buffer(low, high, access.layout);
  if (!buffer.has_known_elements()) refuse_resource("a swizzled buffer whose SWIZZLE_ENABLE is 2");
  return buffer;
}

template <class Access>
void for_each_piece_in_buffer(WaveState* state, std::uint64_t lanes, const BufferResource& buffer,
                              std::uint32_t scalar_offset, const UntypedAccess& untyped, Access&& access) {
  const auto contains = [&](std::uint64_t index, std::uint64_t offset, std::uint32_t bytes) {
    return buffer.contains(index, offset, bytes, scalar_offset, untyped.is_indexed);
  };
  const std::uint32_t bytes = untyped.bytes;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t index = (state->lane_addresses[lane] >> 32) + (buffer.adds_lane ? lane : 0);
    const std::uint64_t offset = state->lane_addresses[lane] & 0xffffffff;
    for (std::uint32_t at = 0; at < bytes;) {
      const std::uint32_t size = piece(bytes - at, !buffer.is_swizzled() && contains(index, offset + at, 8));
      const bool inside = contains(index, offset + at, size);
      const std::uint64_t address = buffer.base + scalar_offset + buffer.place(index, offset + at);
      if (inside) check_access(*state, address, size);
      access(lane, at, size, inside ? std::optional(address) : std::nullopt);
      at += size;
    }
  });
}

}  // namespace

void buffer_load(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                 std::uint32_t scalar_offset, std::uint32_t access) {
  const UntypedAccess untyped = UntypedAccess::unpacked(access);
  for_each_piece_in_buffer(
      state, lanes, known_buffer(resource_low, resource_high, untyped), scalar_offset, untyped,
      [&](unsigned lane, std::uint32_t at, std::uint32_t size, std::optional<std::uint64_t> address) {
        put_lane_bytes(*state, lane, at, size, address ? read_cached(*state, *address, size) : 0);
      });
}

void buffer_store(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                  std::uint32_t scalar_offset, std::uint32_t access) {
  const UntypedAccess untyped = UntypedAccess::unpacked(access);
  for_each_piece_in_buffer(
      state, lanes, known_buffer(resource_low, resource_high, untyped), scalar_offset, untyped,
      [&](unsigned lane, std::uint32_t at, std::uint32_t size, std::optional<std::uint64_t> address) {
        if (address) write_cached(*state, *address, lane_bytes(*state, lane, at, size), size);
      });
}

std::uint64_t buffer_addresses(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low,
                               std::uint64_t resource_high, std::uint32_t scalar_offset, std::uint32_t access) {
  const UntypedAccess untyped = UntypedAccess::unpacked(access);
  const BufferResource buffer = known_buffer(resource_low, resource_high, untyped);
  std::uint64_t inside = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t index = (state->lane_addresses[lane] >> 32) + (buffer.adds_lane ? lane : 0);
    const std::uint64_t offset = state->lane_addresses[lane] & 0xffffffff;
    if (buffer.contains(index, offset, untyped.bytes, scalar_offset, untyped.is_indexed)) {
      inside |= std::uint64_t{1} << lane;
      state->lane_addresses[lane] = buffer.base + scalar_offset + buffer.place(index, offset);
    } else {
      state->lane_data[0][lane] = state->lane_data[1][lane] = 0;
    }
  });
  return inside;
}

}  // namespace softgpu::compute::runtime
