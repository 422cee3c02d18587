// Kernels that are C++ functions, so that the command processor is tested without code objects.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "softgpu/command_processor/grid.hpp"

namespace softgpu::command_processor {

/// A packet's kernel object points to one of these.
struct FakeKernel {
  std::function<std::optional<compute::Failure>(std::uint32_t worker, std::uint64_t group)> body =
      [](std::uint32_t, std::uint64_t) { return std::nullopt; };
  std::uint32_t private_bytes = 0;
  std::optional<compute::Failure> refusal = std::nullopt;  ///< what preparing it answers

  [[nodiscard]] std::uint64_t object() const { return reinterpret_cast<std::uint64_t>(this); }
};

class FakeGrids final : public GridSource {
public:
  [[nodiscard]] Prepared prepare(const hsa_kernel_dispatch_packet_t& packet, const compute::QueueView& queue) override {
    {
      const std::lock_guard lock(mutex_);  // workers prepare kernels of several queues at once
      last_view = queue;
    }
    const auto* kernel = reinterpret_cast<const FakeKernel*>(packet.kernel_object);
    if (kernel->refusal) return *kernel->refusal;
    return std::make_shared<FakeGrid>(*kernel, packet.grid_size_x / packet.workgroup_size_x);
  }
  void forget_code(std::uint64_t /*base*/, std::size_t /*size*/) override {}

  compute::QueueView last_view;

private:
  std::mutex mutex_;

  class FakeGrid final : public Grid {
  public:
    FakeGrid(const FakeKernel& kernel, std::uint64_t groups) : kernel_(kernel), groups_(groups) {}
    [[nodiscard]] std::uint64_t group_count() const noexcept override { return groups_; }
    [[nodiscard]] std::uint32_t private_segment_bytes() const noexcept override { return kernel_.private_bytes; }
    [[nodiscard]] std::optional<compute::Failure> run_group(std::uint32_t worker, std::uint64_t group) const override {
      return kernel_.body(worker, group);
    }

  private:
    const FakeKernel& kernel_;
    std::uint64_t groups_;
  };
};

}  // namespace softgpu::command_processor
