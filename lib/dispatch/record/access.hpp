// An access with its place known.
#pragma once

#include <cstdint>
#include <limits>

#include "fastdispatch/access.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// Bytes from `begin` up to `end`. Memory that is locked goes by the host's addresses, so that it has one name.
struct Access {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  AccessMode mode = AccessMode::none;
  // How far a fence must reach that orders what agents do here: system where the host or another agent may look.
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

// By `agent`. What HSA doesn't know is taken for what is stated, or for everywhere where no size is.
[[nodiscard]] Access resolve(Agent agent, const StatedAccess& stated);

}  // namespace fastdispatch::detail
