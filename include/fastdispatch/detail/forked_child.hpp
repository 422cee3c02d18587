// A child after fork has no GPU: HSA's threads and the driver stayed with its parent.
#pragma once

#include <atomic>

#include "fastdispatch/detail/export.hpp"

namespace fastdispatch::detail {

/// Whether this process was forked from one that used the GPU.
FASTDISPATCH_EXPORT extern std::atomic<bool> is_forked_child;

[[noreturn]] FASTDISPATCH_EXPORT void throw_forked_child();

/// Throws Error in such a process. Cost: a load and a branch.
inline void check_not_forked() {
  if (is_forked_child.load(std::memory_order_relaxed)) [[unlikely]]
    throw_forked_child();
}

/// Deletes objects that stand for something of the GPU's; a child leaves them to the end of its process.
struct DeleteUnlessForked {
  template <class T>
  void operator()(T* object) const noexcept {
    if (!is_forked_child.load(std::memory_order_relaxed)) delete object;
  }
};

}  // namespace fastdispatch::detail
