// Work-groups that were set aside because they wait: for other work-groups, other kernels, or the host.
//
// One worker visits them in turn, between other work. More workers visit them while they make progress.
//
// Thread safety: every member may be called by any worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "softgpu/command_processor/set_aside_groups.hpp"

namespace softgpu::command_processor {

class WaitingGroups {
public:
  void add(SetAsideGroup group);
  /// The work-group that was visited the longest ago.
  [[nodiscard]] std::optional<SetAsideGroup> take() { return groups_.take(); }
  [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }
  /// So many that no more should be set aside, except of a grid whose work-groups all wait for each other.
  [[nodiscard]] bool are_many() const noexcept { return size() >= many; }

  /// Whether this worker is to visit them now.
  [[nodiscard]] bool wants_visit_by(std::uint32_t worker) noexcept;
  /// Whether this worker has to come back to them, and how long it may doze before.
  [[nodiscard]] bool is_visitor(std::uint32_t worker) const noexcept {
    return visitor_.load(std::memory_order_relaxed) == worker && size() != 0;
  }
  [[nodiscard]] bool are_stuck() const noexcept;
  /// The visitor visited a work-group; `got_on` tells whether the work-group made progress.
  void visited(bool got_on) noexcept;
  /// The worker has something else to do: another worker is to visit them.
  void leave(std::uint32_t worker) noexcept;

private:
  static constexpr std::size_t many = 4096;
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  SetAsideGroups groups_;
  std::atomic<std::uint32_t> visitor_{nobody};
  std::atomic<std::uint64_t> last_visit_{0};
  std::atomic<std::uint64_t> last_progress_{0};
};

}  // namespace softgpu::command_processor
