#include "dispatch/memory/kernarg_chunks.hpp"

#include <algorithm>

#include "dispatch/memory/kernarg_ring.hpp"

namespace fastdispatch::detail {

KernargShare KernargChunks::take(std::size_t bytes) {
  if (bytes == 0) return {};
  // A large request gets a chunk of its own, so that little of a chunk is left over.
  const bool is_small = bytes <= chunk_bytes / 4;
  const std::scoped_lock lock(mutex_);
  if (is_small && current_ != nullptr && chunk_bytes - current_->used >= bytes) return share_of(*current_, bytes);
  const std::size_t size = is_small ? chunk_bytes : bytes;
  Chunk* chunk = find_unused(size);
  if (chunk == nullptr) chunk = &chunks_.emplace_back(Chunk{.block = KernargBlock(agent_, size, memory_)});
  if (is_small) current_ = chunk;
  return share_of(*chunk, bytes);
}

KernargShare KernargChunks::share_of(Chunk& chunk, std::size_t bytes) {
  constexpr std::size_t line = KernargRing::alignment;
  const auto share = chunk.block.bytes().subspan(chunk.used, bytes);
  chunk.used += (bytes + line - 1) / line * line;
  ++chunk.shares;
  return {*this, chunk, share};
}

KernargChunks::Chunk* KernargChunks::find_unused(std::size_t bytes) {
  const auto found = std::ranges::find_if(chunks_, [&](const Chunk& chunk) {
    const std::size_t size = chunk.block.bytes().size();
    return chunk.shares == 0 && &chunk != current_ && size >= bytes && size / 2 <= bytes;
  });
  return found == chunks_.end() ? nullptr : &*found;
}

void KernargChunks::give_back(Chunk& chunk) noexcept {
  Chunks freed;  // outside the lock
  const std::scoped_lock lock(mutex_);
  if (--chunk.shares != 0) return;
  chunk.used = 0;
  std::size_t unused = 0;
  for (auto next = chunks_.begin(); next != chunks_.end();) {
    const auto each = next++;
    if (each->shares != 0 || &*each == current_) continue;
    unused += each->block.bytes().size();
    if (unused > most_unused) freed.splice(freed.end(), chunks_, each);
  }
}

}  // namespace fastdispatch::detail
