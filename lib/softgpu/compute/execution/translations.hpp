// Programs as host code: from the cache on disk, or translated now.
#pragma once

#include <cstdint>
#include <string_view>

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

  /// Throws UnsupportedInstruction.
  [[nodiscard]] TranslatedProgram of(const Program& program, std::uint32_t float_mode);

private:
  [[nodiscard]] TranslatedProgram translate_now(const Program& program, std::uint32_t float_mode, std::string& kept);
  void log(const Program& program, const char* what) const;

  Jit jit_;
  Caches caches_;
  KernelCache cache_;
  std::string identity_;
  KernelCache::Log log_;
};

}  // namespace softgpu::compute
