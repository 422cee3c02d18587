// Kernels that are C++ functions, so that the command processor is tested without code objects.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "softgpu/command_processor/grid.hpp"
#include "softgpu/command_processor/queue.hpp"

namespace softgpu::command_processor {

/// A packet's kernel object points to one of these.
struct FakeKernel {
  std::function<std::optional<compute::Failure>(std::uint32_t worker, std::uint64_t group)> body =
      [](std::uint32_t, std::uint64_t) { return std::nullopt; };
  std::function<void()> begin = nullptr;              ///< called when a work-group begins
  std::function<bool()> may_go_on = nullptr;          ///< where set, work-groups wait for it before their body
  std::uint32_t waves = 1;                            ///< of each work-group
  unsigned turns = 1;                                 ///< of each work-group; the last one runs its body
  std::function<void()> translation = nullptr;        ///< where set, preparing it takes this
  std::function<void()> translation_ahead = nullptr;  ///< what others do while another kernel is translated
  std::uint32_t private_bytes = 0;
  std::optional<compute::Failure> refusal = std::nullopt;  ///< what preparing it answers

  [[nodiscard]] std::uint64_t object() const { return reinterpret_cast<std::uint64_t>(this); }
};

class FakeGrids final : public GridSource {
public:
  [[nodiscard]] std::optional<compute::Failure> prepare(std::shared_ptr<Grid>& grid,
                                                        const hsa_kernel_dispatch_packet_t& packet,
                                                        const compute::QueueView& queue, Lookout& lookout) override {
    {
      const std::lock_guard lock(mutex_);  // workers prepare kernels of several queues at once
      last_view = queue;
    }
    const auto* kernel = reinterpret_cast<const FakeKernel*>(packet.kernel_object);
    if (kernel->refusal) return *kernel->refusal;
    if (kernel->translation) {
      lookout.leave();
      kernel->translation();
    }
    grid = std::make_shared<FakeGrid>(*kernel, packet.grid_size_x / packet.workgroup_size_x);
    return std::nullopt;
  }
  void translate_ahead(const hsa_kernel_dispatch_packet_t& packet) override {
    const auto* kernel = reinterpret_cast<const FakeKernel*>(packet.kernel_object);
    if (kernel->translation_ahead) kernel->translation_ahead();
  }
  std::string place_of(std::uint64_t /*kernel_object*/, const compute::Failure& /*failure*/) override { return {}; }
  void forget_code(std::uint64_t /*base*/, std::size_t /*size*/) override {}

  compute::QueueView last_view;

private:
  std::mutex mutex_;

  struct FakeWaiting final : compute::SuspendedGroup {
    FakeWaiting(std::uint64_t group, unsigned turns) : index(group), turns_left(turns) {}
    [[nodiscard]] bool got_on() const noexcept override { return can_go_on(); }
    [[nodiscard]] bool can_go_on() const noexcept override { return turns_left != 0; }
    compute::Failure end() override { return {compute::Failure::Kind::interrupted, 0, "ended"}; }
    std::uint64_t index;
    unsigned turns_left;  ///< 0: it waits
  };

  class FakeGrid final : public Grid {
  public:
    FakeGrid(const FakeKernel& kernel, std::uint64_t groups) : kernel_(kernel), groups_(groups) {}
    [[nodiscard]] std::uint64_t group_count() const noexcept override { return groups_; }
    [[nodiscard]] std::uint32_t private_segment_bytes() const noexcept override { return kernel_.private_bytes; }
    [[nodiscard]] std::uint32_t waves_per_group() const noexcept override { return kernel_.waves; }
    [[nodiscard]] Outcome start_group(std::uint32_t worker, std::uint64_t group) const override {
      if (kernel_.begin) kernel_.begin();
      if (kernel_.may_go_on) return std::make_unique<FakeWaiting>(group, 0);
      if (kernel_.turns > 1) return std::make_unique<FakeWaiting>(group, kernel_.turns - 1);
      return run(worker, group);
    }
    [[nodiscard]] Outcome resume_group(std::uint32_t worker,
                                       std::unique_ptr<compute::SuspendedGroup> group) const override {
      auto& fake = static_cast<FakeWaiting&>(*group);
      if (fake.can_go_on() ? --fake.turns_left != 0 : !kernel_.may_go_on()) return group;
      return run(worker, fake.index);
    }
    [[nodiscard]] compute::WaitsFor waits_for() const noexcept override {
      return kernel_.may_go_on ? compute::WaitsFor::anyone : compute::WaitsFor::nothing;
    }

  private:
    [[nodiscard]] Outcome run(std::uint32_t worker, std::uint64_t group) const {
      if (auto failure = kernel_.body(worker, group)) return *std::move(failure);
      return std::monostate{};
    }

    const FakeKernel& kernel_;
    std::uint64_t groups_;
  };
};

}  // namespace softgpu::command_processor
