// Which of the host's instructions translated kernels may use.
#pragma once

#include <optional>
#include <string_view>

namespace softgpu::compute {

enum class HostCpu {
  host,    ///< all that the host's CPU has
  avx2,    ///< no more than x86-64-v3: AVX2, FMA, F16C
  avx512,  ///< no more than x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

/// The vector instructions that the translator may use itself; the code generator chooses its own.
enum class HostVectors { any, avx512 };

/// "host", "avx2" or "avx512", if this machine has it.
[[nodiscard]] std::optional<HostCpu> host_cpu_named(std::string_view name);

}  // namespace softgpu::compute
