// How host and GPUs see each other's writes to pinned memory.
#pragma once

#include <cstdint>

namespace fastdispatch {

/// HSA's two kinds of memory, for pinned memory. Sources: hsa.h (HSA_REGION_GLOBAL_FLAG_*); LLVM's AMDGPU usage guide,
/// "Memory Model"; AMD's "Hardware atomics operation support".
enum class Coherence : std::uint8_t {
  /// Host and GPUs see each other's writes while kernels run, under the terms of HSA's memory model: atomics and fences
  /// of system scope order them. Most GPUs do not cache such memory.
  fine_grained,
  /// The host or one GPU writes at a time, and what the one wrote the other sees at the boundaries of kernels only:
  /// - The host writes before the packet is submitted. The packet acquires at system scope.
  /// - The kernel's writes are the host's to read once a packet that releases at system scope has completed.
  /// A batch's first and last packets do both, and so does a single dispatch, unless its Ordering is weaker.
  /// While a kernel runs, neither a flag, nor an atomic of system scope, nor a fence in the kernel tells the other side
  /// anything. In return the GPU may keep the memory in its caches: a kernel that reads it again, or writes parts of a
  /// cache line, crosses the bus less often.
  coarse_grained,
};

}  // namespace fastdispatch
