// A batch as a queue wants it: packets in order, and the copies between them. Encoding needs plain memory only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "dispatch/access.hpp"
#include "dispatch/kernarg_chunks.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/memory_view.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// What was recorded, one step after the other.
struct DispatchStep {
  const KernelInfo* kernel;
  Grid grid;
  std::uint64_t local_memory;      // that LocalMemory arguments add
  std::size_t kernarg;             // where its block starts in the batch's kernargs
  std::vector<Access> accesses{};  // for Fences::derived only
};
struct CopyStep {
  MemoryView destination;
  MemoryView source;
};
using Step = std::variant<DispatchStep, CopyStep>;

// What the step reads and writes. Memory that a copy touches counts as the system's.
[[nodiscard]] std::vector<Access> accesses_of(const Step& step);

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

// What a submission publishes. Any number of submissions to one queue share it unless it has copies or parameters;
// then each has its own until it completed.
struct BatchImage {
  PacketStream stream;
  KernargPart kernargs;
  std::vector<std::size_t> dispatches;  // the indices of the kernel dispatches among the packets
};

}  // namespace fastdispatch::detail
