// Grids that the compute side executes: the real ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/command_processor/grid.hpp"

namespace softgpu::command_processor {

/// One work-group runner a worker, made when the worker first needs it.
///
/// Thread safety: a worker asks for its own runner only.
class Runners {
public:
  explicit Runners(std::uint32_t workers) : runners_(workers) {}
  [[nodiscard]] compute::WorkGroupRunner& of(std::uint32_t worker);

private:
  std::vector<std::unique_ptr<compute::WorkGroupRunner>> runners_;
};

/// One GPU's translator.
class ComputeGrids final : public GridSource {
public:
  ComputeGrids(std::shared_ptr<Runners> runners, const compute::EngineOptions& options, std::uint32_t compute_units)
      : engine_(options), runners_(std::move(runners)), compute_units_(compute_units) {}

  [[nodiscard]] std::optional<compute::Failure> prepare(std::shared_ptr<Grid>& grid,
                                                        const hsa_kernel_dispatch_packet_t& packet,
                                                        const compute::QueueView& queue, Lookout& lookout) override;
  void translate_ahead(const hsa_kernel_dispatch_packet_t& packet) override {
    static_cast<void>(engine_.kernel(packet));
  }
  [[nodiscard]] std::string place_of(std::uint64_t kernel_object, const compute::Failure& failure) override {
    return engine_.place_of(kernel_object, failure);
  }
  void forget_code(std::uint64_t base, std::size_t size) override { engine_.forget(base, size); }
  void stop_translating() noexcept { engine_.stop_translating(); }

private:
  compute::Engine engine_;
  std::shared_ptr<Runners> runners_;
  std::uint32_t compute_units_;
};

}  // namespace softgpu::command_processor
