// The library that called into the soft GPU, read from its own dynamic section.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace softgpu::thunk {

struct LoadedLibrary {
  std::string path;  ///< the file, symbolic links resolved
  std::string soname;
  std::vector<std::string> thunk_imports;  ///< the hsaKmt functions that it takes from another library
};

/// The loaded library or program that `address` lies in, if it lies in one.
[[nodiscard]] std::optional<LoadedLibrary> library_of(const void* address);

}  // namespace softgpu::thunk
