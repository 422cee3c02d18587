// The tables of a profile, which the text and the page share.
#pragma once

#include <string>
#include <vector>

#include "softgpu/compute/profile/summary.hpp"

namespace softgpu::compute::profile {

/// The first row has the columns' names. The first column is text, the others are numbers.
using Table = std::vector<std::vector<std::string>>;

[[nodiscard]] std::string heading_of(const KernelSummary& kernel);  ///< "saxpy: 16 wavefronts of 64 lanes, gfx90a"
[[nodiscard]] Table totals_table(const KernelSummary& kernel);
[[nodiscard]] Table access_table(const KernelSummary& kernel);
[[nodiscard]] Table line_table(const KernelSummary& kernel);

}  // namespace softgpu::compute::profile
