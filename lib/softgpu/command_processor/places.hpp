// The cores that workers execute on: two workers on one while another is idle take turns of milliseconds, in the middle
// of a kernel that both are needed for, and the operating system takes as long to notice.
//
// Thread safety: every member is for the worker that it names.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include <sched.h>

namespace softgpu::command_processor {

class Places {
public:
  explicit Places(std::uint32_t workers) : places_(workers) {}

  /// The core that the worker executes on from here on.
  std::uint32_t note(std::uint32_t worker) noexcept {
    const int core = std::max(sched_getcpu(), 0);
    std::atomic<int>& place = places_[worker].core;
    if (place.load(std::memory_order_relaxed) != core) place.store(core, std::memory_order_relaxed);
    return static_cast<std::uint32_t>(core);
  }
  void leave(std::uint32_t worker) noexcept { places_[worker].core.store(nowhere, std::memory_order_relaxed); }

  /// Moves the worker, which does not execute yet, away from a core that another one executes on. It may run anywhere
  /// afterwards, as before.
  void settle() const noexcept {
    const int core = sched_getcpu();
    const bool is_taken = std::ranges::any_of(
        places_, [&](const Place& place) { return place.core.load(std::memory_order_relaxed) == core; });
    cpu_set_t all;
    if (!is_taken || core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0) return;
    cpu_set_t others = all;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    sched_setaffinity(0, sizeof all, &all);
  }

private:
  static constexpr int nowhere = -1;
  struct alignas(64) Place {
    std::atomic<int> core{nowhere};
  };
  std::vector<Place> places_;
};

}  // namespace softgpu::command_processor
