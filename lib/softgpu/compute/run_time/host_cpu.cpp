#include "softgpu/compute/run_time/host_cpu.hpp"

namespace softgpu::compute {
namespace {

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}

}  // namespace

std::optional<HostCpu> host_cpu_named(std::string_view name) {
  if (name == "host") return HostCpu::host;
  if (name == "avx2" && has_avx2()) return HostCpu::avx2;
  if (name == "avx512" && has_avx512()) return HostCpu::avx512;
  return std::nullopt;
}

}  // namespace softgpu::compute
