// From the device's times to the host's.
#pragma once

#include <chrono>
#include <cstdint>

#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {

/// The same moment by two clocks: HSA's system clock, in whose ticks HSA tells when packets and copies ran, and the
/// host's steady clock. Cheap to copy.
struct DeviceClock {
  std::uint64_t ticks = 0;
  std::chrono::steady_clock::time_point host{};
  std::uint64_t ticks_a_second = 1'000'000'000;
  std::chrono::nanoseconds uncertainty{};  ///< how far apart the two readings may be

  /// Reads both clocks several times, and takes the reading of HSA's that took the host the least time.
  [[nodiscard]] static DeviceClock read(const HsaApi& api, std::uint64_t ticks_a_second) noexcept;

  /// Whether a later reading fits. Then the clocks run alike, and keeping to one reading keeps what is shown in order.
  [[nodiscard]] bool agrees_with(const DeviceClock& later) const noexcept;
  [[nodiscard]] std::chrono::steady_clock::time_point host_time(std::uint64_t device_ticks) const noexcept;
};

}  // namespace fastdispatch::detail
