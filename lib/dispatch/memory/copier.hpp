// Copies that the host waits for.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/memory_view.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/signal.hpp"

namespace fastdispatch::detail {

// Owns the resources of an agent's copies: signals, and two pinned blocks for pageable memory. While the device copies
// one block, the host fills or empties the other.
//
// Thread safety: every member may be called from any thread; copies through the blocks take turns.
class Copier {
public:
  explicit Copier(Agent agent);

  // A copy between two sides that the device reaches.
  void copy(const MemoryView& destination, const MemoryView& source);
  // Copies between the device and pageable memory.
  void upload(const MemoryView& destination, const std::byte* source);
  void download(std::byte* destination, const MemoryView& source);

private:
  // Measured by `./dev bench copies`: smaller ones cost hand-overs, larger ones gain nothing.
  static constexpr std::size_t block_size = std::size_t{512} * 1024;

  struct Block {
    explicit Block(Agent agent) : memory(agent, block_size), copied(agent, 0) {}
    PinnedBuffer<std::byte> memory;
    Signal copied;  // 1 while the device copies
  };

  [[nodiscard]] Block& block_at(std::size_t offset) { return blocks_[offset / block_size % blocks_.size()]; }
  void start(const MemoryView& destination, const MemoryView& source, Block& block);
  // Makes `copies` through the blocks. All of them have ended when it returns or throws.
  template <class Copies>
  void take_turn(Copies copies);

  Agent agent_;
  SignalPool signals_;
  std::mutex mutex_;  // for the blocks
  std::array<Block, 2> blocks_;
};

// The agent's; made at the first copy.
[[nodiscard]] Copier& copier_of(Agent agent);

}  // namespace fastdispatch::detail
