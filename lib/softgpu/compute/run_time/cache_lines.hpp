// The lines that an access touches, of the caches that a strict soft GPU has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace softgpu::compute {

inline constexpr std::size_t cache_line_bytes = 64;

/// Calls `access(line's number, offset in it, offset in the access, bytes)` for each line that an access touches.
template <class Access>
void for_each_line(std::uint64_t address, std::uint32_t bytes, Access&& access) {
  for (std::uint32_t at = 0; at < bytes;) {
    const std::size_t offset = (address + at) % cache_line_bytes;
    const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(bytes - at, cache_line_bytes - offset));
    access((address + at) / cache_line_bytes, offset, at, size);
    at += size;
  }
}

}  // namespace softgpu::compute
