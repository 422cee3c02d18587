#include "softgpu/compute/run_time/moving_memory.hpp"

#include <atomic>

#include <sched.h>

#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::compute {
namespace {

/// The last range that moved. A fault may be looked at when the move is over.
std::atomic<std::uint64_t> moved_begin = 0;
std::atomic<std::uint64_t> moved_end = 0;
std::atomic<std::uint64_t> moves = 0;  ///< begun and ended: odd while one is under way

// Initial-exec: the handler must not be the first to touch it, which would allocate.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t waited_for = 0;

}  // namespace

MovingMemory::MovingMemory(std::uint64_t base, std::uint64_t bytes) noexcept {
  FaultGuard::stay_in_front();
  moved_begin = base;
  moved_end = base + bytes;
  ++moves;
}

MovingMemory::~MovingMemory() { ++moves; }

bool MovingMemory::wait_for(std::uint64_t address) noexcept {
  if (address < moved_begin || address >= moved_end) return false;
  while (moves % 2 != 0) sched_yield();
  // An access that faults again after the same move faults for another reason.
  if (waited_for == moves) return false;
  waited_for = moves;
  return true;
}

}  // namespace softgpu::compute
