// Order among stores to memory whose writes are combined, such as a device's memory over PCI Express: the processor may
// send them off in any order, and no release store waits for them.
#pragma once

#include <atomic>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace fastdispatch::detail {

/// Earlier stores of this thread arrive before later ones.
inline void store_fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace fastdispatch::detail
