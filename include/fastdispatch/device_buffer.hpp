// Buffers in a device's memory.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/pool_memory.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch {

/// A view of consecutive elements in an agent's memory. It is a kernel argument and a side of a copy; the host does not
/// read through it.
template <class T>
class DeviceSpan {
public:
  explicit DeviceSpan(const MemoryView& view) : view_(view) {}

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(view_.device_address); }
  [[nodiscard]] std::size_t size() const { return view_.size / sizeof(T); }
  [[nodiscard]] std::size_t size_bytes() const { return view_.size; }
  operator MemoryView() const { return view_; }

private:
  MemoryView view_;
};

/// Owner of `size` elements in an agent's memory, uninitialized; move-only. A buffer of no elements is allowed: it
/// holds no memory and its data() is null. It must outlive the submissions that use it.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types only");

public:
  using value_type = T;

  DeviceBuffer() = default;
  /// `name` is what messages and traces call the buffer. Throws Error when the size overflows or the agent's memory is
  /// exhausted.
  DeviceBuffer(Agent agent, std::size_t size, std::string_view name = {})
      : memory_(detail::PoolMemory::device(agent, size, sizeof(T), name)) {}

  /// An address of the agent's; the host must not read through it.
  [[nodiscard]] T* data() { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return memory_.size() / sizeof(T); }
  [[nodiscard]] std::size_t size_bytes() const { return memory_.size(); }
  [[nodiscard]] bool empty() const { return memory_.size() == 0; }

  /// Throws Error when the range leaves the buffer.
  [[nodiscard]] DeviceSpan<T> subspan(std::size_t offset, std::size_t count) {
    return DeviceSpan<T>(memory_.view().subview(offset, count, sizeof(T)));
  }
  [[nodiscard]] DeviceSpan<const T> subspan(std::size_t offset, std::size_t count) const {
    return DeviceSpan<const T>(memory_.view().subview(offset, count, sizeof(T)));
  }
  operator MemoryView() const { return memory_.view(); }

private:
  detail::PoolMemory memory_;
};

}  // namespace fastdispatch
