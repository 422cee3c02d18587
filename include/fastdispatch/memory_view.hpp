// Memory as a side of a copy.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

/// Where memory lies, for a copy.
enum class MemoryKind {
  device,    ///< in an agent's own memory
  pinned,    ///< in host memory that agents reach, allocated from a pool or locked
  pageable,  ///< any other host memory
};

/// A view of bytes with the agent that they belong to: a side of a copy. DeviceBuffer, PinnedBuffer and Pin convert to
/// it; for a std::span, view_of asks HSA what kind of memory it is.
struct MemoryView {
  std::byte* address = nullptr;         ///< the host's address, for device memory the agent's
  std::byte* device_address = nullptr;  ///< the agent's; it differs for memory locked by Pin
  std::size_t size = 0;                 ///< bytes
  MemoryKind kind = MemoryKind::pageable;
  std::optional<Agent> agent;  ///< the owner of device memory, the agent that pinned memory was made for

  /// Both in elements of `element_size` bytes. Throws Error when the range leaves the view.
  [[nodiscard]] FASTDISPATCH_EXPORT MemoryView subview(std::size_t offset, std::size_t count,
                                                       std::size_t element_size = 1) const;
};

/// `near` is any agent of the runtime that the memory may belong to.
/// Throws Error when the bytes reach past their allocation, are in another device's memory, or HSA refuses.
[[nodiscard]] FASTDISPATCH_EXPORT MemoryView view_of(Agent near, std::span<std::byte> bytes);

}  // namespace fastdispatch
