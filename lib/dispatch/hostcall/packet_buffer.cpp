#include "dispatch/hostcall/packet_buffer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include <spdlog/fmt/fmt.h>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail::hostcall {
namespace {

constexpr std::size_t line = 64;

constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

// Payloads first, then headers: both at whole lines.
constexpr std::size_t payloads_offset = whole_lines(sizeof(BufferHeader));
constexpr std::size_t headers_offset(std::uint32_t packets) { return payloads_offset + packets * sizeof(Payload); }
constexpr std::size_t bytes_for(std::uint32_t packets) {
  return headers_offset(packets) + packets * sizeof(PacketHeader);
}

}  // namespace

PacketBuffer::PacketBuffer(Agent agent, std::uint32_t packets, hsa_signal_t doorbell)
    : packets_(std::max(packets, 2U)), memory_(PoolMemory::pinned(OwnAgent{agent}, bytes_for(packets_))) {
  std::byte* base = memory_.data();
  payloads_ = reinterpret_cast<Payload*>(base + payloads_offset);  // written by wavefronts before it is read
  headers_ = reinterpret_cast<PacketHeader*>(base + headers_offset(packets_));
  const std::uint64_t mask = std::bit_ceil(packets_) - 1;
  // The packet 0 has a tag from the start: a pointer of 0 ends the stack.
  std::uint64_t top = 0;
  for (std::uint32_t i = 0; i < packets_; ++i) {
    new (headers_ + i) PacketHeader{.next = top, .active_lanes = 0, .service = 0, .control = 0};
    top = i == 0 ? mask + 1 : i;
  }
  new (base) BufferHeader{.headers = headers_,
                          .payloads = payloads_,
                          .doorbell = doorbell,
                          .free_stack = top,
                          .ready_stack = 0,
                          .index_mask = mask};
}

BufferHeader* PacketBuffer::address() const noexcept { return reinterpret_cast<BufferHeader*>(memory_.data()); }

std::vector<std::uint32_t> PacketBuffer::take_ready() {
  std::vector<std::uint32_t> ready;
  const std::uint64_t mask = std::bit_ceil(packets_) - 1;
  std::uint64_t top = std::atomic_ref(address()->ready_stack).exchange(0, std::memory_order_acquire);
  while (top != 0) {
    const std::uint64_t index = top & mask;
    if (index >= packets_ || ready.size() == packets_)
      throw Error("a kernel wrote over the memory through which it calls the host");
    ready.push_back(static_cast<std::uint32_t>(index));
    top = std::atomic_ref(headers_[index].next).load(std::memory_order_relaxed);
  }
  std::reverse(ready.begin(), ready.end());
  return ready;
}

std::uint32_t PacketBuffer::service(std::uint32_t packet) const noexcept { return headers_[packet].service; }
std::uint64_t PacketBuffer::active_lanes(std::uint32_t packet) const noexcept { return headers_[packet].active_lanes; }

std::span<std::uint64_t, words_per_lane> PacketBuffer::slot(std::uint32_t packet, unsigned lane) const noexcept {
  return std::span(payloads_[packet].slots[lane]);
}

void PacketBuffer::answer(std::uint32_t packet) const noexcept {
  std::atomic_ref(headers_[packet].control).fetch_and(~waits_for_host, std::memory_order_release);
}

}  // namespace fastdispatch::detail::hostcall
