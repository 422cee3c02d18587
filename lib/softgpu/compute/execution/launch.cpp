#include "softgpu/compute/execution/launch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "occupancy/occupancy.hpp"
#include "softgpu/compute/execution/recycling_allocator.hpp"

namespace softgpu::compute {
namespace {

/// The most work-groups of a grid, which would take centuries. Counters of work-groups have a few bits more.
constexpr std::uint64_t most_groups = std::uint64_t{1} << 48;

std::array<std::uint32_t, 3> grid_size(const hsa_kernel_dispatch_packet_t& packet) {
  return {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
}

std::array<std::uint32_t, 3> group_size(const hsa_kernel_dispatch_packet_t& packet) {
  return {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
}

/// Of the grid, along each dimension.
std::array<std::uint32_t, 3> group_counts(const hsa_kernel_dispatch_packet_t& packet) {
  std::array<std::uint32_t, 3> counts{};
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t size = group_size(packet)[d];
    counts[d] = static_cast<std::uint32_t>((grid_size(packet)[d] + size - 1) / size);
  }
  return counts;
}

std::string in_three_dimensions(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]);
}

/// The checks of the HSA specification, section 2.9.6 "Kernel dispatch packet", and of this device's limits.
std::optional<Failure> check(const hsa_kernel_dispatch_packet_t& packet) {
  const auto grid = grid_size(packet);
  const auto group = group_size(packet);
  const unsigned dimensions = (packet.setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS) &
                              ((1U << HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS) - 1);
  const auto invalid = [](std::string text) { return Failure{Failure::Kind::invalid_dimensions, 0, std::move(text)}; };
  if (dimensions < 1 || dimensions > 3) {
    return invalid("the packet says " + std::to_string(dimensions) + " dimensions; there are 1 to 3");
  }
  if (std::ranges::count(grid, 0U) != 0) return invalid("the grid is " + in_three_dimensions(grid) + " work-items");
  if (std::ranges::count(group, 0U) != 0) {
    return invalid("the work-group is " + in_three_dimensions(group) + " work-items");
  }
  for (unsigned d = dimensions; d < 3; ++d) {
    if (grid[d] != 1 || group[d] != 1) {
      return invalid("sizes of dimensions beyond the packet's " + std::to_string(dimensions) +
                     " must be 1; the grid is " + in_three_dimensions(grid) + ", the work-group " +
                     in_three_dimensions(group));
    }
  }
  if (std::uint64_t{group[0]} * group[1] * group[2] > max_work_items_per_group) {
    return Failure{Failure::Kind::work_group_size, 0,
                   "the work-group is " + in_three_dimensions(group) + " work-items; the limit is " +
                       std::to_string(max_work_items_per_group)};
  }
  const auto groups = group_counts(packet);
  if (std::uint64_t{groups[0]} * groups[1] > most_groups / groups[2]) {
    return invalid("the grid is " + in_three_dimensions(groups) + " work-groups; the limit is 2^48 in all");
  }
  return std::nullopt;
}

/// The limits of the kernel's GPU. Code that expects more of a wavefront's ids than a packet brings would be wrong.
std::optional<Failure> check(const Kernel& kernel, const hsa_kernel_dispatch_packet_t& packet) {
  const std::uint32_t most_lds_bytes = kernel.target().architecture->compute_unit->lds_bytes;
  if (packet.group_segment_size > most_lds_bytes) {
    return Failure{Failure::Kind::group_memory, 0,
                   "the work-group asks for " + std::to_string(packet.group_segment_size) +
                       " bytes of group memory; the limit is " + std::to_string(most_lds_bytes)};
  }
  constexpr std::uint32_t most_in_half_a_register = 0x10000;
  const auto groups = group_counts(packet);
  if (kernel.target().architecture->has_group_ids_in_ttmps && std::max(groups[1], groups[2]) > most_in_half_a_register)
    return Failure{Failure::Kind::invalid_dimensions, 0,
                   "the grid is " + in_three_dimensions(groups) +
                       " work-groups; this GPU numbers up to 65536 of them in y and in z"};
  if (!kernel.start().has_ids_in_rows || has_ids_in_rows(packet, kernel.target().wavefront_size)) return std::nullopt;
  return Failure{Failure::Kind::invalid_dimensions, packet.kernel_object,
                 "the kernel was translated for work-groups of another shape"};
}

/// The fields that check() looks at.
auto sizes(const hsa_kernel_dispatch_packet_t& packet) {
  return std::tie(packet.setup, packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z,
                  packet.grid_size_x, packet.grid_size_y, packet.grid_size_z, packet.group_segment_size);
}

bool is_linear(const std::array<std::uint32_t, 3>& size) { return size[1] == 1 && size[2] == 1; }

constexpr std::uint32_t up_to_whole_waves(std::uint32_t work_items) {
  return (work_items + wavefront_size - 1) / wavefront_size * wavefront_size;
}

/// The packed ids of the work-items of a group of this size, from `ids` on; `dimensions` is one less than the number of
/// ids that the kernel asks for.
void number_work_items(const std::array<std::uint32_t, 3>& size, unsigned dimensions, std::span<std::uint32_t> ids,
                       std::uint32_t first) {
  std::uint32_t x = first % size[0];
  std::uint32_t y = first / size[0] % size[1];
  std::uint32_t z = first / size[0] / size[1];
  for (std::uint32_t& id : ids) {
    // A kernel that does not ask for y or z uses v0 as x, without a mask.
    id = x | (dimensions >= 1 ? y << 10 : 0) | (dimensions >= 2 ? z << 20 : 0);
    if (++x < size[0]) continue;
    x = 0;
    if (++y < size[1]) continue;
    y = 0;
    ++z;
  }
}

}  // namespace

alignas(64) constinit const std::array<std::uint32_t, max_work_items_per_group> PreparedLaunch::linear_ids = [] {
  std::array<std::uint32_t, max_work_items_per_group> ids{};
  for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = i;
  return ids;
}();

bool has_ids_in_rows(const hsa_kernel_dispatch_packet_t& packet, std::uint32_t lanes) noexcept {
  const auto group = group_size(packet);
  if (is_linear(group)) return true;
  return group[0] != 0 && group[0] % lanes == 0 && packet.grid_size_x % group[0] % lanes == 0;
}

std::uint64_t Launch::next_identity() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::variant<std::shared_ptr<Launch>, Failure>
Launch::make(std::shared_ptr<const Kernel> kernel, const hsa_kernel_dispatch_packet_t& packet, const QueueView& queue) {
  if (auto failure = check(packet)) return *std::move(failure);
  if (auto failure = check(*kernel, packet)) return *std::move(failure);
  const KernelDescriptor& descriptor = kernel->descriptor();
  constexpr unsigned work_group_counts = 0x380;  // amd_kernel_code_t's; reserved since
  if (descriptor.wants_group_info() || (descriptor.properties & work_group_counts)) {
    return Failure{Failure::Kind::invalid_code_object, packet.kernel_object,
                   "the kernel asks for work-group info or work-group counts in its first SGPRs; these are not "
                   "supported"};
  }
  constexpr unsigned most_user_sgprs = 16;
  if (descriptor.user_sgpr_count() > most_user_sgprs) {
    return Failure{Failure::Kind::invalid_code_object, packet.kernel_object,
                   "the kernel descriptor asks for " + std::to_string(descriptor.user_sgpr_count()) +
                       " user SGPRs; the limit is " + std::to_string(most_user_sgprs)};
  }
  return std::allocate_shared<PreparedLaunch>(RecyclingAllocator<PreparedLaunch>(), std::move(kernel), packet, queue);
}

PreparedLaunch::PreparedLaunch(std::shared_ptr<const Kernel> kernel, const hsa_kernel_dispatch_packet_t& packet,
                               const QueueView& queue)
    : packet_(packet), kernel_(std::move(kernel)), queue_(queue), groups_() {
  count_work_groups();
  lay_out_registers();
}

std::optional<Failure> PreparedLaunch::renew(const hsa_kernel_dispatch_packet_t& packet, const QueueView& queue) {
  const bool same_sizes = sizes(packet_) == sizes(packet);
  if (!same_sizes) {
    if (auto failure = check(packet)) return failure;
    if (auto failure = check(*kernel_, packet)) return failure;
  }
  take_new_identity();
  packet_ = packet;
  queue_ = queue;
  if (!same_sizes) count_work_groups();
  lay_out_registers();
  return std::nullopt;
}

void PreparedLaunch::count_work_groups() {
  groups_ = group_counts(packet_);
  first_group_ = group_of_several_rows(0);
  const bool is_whole = first_group_.size == group_size(packet_) && first_group_.work_items() % first_group_.lanes == 0;
  whole_groups_in_x_ = is_whole ? packet_.grid_size_x / first_group_.size[0] : 0;
  if (is_linear(group_size(packet_))) return;
  const auto [x, y, z] = group_size(packet_);
  work_items_ = x * y * z;
  work_item_ids_.resize(up_to_whole_waves(work_items_));
  number_work_items(group_size(packet_), kernel_->descriptor().work_item_id_dimensions(), work_item_ids_, 0);
}

// The order is that of LLVM's AMDGPU usage guide, "Initial Kernel Execution State".
void PreparedLaunch::lay_out_registers() {
  const KernelDescriptor& descriptor = kernel_->descriptor();
  unsigned next = 0;
  const auto claim = [&](bool wanted, unsigned dwords) {
    if (!wanted) return absent;
    next += dwords;
    return next - dwords;
  };
  const auto claim_and_set = [&](bool wanted, std::uint64_t value, unsigned dwords = 2) {
    const unsigned at = claim(wanted, dwords);
    if (wanted) std::memcpy(&sgprs_[at], &value, dwords * sizeof(std::uint32_t));
  };
  private_segment_buffer_ = claim(descriptor.wants_private_segment_buffer(), 4);
  claim_and_set(descriptor.wants_dispatch_ptr(), packet_address());
  claim_and_set(descriptor.wants_queue_ptr(), queue_.queue_address);
  claim_and_set(descriptor.wants_kernarg_ptr(), std::bit_cast<std::uint64_t>(packet_.kernarg_address));
  claim_and_set(descriptor.wants_dispatch_id(), queue_.dispatch_id);
  flat_scratch_init_ = claim(descriptor.wants_flat_scratch_init(), 2);
  claim_and_set(descriptor.wants_private_segment_size(), packet_.private_segment_size, 1);

  next = descriptor.user_sgpr_count();
  for (unsigned d = 0; d < 3; ++d) group_id_[d] = claim(descriptor.wants_group_id(d) && !has_group_ids_in_ttmps(), 1);
  const bool is_architected = kernel_->target().architecture->flat_scratch == Architecture::FlatScratch::architected;
  wave_scratch_offset_ = claim(descriptor.uses_private_segment() && !is_architected, 1);
  sgpr_count_ = next;
}

std::uint32_t PreparedLaunch::private_segment_bytes() const noexcept {
  const KernelDescriptor& descriptor = kernel_->descriptor();  // amd_kernel_code_t has another field there
  if (!descriptor.uses_private_segment()) return 0;            // whatever the packet says
  return std::max(packet_.private_segment_size, descriptor.private_segment_bytes);
}

std::uint64_t PreparedLaunch::group_count() const noexcept {
  return std::uint64_t{groups_[0]} * groups_[1] * groups_[2];
}

bool PreparedLaunch::runs_in_turn() const noexcept {
  if (kernel_->waits_for() <= WaitsFor::turns) return true;
  return kernel_->waits_for() == WaitsFor::work_group && group(0).waves() == 1;  // the others are no larger
}

std::uint32_t PreparedLaunch::waves_per_group() const noexcept {
  const std::uint32_t items = group_size(packet_)[0] * group_size(packet_)[1] * group_size(packet_)[2];
  const std::uint32_t lanes = kernel_->target().wavefront_size;
  return (items + lanes - 1) / lanes;
}

std::uint32_t PreparedLaunch::groups_per_compute_unit() const noexcept {
  const Target& target = kernel_->target();
  const occupancy::ComputeUnit& unit = *target.architecture->compute_unit;
  occupancy::Place place = unit.alone();
  place.simds = target.architecture->simds_of_a_group();
  return occupancy::of(unit, place,
                       {.lanes = target.wavefront_size,
                        .waves = waves_per_group(),
                        .vector_registers = kernel_->descriptor().vgpr_count(target),
                        .lds_bytes = lds_bytes()})
      .groups;
}

std::uint32_t PreparedLaunch::lds_bytes() const {
  const std::uint32_t granule = kernel_->target().architecture->compute_unit->lds_granule;
  return (packet_.group_segment_size + granule - 1) / granule * granule;
}

WorkGroup PreparedLaunch::group_of_several_rows(std::uint64_t index) const {
  WorkGroup group{};
  group.lanes = kernel_->target().wavefront_size;
  const std::uint64_t row = index / groups_[0];
  group.id = {static_cast<std::uint32_t>(index % groups_[0]), static_cast<std::uint32_t>(row % groups_[1]),
              static_cast<std::uint32_t>(row / groups_[1])};
  group.size = size_of(group.id);
  return group;
}

std::array<std::uint32_t, 3> PreparedLaunch::size_of(const std::array<std::uint32_t, 3>& group_id) const {
  const auto grid = grid_size(packet_);
  auto size = group_size(packet_);
  for (unsigned d = 0; d < 3; ++d) size[d] = std::min(size[d], grid[d] - group_id[d] * size[d]);
  return size;
}

std::uint32_t PreparedLaunch::following_waves(const WorkGroup& group, std::uint32_t wave, std::uint64_t groups) const {
  if (kernel_->descriptor().uses_private_segment() || queue_.acquires != nullptr) return 0;
  if (group.size != first_group_.size || whole_groups_in_x_ == 0) return 0;
  const std::uint64_t waves =
      std::min<std::uint64_t>(groups, whole_groups_in_x_ - group.id[0]) * group.waves() - wave - 1;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(waves, std::numeric_limits<std::uint32_t>::max()));
}

void PreparedLaunch::fill_sgprs(std::uint32_t* sgprs, const Scratch& scratch) const {
  std::copy_n(sgprs_.begin(), sgpr_count_, sgprs);
  const auto low = static_cast<std::uint32_t>(scratch.base);
  const auto high = static_cast<std::uint32_t>(scratch.base >> 32);
  if (private_segment_buffer_ != absent) {
    std::uint32_t* descriptor = sgprs + private_segment_buffer_;
    descriptor[0] = low;
    descriptor[1] = (queue_.scratch_descriptor[1] & 0xffff0000U) | (high & 0xffffU);
    descriptor[2] = static_cast<std::uint32_t>(std::min<std::uint64_t>(scratch.bytes, ~0U));
    descriptor[3] = queue_.scratch_descriptor[3];
    if (kernel_->target().architecture->has_both_wavefront_sizes) {  // ROCr leaves INDEX_STRIDE to the device
      descriptor[3] &= ~(3U << 21);
      descriptor[3] |= (kernel_->target().wavefront_size == 32 ? 2U : 3U) << 21;
    }
  }
  if (flat_scratch_init_ != absent) {
    sgprs[flat_scratch_init_] = low;
    sgprs[flat_scratch_init_ + 1] = high;
  }
}

const std::uint32_t*
PreparedLaunch::work_item_ids_of_smaller_group(const WorkGroup& group, std::uint32_t first_item,
                                               std::span<std::uint32_t, wavefront_size> room) const {
  number_work_items(group.size, kernel_->descriptor().work_item_id_dimensions(), room, first_item);
  return room.data();
}

}  // namespace softgpu::compute
