// What steps are encoded to: packets in order, and the copies between them. Encoding needs plain memory only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/record/step.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// A copy runs beside packets. It starts when the packet `after` has completed, which the packet's completion signal
// tells, and the copies `after_copies`, earlier ones; there is one or the other at least. `before`, a barrier-AND
// packet, waits for it as its signal number `before_signal`. Where there is none, a later copy waits that has one.
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
