// How a process tells another one of memory by four words, which carry no descriptor: hsa_amd_ipc_memory_* of ROCr up
// to 6.4.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/thunk/memory_file.hpp"

namespace softgpu::thunk {

/// Tells where the file is open: the process, its descriptor, the file's identity. It is good as long as the process
/// has the memory.
using SharedHandle = std::array<std::uint32_t, 4>;

[[nodiscard]] SharedHandle shared_handle(const MemoryFile& file) noexcept;

/// A descriptor of the file, which is the caller's; -1 if that file is not open there any more, or this process has no
/// right to it: it belongs to another user, or the processes do not see each other in /proc.
[[nodiscard]] int open_shared(const SharedHandle& handle) noexcept;

}  // namespace softgpu::thunk
