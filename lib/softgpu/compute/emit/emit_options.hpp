// What translated code is to be like, besides what the program says.
#pragma once

#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/host_cpu.hpp"

namespace softgpu::compute {

namespace profile {
class KernelProfile;
}

struct EmitOptions {
  HostVectors vectors = HostVectors::any;
  Caches caches = Caches::coherent;
  profile::KernelProfile* profile = nullptr;  ///< counts what the code does; null: nobody counts
  bool is_compact = false;                    ///< little code rather than fast code
  bool lines = false;  ///< with a table that tells which instruction the host code is of (host_code/code_lines.hpp)
};

}  // namespace softgpu::compute
