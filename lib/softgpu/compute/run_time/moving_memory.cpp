#include "softgpu/compute/run_time/moving_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include <sched.h>

#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::compute {
namespace {

/// The last ranges that moved, the one with the number n at n modulo their count: a fault may be looked at when its
/// move is over and others have followed.
struct Range {
  std::atomic<std::uint64_t> begin = 0;
  std::atomic<std::uint64_t> end = 0;
  std::atomic<std::uint64_t> number = 0;  ///< 0: none
};
std::array<Range, 16> ranges;
std::atomic<std::uint64_t> moves = 0;  ///< begun and ended: 2n - 1 while the one with the number n is under way

/// The number of the last move of the memory at an address; 0 if there was none.
std::uint64_t move_of(std::uint64_t address) noexcept {
  std::uint64_t last = 0;
  for (const Range& range : ranges)
    if (address >= range.begin && address < range.end) last = std::max(last, range.number.load());
  return last;
}

// Initial-exec: the handler must not be the first to touch it, which would allocate.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t waited_for = 0;

}  // namespace

MovingMemory::MovingMemory(std::uint64_t base, std::uint64_t bytes) noexcept {
  FaultGuard::stay_in_front();
  const std::uint64_t number = moves / 2 + 1;
  Range& range = ranges[number % ranges.size()];
  range.begin = base;
  range.end = base + bytes;
  range.number = number;
  ++moves;
}

MovingMemory::~MovingMemory() { ++moves; }

bool MovingMemory::wait_for(std::uint64_t address) noexcept {
  const std::uint64_t number = move_of(address);
  if (number == 0) return false;
  while (moves == 2 * number - 1) sched_yield();
  // An access that faults again after the same move faults for another reason.
  if (waited_for >= number) return false;
  waited_for = number;
  return true;
}

}  // namespace softgpu::compute
