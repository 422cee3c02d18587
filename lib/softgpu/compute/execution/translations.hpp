// Programs as host code: from the cache on disk, or translated now.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "softgpu/compute/emit/emit_options.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/host_code/jit.hpp"
#include "softgpu/compute/host_code/kernel_cache.hpp"
#include "softgpu/compute/program/program.hpp"

namespace softgpu::compute {

struct TranslatedProgram {
  HostCode code;
  WaitsFor waits_for = WaitsFor::nothing;
};

/// Thread safety: every member may be called from any thread.
class Translations {
public:
  explicit Translations(const EngineOptions& options);

  /// With `profile`, the code counts there, and is kept nowhere. Throws UnsupportedInstruction.
  [[nodiscard]] TranslatedProgram of(const Program& program, std::uint32_t float_mode,
                                     profile::KernelProfile* profile = nullptr);

  /// The instruction of `program`, by its offset, that the code at `host_address` is of; `made` is what of() made of
  /// that program. Empty if the code is of no instruction alone. Takes as long as a translation.
  [[nodiscard]] std::optional<std::int64_t> instruction_at(const Program& program, std::uint32_t float_mode,
                                                           const WaveCode& made, std::uint64_t host_address,
                                                           profile::KernelProfile* profile = nullptr) const;

private:
  [[nodiscard]] EmitOptions options(bool lines, profile::KernelProfile* profile) const;
  [[nodiscard]] TranslatedProgram translate_now(const Program& program, std::uint32_t float_mode,
                                                profile::KernelProfile* profile, std::string& kept);
  void log(const Program& program, const char* what) const;

  Jit jit_;
  Caches caches_;
  KernelCache cache_;
  std::string identity_;
  KernelCache::Log log_;
};

}  // namespace softgpu::compute
