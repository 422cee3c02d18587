// The releases of ROCr that the soft GPU is tested under, and how to tell which one calls.
//
// ROCr does not pass its release. The list of functions that it imports from libhsakmt.so.1 tells the release: the list
// changes with nearly every release, and it is the interface that the soft GPU implements.
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

/// The release that imports exactly these functions, in any order; nothing for other releases.
[[nodiscard]] std::optional<RocrRelease> rocr_release(std::span<const std::string> thunk_imports);

/// A warning for the user of a ROCr that the soft GPU is not tested under. Nothing for a known ROCr, or for a caller
/// that is not ROCr.
[[nodiscard]] std::optional<std::string> unknown_rocr_warning(const LoadedLibrary& caller);

}  // namespace softgpu::thunk
