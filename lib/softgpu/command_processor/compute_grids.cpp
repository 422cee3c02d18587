#include "softgpu/command_processor/compute_grids.hpp"

#include <string>
#include <utility>

namespace softgpu::command_processor {
namespace {

class ComputeGrid final : public Grid {
public:
  ComputeGrid(std::shared_ptr<const compute::Launch> launch, std::shared_ptr<Runners> runners)
      : launch_(std::move(launch)), runners_(std::move(runners)) {}

  [[nodiscard]] std::uint64_t group_count() const noexcept override { return launch_->group_count(); }
  [[nodiscard]] std::uint32_t private_segment_bytes() const noexcept override {
    return launch_->private_segment_bytes();
  }
  [[nodiscard]] std::optional<compute::Failure> run_group(std::uint32_t worker, std::uint64_t group) const override {
    return runners_->of(worker).run(*launch_, group);
  }
  [[nodiscard]] Outcome start_group(std::uint32_t worker, std::uint64_t group) const override {
    return runners_->of(worker).start(*launch_, group);
  }
  [[nodiscard]] Outcome resume_group(std::uint32_t worker,
                                     std::unique_ptr<compute::SuspendedGroup> group) const override {
    return runners_->of(worker).resume(std::move(group));
  }
  [[nodiscard]] compute::WaitsFor waits_for() const noexcept override { return launch_->waits_for(); }
  [[nodiscard]] std::uint64_t interrupt_token() const noexcept override { return launch_->identity(); }

private:
  std::shared_ptr<const compute::Launch> launch_;
  std::shared_ptr<Runners> runners_;
};

/// Work-groups that wait for the whole grid hold their places: one for which there is none would never begin.
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

GridSource::Prepared ComputeGrids::prepare(const hsa_kernel_dispatch_packet_t& packet,
                                           const compute::QueueView& queue) {
  auto kernel = engine_.kernel(packet.kernel_object);
  if (auto* failure = std::get_if<compute::Failure>(&kernel)) return std::move(*failure);
  auto launch =
      compute::Launch::make(std::get<std::shared_ptr<const compute::Kernel>>(std::move(kernel)), packet, queue);
  if (auto* failure = std::get_if<compute::Failure>(&launch)) return std::move(*failure);
  auto& made = std::get<std::shared_ptr<const compute::Launch>>(launch);
  if (auto failure = check_residence(*made, compute_units_)) return *std::move(failure);
  return std::make_shared<ComputeGrid>(std::move(made), runners_);
}

}  // namespace softgpu::command_processor
