// v_trig_preop_f64: the bits of 2/pi that matter for reducing a large angle.
#pragma once

#include <cstdint>

namespace softgpu::compute {

/// For each of 16 lanes, segment `segments[lane]` (0 to 31) of 2/pi, chosen for the size of `angles[lane]`.
void trigonometric_preop(const double* angles, const std::uint32_t* segments, double* results);

}  // namespace softgpu::compute
