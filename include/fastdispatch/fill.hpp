// Buffers of one value.
#pragma once

#include <span>
#include <type_traits>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/memory_view.hpp"
#include "fastdispatch/pinned_buffer.hpp"

namespace fastdispatch {

namespace detail {
template <class T>
std::span<const std::byte> bytes_of_element(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
/// Fills `destination` by `element`, of whose size its own is a multiple. Returns when it is done.
FASTDISPATCH_EXPORT void fill(const MemoryView& destination, std::span<const std::byte> element);
}  // namespace detail

/// Sets all elements and returns when it is done. Device memory is filled by a kernel of HSA's (hsa_amd_memory_fill) if
/// the value's bytes repeat every four bytes, and else by copies from the host; the host fills pinned memory. Batches
/// have fills that the host does not wait for (Batch::fill).
/// Throws Error when HSA refuses, or a copy fails.
///
/// Thread safety: any thread may fill.
template <class T>
void fill(DeviceBuffer<T>& destination, const std::type_identity_t<T>& value) {
  detail::fill(destination, detail::bytes_of_element(value));
}
template <class T>
void fill(const DeviceSpan<T>& destination, const std::type_identity_t<T>& value) {
  static_assert(!std::is_const_v<T>, "what is filled must be writable");
  detail::fill(destination, detail::bytes_of_element(value));
}
template <class T>
void fill(PinnedBuffer<T>& destination, const std::type_identity_t<T>& value) {
  detail::fill(destination, detail::bytes_of_element(value));
}

}  // namespace fastdispatch
