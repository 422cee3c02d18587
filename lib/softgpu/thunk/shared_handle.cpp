#include "softgpu/thunk/shared_handle.hpp"

#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace softgpu::thunk {

SharedHandle shared_handle(const MemoryFile& file) noexcept {
  const std::uint64_t identity = file.identity();
  return {static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(file.descriptor()),
          static_cast<std::uint32_t>(identity), static_cast<std::uint32_t>(identity >> 32)};
}

int open_shared(const SharedHandle& handle) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%u/fd/%u", handle[0], handle[1]);
  const int descriptor = open(path.data(), O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return -1;
  const std::uint64_t identity = handle[2] | std::uint64_t{handle[3]} << 32;
  if (const auto file = MemoryFile::import(descriptor); file && file->identity() == identity) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace softgpu::thunk
