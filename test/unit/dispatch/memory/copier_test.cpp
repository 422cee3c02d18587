#include "dispatch/memory/copier.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/copy.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/pin.hpp"
#include "fastdispatch/pinned_buffer.hpp"
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
  DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  std::vector<std::byte> host(two_blocks);
  hsa.end_copies({-1, 0, 0, 0, -1, 0, 0, 0});
  EXPECT_THAT(error_of([&] { copier.upload(device, host.data(), Deadline(forever)); }),
              HasSubstr("failed while it ran"));
  EXPECT_NO_THROW(copier.upload(device, host.data(), Deadline(forever)));
  EXPECT_THAT(error_of([&] { copier.download(host.data(), device, Deadline(forever)); }),
              HasSubstr("failed while it ran"));
  EXPECT_NO_THROW(copier.download(host.data(), device, Deadline(forever)));
}

TEST(Copier, fails_only_when_none_of_its_copies_runs_any_more) {
  MockHsa hsa;
  Copier copier(hsa.agent());
  DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  std::vector<std::byte> host(two_blocks);
  hsa.end_copies({-1});
  std::atomic<bool> ended = false;
  const std::jthread engine([&](const std::stop_token& stop) {
    for (; hsa.calls("signal_wait_scacquire") == 0; std::this_thread::yield())
      if (stop.stop_requested()) return;
    ended = true;
    hsa.api().signal_store_screlease(hsa.copies()[1].completion, 0);
  });
  EXPECT_THAT(error_of([&] { copier.download(host.data(), device, Deadline(forever)); }),
              HasSubstr("failed while it ran"));
  EXPECT_TRUE(ended);
}

class PageableCopy : public testing::Test {
protected:
  /// Says how a copy of 3 MiB went: through how many blocks, and with how many locks.
  void upload(const CopyOptions& options) {
    hsa.end_copies(std::deque<hsa_signal_value_t>(100, 0));
    const std::size_t copies = hsa.copies().size();
    const int locks = hsa.calls("amd_memory_lock");
    copy(device, std::span(host), options);
    started = hsa.copies().size() - copies;
    tried_to_lock = hsa.calls("amd_memory_lock") - locks;
  }

  static constexpr std::size_t size = std::size_t{3} << 20U;
  MockHsa hsa;
  DeviceBuffer<std::byte> device{hsa.agent(), size};
  std::vector<std::byte> host = std::vector<std::byte>(size);
  std::size_t started = 0;
  int tried_to_lock = 0;
};

TEST_F(PageableCopy, is_staged_below_the_threshold_and_locked_from_it_on) {
  upload({.lock_from = size + 1});
  EXPECT_GT(started, 1U);
  EXPECT_EQ(tried_to_lock, 0);
  upload({.lock_from = size});
  EXPECT_EQ(started, 1U);
  EXPECT_EQ(hsa.copies().back().source, host.data());
  EXPECT_EQ(tried_to_lock, 1);
  EXPECT_EQ(hsa.locks(), 0U) << "the lock ended with the copy";
}

TEST_F(PageableCopy, is_staged_where_the_memory_can_not_be_locked) {
  hsa.fail("amd_memory_lock", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  upload({.lock_from = 1});
  EXPECT_EQ(tried_to_lock, 1);
  EXPECT_GT(started, 1U);
}

TEST_F(PageableCopy, does_not_rely_on_the_lock_of_another_copy) {
  std::jthread other([&] { copy(device, std::span(host), {.lock_from = 1}); });
  while (hsa.started_copies() == 0) std::this_thread::yield();
  EXPECT_EQ(view_of(hsa.agent(), host).kind, MemoryKind::pageable) << "the other copy runs, and ends at its own time";
  const Pin pin(hsa.agent(), std::span(host).first(64));
  hsa.api().signal_store_screlease(hsa.copies().front().completion, 0);
  other.join();
  EXPECT_EQ(hsa.locks(), 1U);
  EXPECT_EQ(view_of(hsa.agent(), std::span(host).first(64)).kind, MemoryKind::pinned);
}

TEST_F(PageableCopy, is_never_locked_where_it_has_a_time_limit) {
  upload({.lock_from = 1, .timeout = std::chrono::hours(1)});
  EXPECT_GT(started, 1U);
  EXPECT_EQ(tried_to_lock, 0) << "the lock could not end with the time";
}

TEST(Copy, gives_up_when_the_time_is_up_and_the_next_one_waits_for_what_goes_on) {
  MockHsa hsa;
  DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  PinnedBuffer<std::byte> pinned(hsa.agent(), two_blocks);
  std::vector<std::byte> pageable(two_blocks);
  constexpr CopyOptions at_once{.timeout = std::chrono::nanoseconds(0)};
  EXPECT_THAT(error_of([&] { copy(device, pinned, at_once); }), HasSubstr("copying 1048576 bytes: not done within 0"));
  EXPECT_THROW(copy(device, std::span(pageable), at_once), TimeoutError) << "the first one goes on";
  ASSERT_EQ(hsa.copies().size(), 1U) << "nothing is started before it has ended";
  hsa.api().signal_store_screlease(hsa.copies()[0].completion, -1);
  hsa.end_copies(std::deque<hsa_signal_value_t>(8, 0));
  EXPECT_NO_THROW(copy(device, pinned)) << "that the first one failed is not its concern";
  EXPECT_NO_THROW(copy(std::span(pageable), device));
}

TEST(Copy, keeps_to_its_time_while_another_thread_waits_for_what_goes_on) {
  MockHsa hsa;
  DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  PinnedBuffer<std::byte> pinned(hsa.agent(), two_blocks);
  std::atomic<bool> ended{false};
  std::thread in_time([&] {
    EXPECT_THROW(copy(device, pinned, {.timeout = std::chrono::seconds(2)}), TimeoutError);
    ended = true;
  });
  while (hsa.started_copies() == 0) std::this_thread::yield();
  EXPECT_THROW(copy(device, pinned, {.timeout = std::chrono::nanoseconds(0)}), TimeoutError);
  const bool has_left_one = hsa.started_copies() == 2;  // else the first one's time was up before
  const hsa_signal_t left = hsa.copies().back().completion;
  std::thread waiting([&] { EXPECT_NO_THROW(copy(device, pinned)); });
  while (has_left_one && hsa.most_waiters(left) == 0 && !ended) std::this_thread::yield();
  for (int polls = 0; polls < 60'000 && !ended; ++polls) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(ended);
  hsa.end_copies(std::deque<hsa_signal_value_t>(8, 0));
  for (std::size_t copy = 0; copy < (has_left_one ? 2U : 1U); ++copy) hsa.end_copy(copy);
  in_time.join();
  waiting.join();
}

TEST(Copier, goes_when_the_copies_whose_time_was_up_have_ended) {
  MockHsa hsa;
  DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  std::vector<std::byte> host(two_blocks);
  std::optional<Copier> copier(std::in_place, hsa.agent());
  EXPECT_THROW(copier->upload(device, host.data(), Deadline(std::chrono::nanoseconds(0))), TimeoutError);
  const hsa_signal_t copied = hsa.copies().at(0).completion;
  ASSERT_EQ(hsa.most_waiters(copied), 0);
  std::atomic<bool> gone{false};
  const std::size_t allocations = hsa.allocations();
  std::size_t left = 0;
  std::thread device_copies([&] {
    while (hsa.most_waiters(copied) == 0 && !gone) std::this_thread::yield();
    left = hsa.allocations();
    for (std::size_t i = 0; i < hsa.started_copies() && !gone; ++i) hsa.end_copy(i);
  });
  copier.reset();
  gone = true;
  device_copies.join();
  EXPECT_EQ(left, allocations) << "the device copies from that memory";
  EXPECT_EQ(hsa.allocations(), allocations - 2);
}

TEST(Copy, of_pageable_memory_leaves_its_blocks_to_the_device_when_the_time_is_up) {
  MockHsa hsa;
  DeviceBuffer<std::byte> device(hsa.agent(), two_blocks);
  std::vector<std::byte> pageable(two_blocks);
  EXPECT_THROW(copy(std::span(pageable), device, {.timeout = std::chrono::nanoseconds(0)}), TimeoutError);
  const std::size_t begun = hsa.copies().size();
  EXPECT_THROW(copy(device, std::span(pageable), {.timeout = std::chrono::nanoseconds(0)}), TimeoutError);
  EXPECT_EQ(hsa.copies().size(), begun) << "the blocks are in use";
  for (const auto& copied : hsa.copies()) hsa.api().signal_store_screlease(copied.completion, 0);
  hsa.end_copies(std::deque<hsa_signal_value_t>(8, 0));
  EXPECT_NO_THROW(copy(device, std::span(pageable)));
}

}  // namespace
}  // namespace fastdispatch::detail
