// Programs as host code: from the cache on disk, or translated now.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine.hpp"
#include "jit.hpp"
#include "kernel_cache.hpp"
#include "program.hpp"

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
  KernelCache cache_;
  std::string identity_;
  KernelCache::Log log_;
};

}  // namespace softgpu::compute
