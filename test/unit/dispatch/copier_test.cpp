#include "dispatch/copier.hpp"

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::detail {
namespace {

using test::error_of;
using test::MockHsa;
using ::testing::HasSubstr;

constexpr std::size_t two_blocks = std::size_t{1} << 20U;

TEST(Copier, forgets_a_copy_that_failed) {
  MockHsa hsa;
  Copier copier(hsa.agent());
  const DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  std::vector<std::byte> host(two_blocks);
  hsa.end_copies({-1, 0, 0, 0, -1, 0, 0, 0});
  EXPECT_THAT(error_of([&] { copier.upload(device, host.data()); }), HasSubstr("failed while it ran"));
  EXPECT_NO_THROW(copier.upload(device, host.data()));
  EXPECT_THAT(error_of([&] { copier.download(host.data(), device); }), HasSubstr("failed while it ran"));
  EXPECT_NO_THROW(copier.download(host.data(), device));
}

TEST(Copier, fails_only_when_none_of_its_copies_runs_any_more) {
  MockHsa hsa;
  Copier copier(hsa.agent());
  const DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  std::vector<std::byte> host(two_blocks);
  hsa.end_copies({-1});
  std::atomic<bool> ended = false;
  const std::jthread engine([&](const std::stop_token& stop) {
    for (; hsa.calls("signal_wait_scacquire") == 0; std::this_thread::yield())
      if (stop.stop_requested()) return;
    ended = true;
    hsa.api().signal_store_screlease(hsa.copies()[1].completion, 0);
  });
  EXPECT_THAT(error_of([&] { copier.download(host.data(), device); }), HasSubstr("failed while it ran"));
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace fastdispatch::detail
