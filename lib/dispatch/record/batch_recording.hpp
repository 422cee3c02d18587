// The recording of a Batch.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dispatch/record/batch_parameters.hpp"
#include "dispatch/record/step.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/batch.hpp"

namespace fastdispatch::detail {

// Stands for a recording as it was submitted. A change of the recording sets `outdated`.
struct BatchVersion {
  std::atomic<bool> outdated = false;
};

// Thread safety:
// - recording needs external synchronization
// - const members may be called from any thread while nobody records
class BatchRecording {
public:
  BatchRecording(Agent agent, BatchOptions options) : agent_(agent), fences_(options.fences) {}
  ~BatchRecording() { version_->outdated = true; }
  BatchRecording(const BatchRecording&) = delete;
  BatchRecording& operator=(const BatchRecording&) = delete;

  [[nodiscard]] ParameterId add_parameter(std::string name);
  // Returns where to write the explicit arguments. Records nothing if it throws.
  [[nodiscard]] std::byte* add_dispatch(const KernelInfo& kernel, const BatchGrid& grid, std::uint64_t local_memory,
                                        std::span<const ParameterUse> parameters,
                                        std::span<const StatedAccess> accesses);
  // Of the last step, a dispatch.
  void add_accesses(std::span<const StatedAccess> accesses);
  void add(const CopyStep& copy);
  void clear();

  [[nodiscard]] Agent agent() const noexcept { return agent_; }
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  // Whether all submissions publish the same packets and kernel arguments.
  [[nodiscard]] bool is_constant() const noexcept { return !parameters_.used() && copies_ == 0; }
  [[nodiscard]] std::span<const Step> steps() const noexcept { return steps_; }
  // The kernel argument blocks of all dispatches; parameters are not set in them.
  [[nodiscard]] std::span<const std::byte> kernargs() const noexcept { return kernargs_; }
  [[nodiscard]] Fences fences() const noexcept { return fences_; }
  [[nodiscard]] std::size_t dispatches() const noexcept { return steps_.size() - copies_; }
  [[nodiscard]] std::size_t copies() const noexcept { return copies_; }
  [[nodiscard]] const BatchParameters& parameters() const noexcept { return parameters_; }
  [[nodiscard]] const std::shared_ptr<BatchVersion>& version() const noexcept { return version_; }

  // A recording of some of the steps, in the order given, with the same parameters.
  [[nodiscard]] std::unique_ptr<BatchRecording> select(std::span<const std::size_t> steps) const;

private:
  // A dispatch that this agent can run.
  struct Checked {
    const KernelInfo* kernel = nullptr;
    Grid grid{};
    std::uint64_t local_memory = 0;
    friend bool operator==(const Checked&, const Checked&) = default;
  };

  void changed();
  void check(const Checked& dispatch);
  // For derived fences; empty for others.
  [[nodiscard]] std::vector<Access> resolved(std::span<const StatedAccess> accesses) const;

  Agent agent_;
  Fences fences_;
  std::vector<Step> steps_;
  std::vector<std::byte> kernargs_;  // the blocks of all dispatches
  std::size_t copies_ = 0;
  Checked last_checked_;  // dispatches in a row are often alike
  BatchParameters parameters_;
  std::shared_ptr<BatchVersion> version_ = std::make_shared<BatchVersion>();
};

}  // namespace fastdispatch::detail
