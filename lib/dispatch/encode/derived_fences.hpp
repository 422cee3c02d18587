// Barrier bits and fence scopes of a batch, derived from what its steps read and write. docs/fences.md has the rules
// and why they are enough.
#pragma once

#include <cstddef>
#include <span>

#include "dispatch/encode/packet_stream.hpp"

namespace fastdispatch::detail {

// encode() for Fences::derived.
[[nodiscard]] PacketStream encode_derived(std::span<const Step> steps, const std::byte* kernargs);

}  // namespace fastdispatch::detail
