// Whether translated kernels are to be fast, or there soon.
#pragma once

namespace softgpu::compute {

/// The values are those of SOFTGPU_OPTIMIZE.
enum class Optimize : unsigned {
  no = 0,     ///< translated soon, and slower to execute
  yes = 1,    ///< fast from the first dispatch on, which waits for it
  later = 2,  ///< there soon; kernels that have run for a while are translated again meanwhile, to be fast
};

}  // namespace softgpu::compute
