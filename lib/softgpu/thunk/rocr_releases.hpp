// The releases of ROCr that the soft GPU is tested under, and how to tell which one calls.
//
// ROCr does not pass its release. Up to 6.2 the list of functions that it imports from libhsakmt.so.1 tells the
// release: the list changes with nearly every release, and it is the interface that the soft GPU implements. A later
// ROCr imports none: it has the thunk built in, and calls the kernel's interface. The version in its file's name tells
// the release.
#pragma once

#include <optional>
#include <string>

#include "softgpu/thunk/caller.hpp"
#include "softgpu/thunk/layouts.hpp"

namespace softgpu::thunk {

enum class RocrRelease {
  rocr_5_2,  ///< Debian 12's; 4.5 to 5.2 have the same imports
  rocr_6_1,  ///< Debian 13's
  rocr_6_4,  ///< Debian unstable's 6.4.3
  rocr_7_2,  ///< Debian experimental's 7.2.4
};

/// The release that imports exactly the functions that this library imports, in any order, or has its version; nothing
/// for other releases.
[[nodiscard]] std::optional<RocrRelease> rocr_release(const LoadedLibrary& rocr);

/// What the caller's structures look like, whether its release is a tested one or not.
[[nodiscard]] Layouts layouts_of(const LoadedLibrary& caller);

/// A warning for the user of a ROCr that the soft GPU is not tested under. Nothing for a known ROCr, or for a caller
/// that is not ROCr.
[[nodiscard]] std::optional<std::string> unknown_rocr_warning(const LoadedLibrary& caller);

}  // namespace softgpu::thunk
