// The releases of ROCr that the soft GPU is tested under, and how to tell which one calls.
//
// Nothing that ROCr passes says its release. What it imports from libhsakmt.so.1 does: that list changes with nearly
// every release, and it is the very interface that the soft GPU implements.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "softgpu/thunk/caller.hpp"

namespace softgpu::thunk {

enum class RocrRelease {
  rocr_5_2,  ///< Debian 12's; 4.5 to 5.2 have the same imports
  rocr_6_1,  ///< Debian 13's
};

/// The release that imports exactly these functions, in any order; none where it is another one.
[[nodiscard]] std::optional<RocrRelease> rocr_release(std::span<const std::string> thunk_imports);

/// What to tell the user of a ROCr that no test of the soft GPU has seen; none for a known one, or for a caller that is
/// not ROCr.
[[nodiscard]] std::optional<std::string> unknown_rocr_warning(const LoadedLibrary& caller);

}  // namespace softgpu::thunk
