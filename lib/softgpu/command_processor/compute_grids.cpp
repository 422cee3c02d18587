#include "softgpu/command_processor/compute_grids.hpp"

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
  [[nodiscard]] std::uint64_t interrupt_token() const noexcept override { return launch_->identity(); }

private:
  std::shared_ptr<const compute::Launch> launch_;
  std::shared_ptr<Runners> runners_;
};

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
  return std::make_shared<ComputeGrid>(std::get<std::shared_ptr<const compute::Launch>>(std::move(launch)), runners_);
}

}  // namespace softgpu::command_processor
