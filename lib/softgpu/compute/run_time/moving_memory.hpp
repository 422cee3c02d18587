// Memory whose pages are replaced by others with the same contents, while kernels and the program may be using it.
//
// For that moment it is read-only. Whoever writes it faults, waits in the fault's handler (fault_guard.cpp), and writes
// again.
#pragma once

#include <cstdint>

namespace softgpu::compute {

/// While it lives, writers of the range wait. Whoever makes it then protects the pages, and replaces them before it
/// ends. There is one at a time.
///
/// A system call that writes the range meanwhile, such as read(), fails with EFAULT instead.
class MovingMemory {
public:
  MovingMemory(std::uint64_t base, std::uint64_t bytes) noexcept;
  ~MovingMemory();
  MovingMemory(const MovingMemory&) = delete;
  MovingMemory& operator=(const MovingMemory&) = delete;

  /// For the handler: waits while the memory at `address` moves. True if the access is to be tried again, false if the
  /// fault has nothing to do with a move.
  [[nodiscard]] static bool wait_for(std::uint64_t address) noexcept;
};

}  // namespace softgpu::compute
