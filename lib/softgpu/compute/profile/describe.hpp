// From a program to the instructions of its profile.
#pragma once

#include <cstdint>

#include "softgpu/compute/profile/kernel_profile.hpp"
#include "softgpu/compute/program/program.hpp"

namespace softgpu::compute::profile {

/// Adds the instructions of a program, whose kernel's code is at `code_address`, with their kinds and source lines.
void describe(KernelProfile& kernel, const Program& program, std::uint64_t code_address);

}  // namespace softgpu::compute::profile
