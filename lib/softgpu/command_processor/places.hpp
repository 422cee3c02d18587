// The cores that workers execute on. Two workers on one core take turns of milliseconds in the middle of a kernel, even
// while another core is idle: the operating system takes that long to notice.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace softgpu::command_processor {

/// Which worker executes on which core, as far as the workers have noted.
///
/// Thread safety: every member may be called from any thread.
class Places {
public:
  class Own;

private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  struct alignas(64) Core {
    std::atomic<std::uint32_t> worker{nobody};
  };

  static std::size_t core_count() {
    return static_cast<std::size_t>(std::clamp(sysconf(_SC_NPROCESSORS_CONF), 1L, 4096L));
  }

  std::vector<Core> cores_ = std::vector<Core>(core_count());
};

/// One worker's place.
///
/// Thread safety: none needed, it is for the worker's own thread.
class Places::Own {
public:
  Own(Places& places, std::uint32_t worker) : places_(places), worker_(worker) {}
  ~Own() { leave(); }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

  /// The core that the worker executes on now.
  std::uint32_t note() noexcept {
    const auto core = static_cast<std::uint32_t>(std::max(sched_getcpu(), 0));
    if (core == core_) return core;
    leave();
    if (core < places_.cores_.size()) {
      places_.cores_[core].worker.store(worker_, std::memory_order_relaxed);
      core_ = core;
    }
    return core;
  }

  /// The worker executes no more.
  void leave() noexcept {
    if (core_ == nowhere) return;
    std::uint32_t worker = worker_;  // unless another one came
    places_.cores_[core_].worker.compare_exchange_strong(worker, nobody, std::memory_order_relaxed);
    core_ = nowhere;
  }

  /// Moves the worker, which does not execute yet, away from a core that another worker executes on. Afterwards the
  /// worker may run on any core, as before. If another thread changes the worker's cores at the same moment, that
  /// change is lost. Takes three system calls if there is such a worker, else none.
  void settle() const noexcept {
    const int core = sched_getcpu();
    if (core < 0 || static_cast<std::size_t>(core) >= places_.cores_.size() || core >= CPU_SETSIZE) return;
    const std::uint32_t other = places_.cores_[static_cast<std::size_t>(core)].worker.load(std::memory_order_relaxed);
    if (other == nobody || other == worker_) return;
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    cpu_set_t others = all;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    sched_setaffinity(0, sizeof all, &all);
  }

private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  Places& places_;
  const std::uint32_t worker_;
  std::uint32_t core_ = nowhere;
};

}  // namespace softgpu::command_processor
