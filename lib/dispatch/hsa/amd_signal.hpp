// The value of a signal, read where it lies.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

namespace fastdispatch::detail {

// AMD's ABI, which the command processor relies on too: a signal's handle is the address of an amd_signal_t.
static_assert(sizeof(amd_signal_t) == 64);
static_assert(offsetof(amd_signal_t, kind) == 0 && offsetof(amd_signal_t, value) == 8);
static_assert(offsetof(amd_signal_t, hardware_doorbell_ptr) == 8);

[[nodiscard]] inline amd_signal_t& amd_signal(hsa_signal_t signal) noexcept {
  return *std::bit_cast<amd_signal_t*>(signal.handle);
}

/// A user signal's value, without a call into HSA.
[[nodiscard]] inline std::int64_t load_acquire(hsa_signal_t signal) noexcept {
  return std::atomic_ref(const_cast<std::int64_t&>(amd_signal(signal).value)).load(std::memory_order_acquire);
}

}  // namespace fastdispatch::detail
