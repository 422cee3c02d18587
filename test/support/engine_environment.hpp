// What the environment says of the soft GPU's host code, for tests that make an Engine themselves.
#pragma once

#include <cstdlib>
#include <string_view>

#include "softgpu/compute/execution/engine.hpp"

namespace softgpu::compute {

/// SOFTGPU_CPU, as the soft GPU's driver reads it. Kernels are optimized unless SOFTGPU_OPTIMIZE is 0.
inline EngineOptions engine_options_for(const Architecture& architecture) {
  const char* cpu = std::getenv("SOFTGPU_CPU");
  const char* optimize = std::getenv("SOFTGPU_OPTIMIZE");
  return {.architecture = &architecture,
          .cpu = host_cpu_named(cpu != nullptr ? cpu : "host").value(),
          .optimize = optimize != nullptr && std::string_view(optimize) == "0" ? Optimize::no : Optimize::yes};
}

}  // namespace softgpu::compute
