// A launched kernel: its work-groups are handed out in ranges. The worker that finishes the last one completes it.
//
// Thread safety: every member may be called by any worker.
// Memory ordering: finished() returning true happens after every work-group of the grid.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <hsa/hsa.h>

#include "softgpu/command_processor/grid.hpp"
#include "softgpu/command_processor/shares.hpp"
#include "softgpu/command_processor/shuffle.hpp"

namespace softgpu::command_processor {

class AqlQueue;

class Dispatch {
public:
  using Range = Shares::Range;

  struct Properties {
    std::uint64_t packet_index = 0;
    std::uint64_t kernel_object = 0;
    hsa_signal_t completion_signal{};
    bool profiled = false;
    bool traced = false;
    hsa_fence_scope_t release_scope = HSA_FENCE_SCOPE_SYSTEM;
    IndexPermutation order;                          ///< in which work-groups run
    std::uint32_t worker_limit = ~std::uint32_t{0};  ///< workers from this index on have no scratch slots here
    bool is_short = false;                           ///< likely over before another worker could help
  };

  Dispatch(std::shared_ptr<AqlQueue> queue, std::shared_ptr<Grid> grid, const Properties& properties,
           std::uint32_t cores);

  /// Turns it into another dispatch, once no worker runs it any more.
  void renew(AqlQueue& queue, std::shared_ptr<Grid> grid, const Properties& properties, std::uint32_t cores);
  /// Leaves it without a grid, until renew().
  [[nodiscard]] std::shared_ptr<Grid> take_grid() noexcept { return std::move(grid_); }

  /// The next work-groups to run, on the core of that number; none when all are taken.
  [[nodiscard]] std::optional<Range> claim(std::uint32_t core) noexcept { return shares_.claim(core); }
  /// Work-groups that wait for what others do, or whose turn was over.
  using SetAside = std::vector<std::unique_ptr<compute::SuspendedGroup>>;
  /// Runs a claimed range, up to a work-group whose turn was over, or for which there is no place. Adds to `set_aside`,
  /// and gives back what is left of the range. Returns how many work-groups have finished.
  [[nodiscard]] std::uint64_t run(const Range& range, std::uint32_t worker, SetAside& set_aside);
  /// So many claimed work-groups have finished. True when they were the last of the grid: the caller then completes the
  /// dispatch.
  [[nodiscard]] bool finished(std::uint64_t groups) noexcept;
  /// Goes on with a work-group that was set aside, or ends it where the dispatch is at its end; it is left in `group`
  /// if it is to be set aside again. True when it was the last of the grid to finish.
  [[nodiscard]] bool resume(std::unique_ptr<compute::SuspendedGroup>& group, std::uint32_t worker);
  /// Ends a work-group whose time is up. True when it was the last of the grid to finish.
  [[nodiscard]] bool end(std::unique_ptr<compute::SuspendedGroup>& group);
  /// As run(), for the whole grid. No other worker may know of this dispatch.
  [[nodiscard]] std::uint64_t run_alone(std::uint32_t worker, SetAside& set_aside);
  /// Tells the queue. Called once.
  void complete();

  /// A worker will look for work-groups here; or it has looked, and does not touch the dispatch afterwards.
  void join() noexcept { members_.fetch_add(1, std::memory_order_relaxed); }
  void part() noexcept { members_.fetch_sub(1, std::memory_order_release); }
  /// Whether the caller, which has joined, may renew a completed dispatch that no worker can join any more. A
  /// work-group that was set aside keeps its dispatch without being a member.
  [[nodiscard]] bool is_left_by_others() const noexcept {
    return members_.load(std::memory_order_acquire) == 1 && !may_wait() && last_pause_ == 0;
  }
  /// Whether further work-groups are to begin only later: so many are not through with their turns. None would ever
  /// begin that those in turns wait for; so one begins now and then.
  [[nodiscard]] bool has_enough_in_turns(std::uint32_t workers) const noexcept;

  [[nodiscard]] std::uint64_t group_count() const noexcept { return count_; }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool waits_for_itself() const noexcept { return grid_->waits_for() == compute::WaitsFor::whole_grid; }
  [[nodiscard]] bool may_wait() const noexcept { return grid_->waits_for() >= compute::WaitsFor::anyone; }
  /// Whether another work-group may begin: the GPU holds only so many wavefronts that wait.
  [[nodiscard]] bool has_places() const noexcept;
  [[nodiscard]] bool has_unclaimed() const noexcept { return shares_.are_left(); }
  [[nodiscard]] bool admits(std::uint32_t worker) const noexcept { return worker < properties_.worker_limit; }
  [[nodiscard]] const Properties& properties() const noexcept { return properties_; }
  [[nodiscard]] const std::shared_ptr<AqlQueue>& queue() const noexcept { return queue_; }
  [[nodiscard]] std::uint64_t interrupt_token() const noexcept { return grid_->interrupt_token(); }
  [[nodiscard]] std::uint64_t start_time() const noexcept { return start_time_; }

private:
  [[nodiscard]] std::uint64_t run_range(const Range& range, std::uint32_t worker, SetAside& set_aside);
  [[nodiscard]] bool take_place() noexcept;
  void give_place_back() noexcept;
  void note_pause() noexcept;
  void note_pace(const Range& range, std::uint64_t start) noexcept;
  void fail(compute::Failure failure);
  [[nodiscard]] bool is_over() const noexcept;

  std::shared_ptr<AqlQueue> queue_;
  std::shared_ptr<Grid> grid_;
  Properties properties_;
  std::uint64_t count_;
  bool is_in_order_;
  std::uint64_t start_time_ = 0;
  Shares shares_;
  std::atomic<std::uint32_t> paused_{0};      // work-groups whose turn was over
  std::atomic<std::uint64_t> last_pause_{0};  // when a work-group's turn was over first, or when such a one ended; or 0
  std::atomic<bool> failed_{false};
  std::optional<compute::Failure> failure_;  // written by the worker that set failed_ first
  alignas(64) std::atomic<std::uint64_t> finished_{0};
  std::atomic<std::uint32_t> members_{0};
};

}  // namespace softgpu::command_processor
