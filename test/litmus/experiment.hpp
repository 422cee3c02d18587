// Makes a litmus test on the soft GPU and on the host, any number of times.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernel_image.hpp"
#include "lane_pattern.hpp"
#include "setup.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "tally.hpp"

namespace softgpu::litmus {

class Arena;
struct ThreadArguments;

/// A setup's kernel, translated once for all patterns of lanes. Owns the memory and threads that it runs on.
class Experiment {
public:
  /// Throws where the kernel is refused.
  Experiment(compute::Engine& engine, const Setup& setup);
  ~Experiment();
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  [[nodiscard]] const Setup& setup() const { return setup_; }
  /// At least as many rounds of a wavefront as that; throws where the kernel fails.
  [[nodiscard]] Tally run(LanePattern pattern, std::uint64_t rounds);

private:
  [[nodiscard]] std::uint32_t most_rounds_of_launch() const;
  [[nodiscard]] std::uint32_t slot_bytes() const;
  void prepare(LanePattern pattern, std::uint32_t rounds_of_launch);
  void launch_once(std::uint32_t first_value);
  void run_device_thread(unsigned thread);
  void evaluate(Tally& tally) const;

  compute::Engine& engine_;
  Setup setup_;
  isa::KernelImage image_;
  std::unique_ptr<Arena> arena_;
  std::uint64_t kernarg_;
  std::unique_ptr<ThreadArguments[]> arguments_;
  std::shared_ptr<compute::Launch> launch_;
  std::vector<std::unique_ptr<compute::WorkGroupRunner>> runners_;
};

}  // namespace softgpu::litmus
