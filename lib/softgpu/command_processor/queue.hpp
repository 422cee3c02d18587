// A queue in the program's memory that workers look at.
//
// Thread safety: any worker may call `advance`, which does nothing while another worker is inside. All other members
// may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>

#include "softgpu/command_processor/dispatch.hpp"

namespace softgpu::command_processor {

/// The worker that looks at a queue.
class Lookout {
public:
  Lookout() = default;
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;
  virtual ~Lookout() = default;
  /// The next step may take long, such as a translation: another worker has to look at the queues meanwhile.
  virtual void leave() = 0;

  /// A dispatch that no worker runs any more, to be used for another; null if there is none.
  std::shared_ptr<Dispatch> spare;
};

class Queue {
public:
  /// What a look at the queue brought.
  struct Progress {
    bool moved = false;                  ///< something was carried out
    std::shared_ptr<Dispatch> dispatch;  ///< a kernel that was launched and is to be run
  };

  virtual ~Queue() = default;

  /// Carries out packets in order, until a packet is a kernel to run or cannot go on. If another worker is inside, it
  /// prepares later packets instead.
  [[nodiscard]] Progress advance(Lookout& lookout) {
    Progress progress;
    if (!fetches()) return progress;
    if (busy_.load(std::memory_order_relaxed) || busy_.exchange(true, std::memory_order_acquire)) {
      assistants_.fetch_add(1, std::memory_order_seq_cst);
      if (fetches()) progress.moved = assist(lookout);
      assistants_.fetch_sub(1, std::memory_order_release);
      return progress;
    }
    if (fetches()) fetch(progress, lookout);
    busy_.store(false, std::memory_order_release);
    return progress;
  }

  void set_active(bool active) noexcept { active_.store(active, std::memory_order_relaxed); }

  /// Restricts the queue's kernels to some compute units, a bit each; later launches heed it. False if the queue runs
  /// no kernels.
  [[nodiscard]] virtual bool enable_compute_units(std::span<const std::uint32_t> /*mask*/) { return false; }

  /// Makes global wave sync available to the queue's kernels, none of which may run now. False if the queue runs no
  /// kernels.
  [[nodiscard]] virtual bool provide_global_sync() { return false; }

  /// Whether its ring or indices are within the range.
  [[nodiscard]] virtual bool is_in(std::uint64_t base, std::size_t size) const noexcept = 0;

  /// Returns when the runtime has done with an error that it was told, or after seconds. Called before the runtime
  /// frees what its handler of errors uses.
  virtual void wait_for_error_handler() const {}

  /// Returns when nothing touches the queue's memory any more.
  void close() {
    closed_.store(true, std::memory_order_seq_cst);
    while (busy_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    while (assistants_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
    drain();
    busy_.store(false, std::memory_order_release);
  }

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }

protected:
  virtual void fetch(Progress& progress, Lookout& lookout) = 0;
  /// Called while another worker is in fetch(). False if there was nothing to do.
  [[nodiscard]] virtual bool assist(Lookout& /*lookout*/) { return false; }
  /// Called once, when the queue is closed: waits for what is in flight.
  virtual void drain() {}

  /// An error ends the queue.
  /// True for the first one.
  [[nodiscard]] bool stop() noexcept { return !stopped_.exchange(true, std::memory_order_acq_rel); }
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }

private:
  [[nodiscard]] bool fetches() const noexcept {
    return active_.load(std::memory_order_relaxed) && !stopped() && !closed();
  }

  std::atomic<bool> busy_{false};
  std::atomic<unsigned> assistants_{0};
  std::atomic<bool> active_{true};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> closed_{false};
};

}  // namespace softgpu::command_processor
