#include "dispatch/trace/device_clock.hpp"

#include <gtest/gtest.h>

#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using detail::DeviceClock;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

TEST(DeviceClocks, turn_ticks_of_any_frequency_into_the_hosts_time) {
  const steady_clock::time_point host(nanoseconds(5'000'000'000'000));
  for (const std::uint64_t frequency : {100'000'000U, 1'000'000'000U}) {
    const DeviceClock clock{.ticks = 40 * frequency, .host = host, .ticks_a_second = frequency};
    EXPECT_EQ(clock.host_time(40 * frequency), host);
    EXPECT_EQ(clock.host_time(40 * frequency + frequency / 1000) - host, std::chrono::milliseconds(1));
    EXPECT_EQ(clock.host_time(30 * frequency - frequency / 1000) - host, std::chrono::milliseconds(-10'001));
    EXPECT_EQ(clock.host_time(100'000'040 * frequency) - host, std::chrono::seconds(100'000'000)) << "years later";
  }
}

TEST(DeviceClocks, agree_as_far_as_their_readings_are_certain) {
  const steady_clock::time_point host(nanoseconds(5'000'000));
  const DeviceClock clock{.ticks = 1000, .host = host, .uncertainty = nanoseconds(100)};
  const auto later = [&](int nanoseconds_later) {
    return DeviceClock{.ticks = 2000, .host = host + nanoseconds(nanoseconds_later), .uncertainty = nanoseconds(50)};
  };
  EXPECT_TRUE(clock.agrees_with(later(1000)));
  EXPECT_TRUE(clock.agrees_with(later(1150)));
  EXPECT_TRUE(clock.agrees_with(later(850)));
  EXPECT_FALSE(clock.agrees_with(later(1151)));
  EXPECT_FALSE(clock.agrees_with(later(849)));
}

TEST(DeviceClocks, are_read_between_two_readings_of_the_hosts) {
  const MockHsa hsa;
  const auto before = steady_clock::now();
  const DeviceClock clock = DeviceClock::read(hsa.api(), 1'000'000'000);
  EXPECT_EQ(clock.ticks, 2000U);
  EXPECT_GE(clock.host, before);
  EXPECT_LE(clock.host, steady_clock::now());
  EXPECT_GT(clock.uncertainty, nanoseconds(0));
}

}  // namespace
}  // namespace fastdispatch::test
