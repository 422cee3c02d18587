#include "dispatch/memory/kernarg_chunks.hpp"

#include "dispatch/memory/kernarg_ring.hpp"

namespace fastdispatch::detail {

KernargShare KernargChunks::take(std::size_t bytes) {
  if (bytes == 0) return {};
  const auto make = [&](std::size_t size) { return std::make_shared<const KernargBlock>(agent_, size, memory_); };
  // A large request gets a block of its own, so that little of a chunk is left over.
  if (bytes > chunk_bytes / 4) {
    auto block = make(bytes);
    return {.block = block, .bytes = block->bytes()};
  }
  const std::scoped_lock lock(mutex_);
  if (!chunk_ || chunk_bytes - used_ < bytes) {
    chunk_ = make(chunk_bytes);
    used_ = 0;
  }
  KernargShare share{.block = chunk_, .bytes = chunk_->bytes().subspan(used_, bytes)};
  constexpr std::size_t line = KernargRing::alignment;
  used_ += (bytes + line - 1) / line * line;
  return share;
}

}  // namespace fastdispatch::detail
