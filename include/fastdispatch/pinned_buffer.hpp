// Buffers in pinned host memory.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/coherence.hpp"
#include "fastdispatch/detail/pool_memory.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch {

/// Owner of `size` elements of host memory, of the NUMA node nearest to the agent, that every GPU of the agent's
/// runtime reaches at the same address, uninitialized; move-only. A buffer of no elements is allowed: it holds no
/// memory and its data() is null. It must outlive the submissions that use it.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "memory shared with a device holds trivially copyable types only");

public:
  using value_type = T;

  PinnedBuffer() = default;
  /// `name` is what messages and traces call the buffer. Throws Error when the size overflows or the memory is
  /// exhausted.
  PinnedBuffer(Agent agent, std::size_t size, std::string_view name = {})
      : PinnedBuffer(agent, size, Coherence::fine_grained, name) {}
  /// Throws Error likewise, and when the host has no memory of that coherence.
  PinnedBuffer(Agent agent, std::size_t size, Coherence coherence, std::string_view name = {})
      : memory_(detail::PoolMemory::pinned(agent, size, sizeof(T), coherence, name)) {}

  [[nodiscard]] T* data() { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return memory_.size() / sizeof(T); }
  [[nodiscard]] std::size_t size_bytes() const { return memory_.size(); }
  [[nodiscard]] bool empty() const { return memory_.size() == 0; }

  [[nodiscard]] std::span<T> span() { return {data(), size()}; }
  [[nodiscard]] std::span<const T> span() const { return {data(), size()}; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size(); }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size(); }
  [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }

  operator MemoryView() const { return memory_.view(); }

private:
  detail::PoolMemory memory_;
};

}  // namespace fastdispatch
