// Copies between host and devices.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <type_traits>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/memory_view.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch {

// Copies between device memory of two GPUs give each of them access to the other side, and throw Error where the GPUs
// can't reach each other's memory.

/// How pageable memory is copied, and how long a copy may take.
struct CopyOptions {
  static constexpr std::size_t never_lock = ~std::size_t{0};

  /// From this many bytes on, the memory is locked for the copy; smaller copies are staged through pinned blocks.
  /// Locking costs a call into the driver and work for each page; staging costs the host a copy. `./dev bench copies`
  /// measures from which size on locking is faster on a machine.
  std::size_t lock_from = std::size_t{4} << 20U;

  /// After it, TimeoutError. With a time limit pageable memory is staged whatever its size: it could not be unlocked
  /// while the device still copies.
  std::chrono::nanoseconds timeout = forever;
};

/// Copies all of `source` over all of `destination` and returns when it is done. Both are of one size; device, pinned
/// and pageable memory mix freely. Pageable memory is staged through two pinned blocks in turn, so that the host fills
/// one while the device copies the other; large regions are locked for the copy instead.
/// Throws Error when the sizes differ, the sides overlap, HSA refuses, or the copy fails while it runs.
/// Throws TimeoutError when the time is up. What the device has begun, it goes on with: device and pinned memory must
/// live until a later copy of the agent has returned, which waits for it, or until the runtime has closed, which waits
/// for up to 5 seconds a GPU. Pageable memory is not touched any more.
///
/// Thread safety: any thread may copy. Staged copies of one agent take turns.
FASTDISPATCH_EXPORT void copy(const MemoryView& destination, const MemoryView& source, const CopyOptions& options = {});

/// The same with a std::span on either side (const for the source); HSA tells its kind of memory.
/// Throws as view_of, too.
template <class T, std::size_t extent>
void copy(const MemoryView& destination, std::span<T, extent> source, const CopyOptions& options = {});
template <class T, std::size_t extent>
void copy(std::span<T, extent> destination, const MemoryView& source, const CopyOptions& options = {});

/// Starts a copy that waits until every signal of `depends_on` is 0 and then decrements `completion` by one. Neither
/// side may be pageable: staging would need a thread of its own (use copy, PinnedBuffer or Pin). Both memories and the
/// signals must live until the completion. A copy that fails while it runs leaves `completion` negative. Any thread may
/// call it.
/// Throws Error, with nothing started, when the sizes differ or are 0, the sides overlap, one is pageable, neither has
/// an agent, there are more signals than HSA takes (5 with ROCm 6.3 and later), or HSA refuses.
FASTDISPATCH_EXPORT void copy_async(const MemoryView& destination, const MemoryView& source, const Signal& completion,
                                    std::span<const hsa_signal_t> depends_on = {});

// ---- details

namespace detail {
template <class T>
std::span<std::byte> bytes_of(std::span<T> elements) {
  static_assert(std::is_trivially_copyable_v<T>, "only trivially copyable elements can be copied as bytes");
  return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(elements.data())), elements.size_bytes()};
}
/// The span's memory is looked up in the runtime of the other side's agent.
FASTDISPATCH_EXPORT MemoryView host_view(const MemoryView& peer, std::span<std::byte> bytes);
}  // namespace detail

template <class T, std::size_t extent>
void copy(const MemoryView& destination, std::span<T, extent> source, const CopyOptions& options) {
  copy(destination, detail::host_view(destination, detail::bytes_of(std::span<T>(source))), options);
}
template <class T, std::size_t extent>
void copy(std::span<T, extent> destination, const MemoryView& source, const CopyOptions& options) {
  static_assert(!std::is_const_v<T>, "the destination of a copy must be writable");
  copy(detail::host_view(source, detail::bytes_of(std::span<T>(destination))), source, options);
}

}  // namespace fastdispatch
