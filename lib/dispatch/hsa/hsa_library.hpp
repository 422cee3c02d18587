// Opening the HSA runtime's library, over an AMD GPU or over the soft GPU.
#pragma once

#include <string>

#include "fastdispatch/detail/hsa_api.hpp"
#include "fastdispatch/runtime.hpp"

namespace fastdispatch::detail {

struct HsaLibrary {
  HsaApi api;
  std::string path;      ///< the file that it was loaded from
  bool softgpu = false;  ///< whether the soft GPU stands in the place of AMD's kernel driver
  std::string why{};     ///< the device, and why it was chosen, for the log
};

/// What `requested` and the environment variable FASTDISPATCH_DEVICE (null where it is not set) choose on a machine
/// with or without an AMD GPU's driver. Throws Error for a bad value, and where `amd` is asked for and not there.
[[nodiscard]] Device choose_device(Device requested, const char* environment, bool has_amd_driver);

/// Why choose_device chose so, in words.
[[nodiscard]] std::string reason_for_device(Device requested, const char* environment, bool has_amd_driver);

/// Opens the library, once in a process: libraries cannot be changed under a running HSA.
/// Throws Error when something is missing, when the process has another device open, and in a child after fork.
[[nodiscard]] HsaLibrary& open_hsa_library(Device requested);

}  // namespace fastdispatch::detail
