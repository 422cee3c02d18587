// The memory through which the kernels of a queue call the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/hostcall/abi.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/pool_memory.hpp"

namespace fastdispatch::detail::hostcall {

/// Owns the memory. Wavefronts that end in the middle of a call keep their packets, so the buffer is for one queue, and
/// goes with it.
///
/// Thread safety: one thread serves packets; device code takes and gives packets meanwhile.
/// Memory ordering: take_ready() acquires what wavefronts wrote before they pushed their packets; answer() releases the
/// host's results.
class PacketBuffer {
public:
  /// `packets`: at least as many as wavefronts can be resident, see BufferHeader. Throws Error if there is no memory.
  PacketBuffer(Agent agent, std::uint32_t packets, hsa_signal_t doorbell);

  /// What the kernels' implicit argument is.
  [[nodiscard]] BufferHeader* address() const noexcept;

  /// The indices of the packets that wait for the host, in the order in which they were pushed. Throws Error if a
  /// kernel destroyed the stack.
  [[nodiscard]] std::vector<std::uint32_t> take_ready();

  [[nodiscard]] std::uint32_t service(std::uint32_t packet) const noexcept;
  [[nodiscard]] std::uint64_t active_lanes(std::uint32_t packet) const noexcept;
  /// The words of one lane.
  [[nodiscard]] std::span<std::uint64_t, words_per_lane> slot(std::uint32_t packet, unsigned lane) const noexcept;
  /// Lets the wavefront go on.
  void answer(std::uint32_t packet) const noexcept;

private:
  std::uint32_t packets_;
  PoolMemory memory_;
  PacketHeader* headers_;  ///< not read from the buffer: kernels may write over it
  Payload* payloads_;
};

}  // namespace fastdispatch::detail::hostcall
