// Kernel arguments of batches, several to an allocation: HSA allocates whole pages, and most batches need less.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <span>
#include <utility>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/kernarg.hpp"

namespace fastdispatch::detail {

class KernargShare;

// Hands out shares of a chunk until it is used up, then of another. A chunk whose shares came back is handed out again:
// an allocation takes longer than recording a batch. What no kernel reads any more is kept up to `most_unused` bytes.
//
// Thread safety: any thread may call it, and destroy shares. It outlives its shares.
class KernargChunks {
public:
  static constexpr std::size_t chunk_bytes = std::size_t{64} << 10U;
  static constexpr std::size_t most_unused = 8 * chunk_bytes;

  KernargChunks(Agent agent, KernargMemory memory) : agent_(agent), memory_(memory) {}

  // 64-byte aligned; may be empty. Throws Error as KernargBlock does.
  [[nodiscard]] KernargShare take(std::size_t bytes);

private:
  friend class KernargShare;
  struct Chunk {
    KernargBlock block;
    std::size_t used = 0;  // bytes
    std::size_t shares = 0;
  };
  using Chunks = std::list<Chunk>;

  [[nodiscard]] KernargShare share_of(Chunk& chunk, std::size_t bytes);
  // A chunk that nobody has a share of, and that wastes no more than half of itself; null if there is none.
  [[nodiscard]] Chunk* find_unused(std::size_t bytes);
  void give_back(Chunk& chunk) noexcept;

  Agent agent_;
  KernargMemory memory_;
  std::mutex mutex_;
  Chunks chunks_;
  Chunk* current_ = nullptr;  // that small shares are taken of
};

// A share of a chunk.
class KernargShare {
public:
  KernargShare() = default;
  KernargShare(KernargShare&& other) noexcept
      : chunks_(std::exchange(other.chunks_, nullptr)), chunk_(other.chunk_), bytes_(other.bytes_) {}
  KernargShare& operator=(KernargShare&& other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(chunk_, other.chunk_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~KernargShare() {
    if (chunks_ != nullptr) chunks_->give_back(*chunk_);
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  void complete_writes() const noexcept {
    if (chunks_ != nullptr) chunk_->block.complete_writes();
  }

private:
  friend class KernargChunks;
  KernargShare(KernargChunks& chunks, KernargChunks::Chunk& chunk, std::span<std::byte> bytes)
      : chunks_(&chunks), chunk_(&chunk), bytes_(bytes) {}

  KernargChunks* chunks_ = nullptr;
  KernargChunks::Chunk* chunk_ = nullptr;
  std::span<std::byte> bytes_;
};

}  // namespace fastdispatch::detail
