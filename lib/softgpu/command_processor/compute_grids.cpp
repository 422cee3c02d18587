#include "softgpu/command_processor/compute_grids.hpp"

#include <string>
#include <utility>

#include "softgpu/command_processor/queue.hpp"
#include "softgpu/compute/execution/recycling_allocator.hpp"

namespace softgpu::command_processor {
namespace {

class ComputeGrid final : public Grid {
public:
  explicit ComputeGrid(std::shared_ptr<Runners> runners) : runners_(std::move(runners)) {}

  /// Of a kernel object whose kernel is known not to have changed.
  [[nodiscard]] std::optional<compute::Failure> renew(const hsa_kernel_dispatch_packet_t& packet,
                                                      const compute::QueueView& queue) {
    return launch_->renew(packet, queue);
  }
  [[nodiscard]] std::optional<compute::Failure> become(std::shared_ptr<const compute::Kernel> kernel,
                                                       const hsa_kernel_dispatch_packet_t& packet,
                                                       const compute::QueueView& queue) {
    kernel_ = kernel.get();
    kernel_object_ = packet.kernel_object;
    auto launch = compute::Launch::make(std::move(kernel), packet, queue);
    if (auto* failure = std::get_if<compute::Failure>(&launch)) return std::move(*failure);
    launch_ = std::get<std::shared_ptr<compute::Launch>>(std::move(launch));
    return std::nullopt;
  }
  [[nodiscard]] bool runs(std::uint64_t kernel_object) const noexcept { return kernel_object_ == kernel_object; }
  [[nodiscard]] const compute::Kernel& kernel() const noexcept { return *kernel_; }
  [[nodiscard]] const compute::Launch& launch() const noexcept { return *launch_; }

  [[nodiscard]] std::uint64_t group_count() const noexcept override { return launch_->group_count(); }
  [[nodiscard]] std::uint32_t waves_per_group() const noexcept override { return launch_->waves_per_group(); }
  [[nodiscard]] std::uint32_t private_segment_bytes() const noexcept override {
    return launch_->private_segment_bytes();
  }
  [[nodiscard]] Outcome start_group(std::uint32_t worker, std::uint64_t group) const override {
    return runners_->of(worker).start(*launch_, group);
  }
  [[nodiscard]] Outcome start_groups(std::uint32_t worker, std::uint64_t& begin, std::uint64_t end) const override {
    if (!launch_->runs_in_turn()) return Grid::start_groups(worker, begin, end);
    return runners_->of(worker).start(*launch_, begin, end);
  }
  [[nodiscard]] Outcome resume_group(std::uint32_t worker,
                                     std::unique_ptr<compute::SuspendedGroup> group) const override {
    return runners_->of(worker).resume(std::move(group));
  }
  [[nodiscard]] compute::WaitsFor waits_for() const noexcept override { return launch_->waits_for(); }
  [[nodiscard]] std::uint64_t interrupt_token() const noexcept override { return launch_->identity(); }

private:
  std::shared_ptr<Runners> runners_;
  std::shared_ptr<compute::Launch> launch_;
  const compute::Kernel* kernel_ = nullptr;  // the launch's
  std::uint64_t kernel_object_ = 0;
};

/// A work-group that waits for the whole grid keeps its place. A work-group without a place would never begin.
std::optional<compute::Failure> check_residence(const compute::Launch& launch, std::uint32_t compute_units) {
  if (launch.waits_for() != compute::WaitsFor::whole_grid) return std::nullopt;
  const std::uint64_t most = std::uint64_t{compute_units} * launch.groups_per_compute_unit();
  if (launch.group_count() <= most) return std::nullopt;
  return compute::Failure{compute::Failure::Kind::invalid_dimensions, 0,
                          "the grid has " + std::to_string(launch.group_count()) +
                              " work-groups that wait for each other (ds_gws_barrier); the GPU holds " +
                              std::to_string(most) + " of them at once"};
}

}  // namespace

compute::WorkGroupRunner& Runners::of(std::uint32_t worker) {
  auto& runner = runners_[worker];
  if (!runner) runner = std::make_unique<compute::WorkGroupRunner>(worker);
  return *runner;
}

std::optional<compute::Failure> ComputeGrids::prepare(std::shared_ptr<Grid>& grid,
                                                      const hsa_kernel_dispatch_packet_t& packet,
                                                      const compute::QueueView& queue, Lookout& lookout) {
  if (grid != nullptr) {
    auto& earlier = static_cast<ComputeGrid&>(*grid);
    if (earlier.runs(packet.kernel_object) && engine_.is_known(packet, earlier.kernel())) {
      if (auto failure = earlier.renew(packet, queue)) return failure;
      return check_residence(earlier.launch(), compute_units_);
    }
  }
  auto kernel = engine_.known_kernel(packet);
  if (!kernel) {
    lookout.leave();
    auto translated = engine_.kernel(packet);
    if (auto* failure = std::get_if<compute::Failure>(&translated)) return std::move(*failure);
    kernel = std::get<std::shared_ptr<const compute::Kernel>>(std::move(translated));
  }
  if (grid == nullptr) grid = std::allocate_shared<ComputeGrid>(compute::RecyclingAllocator<ComputeGrid>(), runners_);
  auto& prepared = static_cast<ComputeGrid&>(*grid);
  if (auto failure = prepared.become(std::move(kernel), packet, queue)) return failure;
  return check_residence(prepared.launch(), compute_units_);
}

}  // namespace softgpu::command_processor
