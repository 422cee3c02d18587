// Whether translated kernels are to be fast, or there soon.
#pragma once

namespace softgpu::compute {

enum class Optimize {
  no,  ///< translated in about half of the time, and slower
  yes,
};

}  // namespace softgpu::compute
