// What is known of the registers that a wavefront starts with, when its kernel is translated.
#pragma once

#include <cstdint>

namespace softgpu::compute {

struct WaveStart {
  std::uint32_t float_mode = 0;  ///< MODE
  /// The work-items of each wavefront follow each other in x, and have y and z in common.
  bool has_ids_in_rows = false;
};

}  // namespace softgpu::compute
