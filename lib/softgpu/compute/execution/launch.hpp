// A dispatch packet worked out for execution: the part that all of its work-groups share.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/kernel.hpp"

namespace softgpu::compute {

/// One work-group of a grid. Those at the grid's far edges are smaller when the sizes do not divide.
struct WorkGroup {
  std::array<std::uint32_t, 3> id;
  std::array<std::uint32_t, 3> size;     ///< in work-items
  std::uint32_t lanes = wavefront_size;  ///< of each of its wavefronts

  [[nodiscard]] std::uint32_t work_items() const { return size[0] * size[1] * size[2]; }
  [[nodiscard]] std::uint32_t waves() const { return (work_items() + lanes - 1) >> std::countr_zero(lanes); }
};

/// Where the wavefronts of one work-group have their private memory.
struct Scratch {
  std::uint64_t base = 0;          ///< what FLAT_SCRATCH and the private segment buffer start from
  std::uint64_t bytes = 0;         ///< from `base`
  std::uint32_t first_offset = 0;  ///< of the work-group's wavefront 0
  std::uint32_t wave_bytes = 0;    ///< from one wavefront to the next

  friend bool operator==(const Scratch&, const Scratch&) = default;
};

class PreparedLaunch final : public Launch {
public:
  PreparedLaunch(std::shared_ptr<const Kernel> kernel, const hsa_kernel_dispatch_packet_t& packet,
                 const QueueView& queue);

  [[nodiscard]] std::optional<Failure> renew(const hsa_kernel_dispatch_packet_t& packet,
                                             const QueueView& queue) override;
  [[nodiscard]] std::uint64_t group_count() const noexcept override;
  [[nodiscard]] std::uint32_t private_segment_bytes() const noexcept override;
  [[nodiscard]] WaitsFor waits_for() const noexcept override { return kernel_->waits_for(); }
  [[nodiscard]] bool runs_in_turn() const noexcept override;
  [[nodiscard]] std::uint32_t waves_per_group() const noexcept override;
  [[nodiscard]] std::uint32_t groups_per_compute_unit() const noexcept override;

  [[nodiscard]] const Kernel& kernel() const { return *kernel_; }
  [[nodiscard]] const QueueView& queue() const { return queue_; }
  [[nodiscard]] std::uint64_t code_address() const {
    return packet_.kernel_object + static_cast<std::uint64_t>(kernel_->descriptor().entry_offset);
  }
  /// Where the kernel reads the dispatch packet.
  [[nodiscard]] std::uint64_t packet_address() const { return std::bit_cast<std::uint64_t>(&packet_); }
  /// LDS comes in granules; reads behind the last granule give 0.
  [[nodiscard]] std::uint32_t lds_bytes() const;
  [[nodiscard]] WorkGroup group(std::uint64_t index) const {
    if (groups_[1] != 1 || groups_[2] != 1) return group_of_several_rows(index);
    WorkGroup group = first_group_;
    group.id[0] = static_cast<std::uint32_t>(index);
    group.size[0] = std::min(group.size[0], packet_.grid_size_x - group.id[0] * group.size[0]);
    return group;
  }
  /// The one so far behind `group`: in its row, or the first of the next one. There must be one.
  [[nodiscard]] WorkGroup group_behind(const WorkGroup& group, std::uint32_t distance = 1) const {
    WorkGroup behind = group;
    behind.id[0] += distance;
    if (behind.id[0] < groups_[0] - 1) return behind;  // in the same row, and not at its end: as large
    if (behind.id[0] == groups_[0]) {
      behind.id[0] = 0;
      if (++behind.id[1] == groups_[1]) {
        behind.id[1] = 0;
        ++behind.id[2];
      }
    }
    behind.size = size_of(behind.id);
    return behind;
  }

  /// The number of a work-group, x fastest.
  [[nodiscard]] std::uint64_t index_of(const WorkGroup& group) const {
    return group.id[0] + std::uint64_t{groups_[0]} * (group.id[1] + std::uint64_t{groups_[1]} * group.id[2]);
  }

  /// The SGPRs that wavefronts start with, but for the work-group's and for the offset of each wavefront's scratch.
  void fill_sgprs(std::uint32_t* sgprs, const Scratch& scratch) const;
  void set_group_id(std::uint32_t* sgprs, const WorkGroup& group) const {
    for (unsigned d = 0; d < 3; ++d)
      if (group_id_[d] != absent) sgprs[group_id_[d]] = group.id[d];
    if (!has_group_ids_in_ttmps()) return;
    sgprs[WaveState::ttmp6 + 1] = group.id[1] | group.id[2] << 16;
    sgprs[WaveState::ttmp6 + 3] = group.id[0];
  }
  /// How many of the wavefronts behind one translated code may run in the same call, up to the end of `groups`
  /// work-groups, of which `group` is the first: whole ones of work-groups that differ in x alone.
  [[nodiscard]] std::uint32_t following_waves(const WorkGroup& group, std::uint32_t wave, std::uint64_t groups) const;
  /// WaveState::group_id_place.
  [[nodiscard]] std::uint32_t group_id_place() const {
    if (has_group_ids_in_ttmps()) return offsetof(WaveState, sgprs) + sizeof(std::uint32_t) * (WaveState::ttmp6 + 3);
    if (group_id_[0] == absent) return offsetof(WaveState, no_group_id);
    return offsetof(WaveState, sgprs) + sizeof(std::uint32_t) * group_id_[0];
  }
  void set_wave_scratch_offset(std::uint32_t* sgprs, std::uint32_t offset) const {
    if (wave_scratch_offset_ != absent) sgprs[wave_scratch_offset_] = offset;
  }
  /// Those of the wavefront that starts at `first_item`: the packed ids of its work-items, in `room` or elsewhere.
  [[nodiscard]] const std::uint32_t* work_item_ids(const WorkGroup& group, std::uint32_t first_item,
                                                   std::span<std::uint32_t, wavefront_size> room) const {
    if (group.size[1] == 1 && group.size[2] == 1) return linear_ids.data() + first_item;
    if (group.work_items() == work_items_) return work_item_ids_.data() + first_item;
    return work_item_ids_of_smaller_group(group, first_item, room);
  }

private:
  static constexpr unsigned absent = ~0U;

  /// Work-item ids of a one-dimensional work-group, which is the common case.
  alignas(64) static const std::array<std::uint32_t, max_work_items_per_group> linear_ids;

  [[nodiscard]] bool has_group_ids_in_ttmps() const { return kernel_->target().architecture->has_group_ids_in_ttmps; }
  void count_work_groups();
  void lay_out_registers();
  [[nodiscard]] WorkGroup group_of_several_rows(std::uint64_t index) const;
  [[nodiscard]] std::array<std::uint32_t, 3> size_of(const std::array<std::uint32_t, 3>& group_id) const;
  [[nodiscard]] const std::uint32_t*
  work_item_ids_of_smaller_group(const WorkGroup& group, std::uint32_t first_item,
                                 std::span<std::uint32_t, wavefront_size> room) const;

  alignas(64) hsa_kernel_dispatch_packet_t packet_;  // the dispatch pointer points here
  std::shared_ptr<const Kernel> kernel_;
  QueueView queue_;
  std::array<std::uint32_t, 3> groups_;
  WorkGroup first_group_{};                   ///< no other is larger
  std::uint32_t whole_groups_in_x_ = 0;       ///< 0: their wavefronts are not whole
  std::uint32_t work_items_ = 0;              ///< of a whole work-group that is not linear
  std::vector<std::uint32_t> work_item_ids_;  ///< theirs

  std::array<std::uint32_t, WaveState::initial_sgpr_count> sgprs_ = {};
  unsigned sgpr_count_ = 0;
  unsigned private_segment_buffer_ = absent;
  unsigned flat_scratch_init_ = absent;
  std::array<unsigned, 3> group_id_ = {absent, absent, absent};
  unsigned wave_scratch_offset_ = absent;
};

}  // namespace softgpu::compute
