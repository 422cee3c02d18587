// Kernel arguments of batches, several to an allocation: HSA allocates whole pages, and most batches need less.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/kernarg.hpp"

namespace fastdispatch::detail {

// A share of a block, which it keeps alive; 64-byte aligned. May be empty.
struct KernargShare {
  std::shared_ptr<const KernargBlock> block;
  std::span<std::byte> bytes;

  void complete_writes() const noexcept {
    if (block) block->complete_writes();
  }
};

// Hands out shares of a block until the block is used up, then of a new block. A block is freed with its last share.
//
// Thread safety: any thread may call it.
class KernargChunks {
public:
  static constexpr std::size_t chunk_bytes = std::size_t{64} << 10U;

  KernargChunks(Agent agent, KernargMemory memory) : agent_(agent), memory_(memory) {}

  // Throws Error as KernargBlock does.
  [[nodiscard]] KernargShare take(std::size_t bytes);

private:
  Agent agent_;
  KernargMemory memory_;
  std::mutex mutex_;
  std::shared_ptr<const KernargBlock> chunk_;
  std::size_t used_ = 0;  // bytes of the chunk
};

}  // namespace fastdispatch::detail
