// Locking existing host memory.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch {

/// Owner of a lock on existing host memory; move-only. While the lock lives, the agent reaches the memory at
/// device_address(), and copies to and from the memory need no staging. The memory must outlive the lock.
class FASTDISPATCH_EXPORT Pin {
public:
  /// An empty span locks nothing. Throws Error when the operating system refuses to lock so much.
  Pin(Agent agent, std::span<std::byte> memory);
  template <class T, std::size_t extent>
  Pin(Agent agent, std::span<T, extent> memory) : Pin(agent, std::span<std::byte>(std::as_writable_bytes(memory))) {}
  Pin(Pin&& other) noexcept : runtime_(std::move(other.runtime_)), view_(std::exchange(other.view_, {})) {}
  Pin& operator=(Pin&& other) noexcept {
    Pin old(std::move(*this));
    runtime_ = std::move(other.runtime_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }
  ~Pin();

  /// Where kernels find the memory; it may differ from the host's address.
  [[nodiscard]] std::byte* device_address() const { return view_.device_address; }
  template <class T>
  [[nodiscard]] T* device_address_as() const {
    return reinterpret_cast<T*>(view_.device_address);
  }
  [[nodiscard]] std::size_t size_bytes() const { return view_.size; }
  operator MemoryView() const { return view_; }

private:
  detail::RuntimeShare runtime_;
  MemoryView view_;  ///< its agent unlocks the memory; without an address there is nothing to unlock
};

}  // namespace fastdispatch
