// A translated kernel and its descriptor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "softgpu/compute/execution/code_regions.hpp"
#include "softgpu/compute/execution/provisional_code.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/program/waits_for.hpp"
#include "softgpu/compute/program/wave_start.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// The fields of the 64-byte kernel descriptor (LLVM's AMDGPU usage guide, "Kernel Descriptor"). amd_kernel_code_t, as
/// ROCr's own copy kernels have it, holds the fields used here at the same offsets.
struct KernelDescriptor {
  static constexpr std::size_t size = 64;

  std::uint32_t group_segment_bytes = 0;
  std::uint32_t private_segment_bytes = 0;
  std::uint32_t kernarg_bytes = 0;
  std::int64_t entry_offset = 0;
  std::uint32_t rsrc3 = 0;
  std::uint32_t rsrc1 = 0;
  std::uint32_t rsrc2 = 0;
  std::uint16_t properties = 0;

  [[nodiscard]] static KernelDescriptor parse(std::span<const std::byte, size> bytes);

  static constexpr unsigned vector_register_limit = 256;

  /// With the AGPRs.
  [[nodiscard]] std::uint32_t vgpr_count(const Target& target) const {
    return target.architecture->compute_unit->vector_registers_in(rsrc1, target.wavefront_size);
  }
  /// The initial value of the MODE register: rounding in bits 0-3, denormals in 4-7, DX10_CLAMP 8, IEEE 9.
  [[nodiscard]] std::uint32_t float_mode(const Architecture& architecture) const {
    const std::uint32_t rounding_and_denormals = (rsrc1 >> 12) & 0xff;
    if (!architecture.has_float_modes_in_descriptor) return rounding_and_denormals;
    return rounding_and_denormals | ((rsrc1 >> 21) & 1) << 8 | ((rsrc1 >> 23) & 1) << 9;
  }
  [[nodiscard]] bool uses_private_segment() const { return (rsrc2 & 1) != 0; }
  [[nodiscard]] unsigned user_sgpr_count() const { return (rsrc2 >> 1) & 0x1f; }
  [[nodiscard]] bool wants_group_id(unsigned dimension) const { return ((rsrc2 >> (7 + dimension)) & 1) != 0; }
  [[nodiscard]] bool wants_group_info() const { return ((rsrc2 >> 10) & 1) != 0; }
  /// 0: x only; 1: x and y; 2: x, y and z.
  [[nodiscard]] unsigned work_item_id_dimensions() const { return (rsrc2 >> 11) & 3; }

  [[nodiscard]] bool wants_private_segment_buffer() const { return (properties & 1) != 0; }
  [[nodiscard]] bool wants_dispatch_ptr() const { return (properties & 2) != 0; }
  [[nodiscard]] bool wants_queue_ptr() const { return (properties & 4) != 0; }
  [[nodiscard]] bool wants_kernarg_ptr() const { return (properties & 8) != 0; }
  [[nodiscard]] bool wants_dispatch_id() const { return (properties & 16) != 0; }
  [[nodiscard]] bool wants_flat_scratch_init() const { return (properties & 32) != 0; }
  [[nodiscard]] bool wants_private_segment_size() const { return (properties & 64) != 0; }
  [[nodiscard]] bool wants_wavefronts_of_32() const { return (properties & 0x400) != 0; }

  [[nodiscard]] Target target(const Architecture& architecture) const {
    const bool is_short = architecture.has_both_wavefront_sizes && wants_wavefronts_of_32();
    const std::uint32_t lanes = is_short ? 32 : 64;
    const unsigned before_agprs =
        architecture.has_accumulation_registers ? ((rsrc3 & 0x3f) + 1) * 4 : vector_register_limit;
    Target target{&architecture, lanes};
    target.vector_registers = std::min(vgpr_count(target), before_agprs);
    return target;
  }
};

class Kernel {
public:
  /// `code` keeps the generated host code alive. `regions` is there for code that branches indirectly.
  Kernel(const KernelDescriptor& descriptor, const Target& target, const WaveStart& start, WaveCode wave,
         WaitsFor waits_for, std::shared_ptr<const void> code, std::unique_ptr<CodeRegions> regions = nullptr,
         std::shared_ptr<ProvisionalCode> provisional = nullptr)
      : descriptor_(descriptor), target_(target), start_(start), wave_(wave), waits_for_(waits_for),
        code_(std::move(code)), regions_(std::move(regions)), provisional_(std::move(provisional)) {
    if (regions_ != nullptr) waits_for_ = std::max(waits_for_, WaitsFor::anyone);
  }

  [[nodiscard]] const KernelDescriptor& descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const Target& target() const noexcept { return target_; }
  /// What its code expects.
  [[nodiscard]] const WaveStart& start() const noexcept { return start_; }
  /// As RDNA's do in WGP mode.
  [[nodiscard]] bool spreads_over_two_units() const noexcept {
    return target_.architecture->compute_unit->place_of(descriptor_.rsrc1).compute_units == 2;
  }
  [[nodiscard]] WaveCode wave() const noexcept {
    const WaveCode* better = provisional_ == nullptr ? nullptr : provisional_->better();
    return better != nullptr ? *better : wave_;
  }
  /// Of its codes the one that has `host_address`; the first if none has.
  [[nodiscard]] WaveCode wave_around(std::uint64_t host_address) const noexcept {
    const WaveCode present = wave();
    return present.contains(host_address) ? present : wave_;
  }
  [[nodiscard]] bool has_code_at(std::uint64_t host_address) const noexcept {
    return wave_around(host_address).contains(host_address) ||
           (regions_ != nullptr && regions_->around(host_address).has_value());
  }
  /// Null where the code stays as it is.
  [[nodiscard]] ProvisionalCode* provisional() const noexcept {
    return provisional_ == nullptr || provisional_->better() != nullptr ? nullptr : provisional_.get();
  }
  /// If no wavefront ever waits, the wavefronts can run one after the other on one stack.
  [[nodiscard]] WaitsFor waits_for() const noexcept { return waits_for_; }
  /// Where wavefronts go on that branch out of `wave`'s code; null if no wavefront does. The code there may wait.
  [[nodiscard]] CodeRegions* regions() const noexcept { return regions_.get(); }

private:
  KernelDescriptor descriptor_;
  Target target_;
  WaveStart start_;
  WaveCode wave_;
  WaitsFor waits_for_;
  std::shared_ptr<const void> code_;
  std::unique_ptr<CodeRegions> regions_;
  std::shared_ptr<ProvisionalCode> provisional_;
};

}  // namespace softgpu::compute
