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
  std::string thunk{};   ///< the file of the thunk below it; empty where it has one built in
  std::string reason{};  ///< why this device, in words
};

/// Opens the library, once in a process: libraries cannot be changed under a running HSA.
/// Throws Error when something is missing, when the process has another device open, and in a child after fork.
[[nodiscard]] HsaLibrary& open_hsa_library(Device requested);

}  // namespace fastdispatch::detail
