// What the choice of a device and of an HSA runtime looks at: device files, the driver's topology, the environment.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fastdispatch::detail {

/// What came of opening a device file for reading and writing. The file is closed again.
struct OpenedFile {
  int error = 0;             ///< errno, or 0
  bool null_device = false;  ///< it is /dev/null, as softgpu-run puts it in the place of /dev/kfd
};

/// A machine as a process sees it. Tests make up their own.
struct Machine {
  std::function<OpenedFile(const std::string& path)> open;
  /// The name of the group that a file belongs to; empty if it is not known.
  std::function<std::string(const std::string& path)> group_of;
  /// The text of a file; empty if it cannot be read.
  std::function<std::string(const std::string& path)> read;
  /// The paths of what is in a folder, sorted; empty if it cannot be read.
  std::function<std::vector<std::string>(const std::string& path)> list;
  /// The value of a variable, or null. Null for all in a set-user-ID program.
  std::function<const char*(const char* name)> environment;
};

/// The machine that this process runs on.
[[nodiscard]] Machine this_machine();

}  // namespace fastdispatch::detail
