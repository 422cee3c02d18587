// Whether translated kernels are to be fast, or there soon.
#pragma once

namespace softgpu::compute {

enum class Optimize {
  no,  ///< translated faster, and slower to execute
  yes,
};

}  // namespace softgpu::compute
