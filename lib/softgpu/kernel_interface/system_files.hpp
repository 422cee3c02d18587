// The files in /sys that tell of the driver's GPUs, below /sys/devices/virtual/kfd/kfd/topology: names and values, a
// line each, as the kernel writes them (kfd_topology.c).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/thunk/topology.hpp"

namespace softgpu::kernel_interface {

/// Thread safety: const members may be called from any thread.
class SystemFiles {
public:
  SystemFiles() = default;  ///< none
  explicit SystemFiles(const thunk::Topology& topology);

  /// Whether the file or folder of this absolute path would be the driver's.
  [[nodiscard]] static bool are_at(std::string_view path);
  /// What a file contains; nothing if there is no such file.
  [[nodiscard]] std::optional<std::string> content(std::string_view path) const;
  /// The names in a folder, sorted; empty if there is no such folder.
  [[nodiscard]] std::vector<std::string> entries(std::string_view path) const;

private:
  std::map<std::string, std::string, std::less<>> files_;  ///< contents by path
};

}  // namespace softgpu::kernel_interface
