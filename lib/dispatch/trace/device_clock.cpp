#include "dispatch/trace/device_clock.hpp"

namespace fastdispatch::detail {

namespace {
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr int readings = 8;
}  // namespace

DeviceClock DeviceClock::read(const HsaApi& api, std::uint64_t ticks_a_second) noexcept {
  DeviceClock best{.ticks_a_second = ticks_a_second};
  nanoseconds narrowest = nanoseconds::max();
  for (int i = 0; i != readings; ++i) {
    std::uint64_t ticks = 0;
    const auto before = steady_clock::now();
    if (api.system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks) != HSA_STATUS_SUCCESS) continue;
    const nanoseconds width = steady_clock::now() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best.uncertainty = width;
    best.ticks = ticks;
    best.host = before + width / 2;
  }
  return best;
}

bool DeviceClock::agrees_with(const DeviceClock& later) const noexcept {
  const nanoseconds apart = host_time(later.ticks) - later.host;
  return (apart < nanoseconds(0) ? -apart : apart) <= uncertainty + later.uncertainty;
}

steady_clock::time_point DeviceClock::host_time(std::uint64_t device_ticks) const noexcept {
  constexpr std::int64_t nanoseconds_a_second = 1'000'000'000;
  const auto frequency = static_cast<std::int64_t>(ticks_a_second);
  const auto difference =
      static_cast<std::int64_t>(device_ticks - ticks);  // of times before the reading it is negative
  return host + nanoseconds(difference / frequency * nanoseconds_a_second +
                            difference % frequency * nanoseconds_a_second / frequency);
}

}  // namespace fastdispatch::detail
