#pragma once

#include <cstddef>
#include <utility>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch::detail {

// Owner of one allocation from an HSA memory pool; move-only, may be empty. What the typed buffers are made of.
class FASTDISPATCH_EXPORT PoolMemory {
public:
  PoolMemory() = default;
  PoolMemory(PoolMemory&& other) noexcept { swap(other); }
  PoolMemory& operator=(PoolMemory&& other) noexcept {
    PoolMemory(std::move(other)).swap(*this);
    return *this;
  }
  ~PoolMemory();

  // In the agent's own memory. Throws Error when count * element_size overflows or the pool can't give as much.
  static PoolMemory device(Agent agent, std::size_t count, std::size_t element_size);
  // In the host's memory, at one address for the host and the agent. Throws likewise.
  static PoolMemory pinned(Agent agent, std::size_t count, std::size_t element_size);
  // In the host's memory that kernel arguments may lie in. Throws likewise.
  static PoolMemory kernarg(Agent agent, std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return view_.address; }
  [[nodiscard]] std::size_t size() const { return view_.size; }
  [[nodiscard]] const MemoryView& view() const { return view_; }

private:
  void swap(PoolMemory& other) noexcept {
    std::swap(view_, other.view_);
    std::swap(owner_, other.owner_);
  }

  MemoryView view_;
  std::optional<Agent> owner_;  // whose HSA frees the memory; none when there is nothing to free
};

}  // namespace fastdispatch::detail
