// MD5, which compressed offload bundles carry to tell damage. No cryptography.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fastdispatch::detail {

// The first 8 bytes of the MD5 of `bytes` (RFC 1321), as a little-endian number.
[[nodiscard]] std::uint64_t truncated_md5(std::span<const std::byte> bytes);

}  // namespace fastdispatch::detail
