// An access with its place known.
#pragma once

#include <cstdint>
#include <limits>

#include "fastdispatch/access.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// Bytes from `begin` up to `end`. Locked memory has two addresses; the host's is used.
struct Access {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  AccessMode mode = AccessMode::none;
  // How far a fence must reach that orders accesses here: system if the host or another agent may look.
  FenceScope scope = FenceScope::agent;

  [[nodiscard]] bool reads() const noexcept { return mode == AccessMode::read || mode == AccessMode::read_write; }
  [[nodiscard]] bool writes() const noexcept { return mode == AccessMode::write || mode == AccessMode::read_write; }
};

// All the memory there is.
[[nodiscard]] constexpr Access everywhere(AccessMode mode) noexcept {
  return {.begin = 0, .end = std::numeric_limits<std::uintptr_t>::max(), .mode = mode, .scope = FenceScope::system};
}

// Of a copy's source or destination.
[[nodiscard]] Access access_by_copy(const MemoryView& memory, AccessMode mode) noexcept;

// An access by `agent`. If HSA does not know the memory, the stated range counts; without a size, all memory.
[[nodiscard]] Access resolve(Agent agent, const StatedAccess& stated);

}  // namespace fastdispatch::detail
