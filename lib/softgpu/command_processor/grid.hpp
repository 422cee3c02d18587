// A kernel dispatch as the scheduler sees it: work-groups to run. The compute side provides them; tests do as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <hsa/hsa.h>

#include "softgpu/compute/execution/engine.hpp"

namespace softgpu::command_processor {

class Lookout;

/// Immutable once prepared: any number of workers run its work-groups at once.
class Grid {
public:
  virtual ~Grid() = default;
  [[nodiscard]] virtual std::uint64_t group_count() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t waves_per_group() const noexcept { return 1; }
  /// Scratch memory that each work-item needs.
  [[nodiscard]] virtual std::uint32_t private_segment_bytes() const noexcept = 0;
  /// Runs one work-group. Workers that run at the same time have different numbers. A work-group that waits for other
  /// work-groups, or whose turn is over, may be handed back. Any worker may go on with it later. It must not outlive
  /// the grid.
  using Outcome = compute::WorkGroupRunner::Outcome;
  [[nodiscard]] virtual Outcome start_group(std::uint32_t worker, std::uint64_t group) const = 0;
  /// Runs some of the work-groups from `begin` to before `end`; `begin` is then the next one. All but the last that was
  /// run have ended.
  [[nodiscard]] virtual Outcome start_groups(std::uint32_t worker, std::uint64_t& begin, std::uint64_t /*end*/) const {
    return start_group(worker, begin++);
  }
  [[nodiscard]] virtual Outcome resume_group(std::uint32_t worker,
                                             std::unique_ptr<compute::SuspendedGroup> group) const {
    static_cast<void>(worker);
    return group->end();
  }
  /// What its work-groups may wait for.
  [[nodiscard]] virtual compute::WaitsFor waits_for() const noexcept { return compute::WaitsFor::nothing; }
  /// What compute::interrupt() calls this grid; 0 where it cannot be interrupted.
  [[nodiscard]] virtual std::uint64_t interrupt_token() const noexcept { return 0; }
};

/// Makes grids of dispatch packets, for one GPU.
///
/// Thread safety: every member is called from any worker, several at once.
class GridSource {
public:
  virtual ~GridSource() = default;
  /// Prepares `grid`: null for a new one, or a grid of an earlier call that no worker runs any more. The first use of a
  /// kernel translates it, which takes long: `lookout` leaves before.
  [[nodiscard]] virtual std::optional<compute::Failure> prepare(std::shared_ptr<Grid>& grid,
                                                                const hsa_kernel_dispatch_packet_t& packet,
                                                                const compute::QueueView& queue, Lookout& lookout) = 0;
  /// Translates a kernel that prepare() will be asked for, unless it is known. prepare() reports a failure.
  virtual void translate_ahead(const hsa_kernel_dispatch_packet_t& packet) = 0;
  /// Where in the kernel the failure came from, for a person; empty if it is not known.
  [[nodiscard]] virtual std::string place_of(std::uint64_t kernel_object, const compute::Failure& failure) = 0;
  virtual void forget_code(std::uint64_t base, std::size_t size) = 0;
};

}  // namespace softgpu::command_processor
