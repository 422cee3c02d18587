// The wavefronts of a queue that have begun and not ended.
//
// Thread safety: every member may be called by any worker.
#pragma once

#include <atomic>
#include <cstdint>

namespace softgpu::command_processor {

/// Counts the wavefronts that may be set aside while they wait. A GPU holds so many at most, and programs rely on it:
/// of what each wavefront needs while it waits (a packet of printf's), they provide as many.
class ResidentWaves {
public:
  explicit ResidentWaves(std::uint32_t most) : most_(most) {}

  [[nodiscard]] bool have_room_for(std::uint32_t waves) const noexcept {
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    return count == 0 || count + waves <= most_;
  }
  /// False if there is no room for the wavefronts of a work-group. A work-group alone has room.
  [[nodiscard]] bool begin(std::uint32_t waves) noexcept {
    const std::uint64_t count = count_.fetch_add(waves, std::memory_order_relaxed);
    if (count == 0 || count + waves <= most_) return true;
    end(waves);
    return false;
  }
  void end(std::uint32_t waves) noexcept { count_.fetch_sub(waves, std::memory_order_relaxed); }

private:
  std::uint64_t most_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace softgpu::command_processor
