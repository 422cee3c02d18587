// Encoded steps: packets in order, and the copies between them. Encoding needs plain memory only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/record/step.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// A copy runs beside packets. It starts when the packet `after` and the earlier copies `after_copies` have completed;
// at least one of them is set. The completion signal of `after` tells that the packet completed. The barrier-AND packet
// `before` waits for the copy, by its signal number `before_signal`. Without `before`, a later copy that has one waits
// for this copy.
struct ScheduledCopy {
  CopyStep step;
  std::optional<std::size_t> after{};
  std::vector<std::size_t> after_copies{};
  std::optional<std::size_t> before{};
  std::size_t before_signal = 0;
};

struct PacketStream {
  std::vector<Packet> packets;  // the signals between packets and copies are put in per submission
  std::vector<ScheduledCopy> copies;
};

// `kernargs` is the address of the block that the steps' offsets count from.
[[nodiscard]] PacketStream encode(std::span<const Step> steps, Fences fences, const std::byte* kernargs);

}  // namespace fastdispatch::detail
