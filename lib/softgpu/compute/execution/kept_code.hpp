// How host code that was translated soon lies in the files of the kernel cache.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/compute/host_code/kernel_cache.hpp"
#include "softgpu/compute/program/waits_for.hpp"

namespace softgpu::compute {

/// The code of a kernel. What it calls is in other files, which other kernels call as well.
struct KeptCaller {
  WaitsFor waits_for = WaitsFor::nothing;
  std::vector<KernelCache::Key> functions;  ///< the keys of these files
  std::string object;

  [[nodiscard]] std::string as_bytes() const;
  /// Empty if the bytes are of nothing like it.
  [[nodiscard]] static std::optional<KeptCaller> of_bytes(std::string_view bytes);
};

/// Functions that were made together.
struct KeptFunctions {
  std::map<std::string, WaitsFor> named;
  std::string object;

  [[nodiscard]] std::string as_bytes() const;
  [[nodiscard]] static std::optional<KeptFunctions> of_bytes(std::string_view bytes);
};

}  // namespace softgpu::compute
