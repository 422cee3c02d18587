// Allocations from HSA memory pools.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/coherence.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch::detail {

/// Owns one allocation from an HSA memory pool, for the buffers; move-only, may be empty.
class FASTDISPATCH_EXPORT PoolMemory {
public:
  PoolMemory() = default;
  PoolMemory(PoolMemory&& other) noexcept
      : runtime_(std::move(other.runtime_)), view_(std::exchange(other.view_, {})) {}
  PoolMemory& operator=(PoolMemory&& other) noexcept {
    PoolMemory old(std::move(*this));
    runtime_ = std::move(other.runtime_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }
  ~PoolMemory();

  /// In the agent's own memory. `name` is for messages and traces. Throws Error when count * element_size overflows or
  /// the pool can't give as much.
  static PoolMemory device(Agent agent, std::size_t count, std::size_t element_size, std::string_view name = {});
  /// In the host's memory, at one address for the host and the agent. Throws likewise, and when there is no memory of
  /// that coherence.
  static PoolMemory pinned(Agent agent, std::size_t count, std::size_t element_size,
                           Coherence coherence = Coherence::fine_grained, std::string_view name = {});
  /// Messages and traces do not know it.
  static PoolMemory pinned(OwnAgent agent, std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return view_.address; }
  [[nodiscard]] std::size_t size() const noexcept { return view_.size; }
  [[nodiscard]] const MemoryView& view() const noexcept { return view_; }

private:
  PoolMemory(Agent agent, std::byte* memory, std::size_t bytes, MemoryKind kind, RuntimeShare runtime);
  static PoolMemory pinned(Agent agent, std::size_t bytes, Coherence coherence, RuntimeShare runtime);
  PoolMemory&& named(std::string_view name) &&;

  RuntimeShare runtime_;
  MemoryView view_;  // its agent frees the memory; without an address there is nothing to free
};

}  // namespace fastdispatch::detail
