// A profile for people and programs.
#pragma once

#include <span>
#include <string>

#include "softgpu/compute/profile/summary.hpp"

namespace softgpu::compute::profile {

/// Lines of text.
[[nodiscard]] std::string as_table(std::span<const KernelSummary> kernels);
/// An object with an array `kernels`.
[[nodiscard]] std::string as_json(std::span<const KernelSummary> kernels);
/// A page of HTML that needs no other file and no script.
[[nodiscard]] std::string as_page(std::span<const KernelSummary> kernels);

}  // namespace softgpu::compute::profile
