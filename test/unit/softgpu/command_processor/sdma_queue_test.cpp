// Copy packets, as ROCr's blit code builds them.
#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "memory_queue.hpp"
#include "softgpu/command_processor/sdma_queue.hpp"

namespace softgpu::command_processor {
namespace {

std::uint32_t low(const void* address) { return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(address)); }
std::uint32_t high(const void* address) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(address) >> 32);
}

class SdmaQueueTest : public ::testing::Test {
protected:
  SdmaQueueTest() { scheduler.add(queue); }
  ~SdmaQueueTest() override {
    scheduler.remove(*queue);
    queue->close();
  }

  void submit(const std::vector<std::uint32_t>& dwords) {
    for (const std::uint32_t dword : dwords) ring[(written++) % ring.size()] = dword;
    __atomic_store_n(queue->write_index(), written * 4, __ATOMIC_RELEASE);
  }
  [[nodiscard]] bool all_done() const {
    return eventually([&] { return __atomic_load_n(queue->read_index(), __ATOMIC_ACQUIRE) == written * 4; });
  }

  FakeHost host;
  Scheduler scheduler{2};
  std::vector<std::uint32_t> ring = std::vector<std::uint32_t>(1024);
  std::uint64_t written = 0;
  std::shared_ptr<SdmaQueue> queue = std::make_shared<SdmaQueue>(
      5, SdmaQueueMemory{.gpu = 0, .ring = reinterpret_cast<std::byte*>(ring.data()), .ring_bytes = 4096}, host);
};

TEST_F(SdmaQueueTest, CopiesBytesThenDecrementsTheSignalAndRaisesTheEvent) {
  std::vector<std::uint8_t> source(100001);
  std::iota(source.begin(), source.end(), std::uint8_t{0});
  std::vector<std::uint8_t> target(source.size());
  Signal done;
  std::uint32_t mailbox = 0;
  auto* value = &done.raw().value;
  submit({1, static_cast<std::uint32_t>(source.size() - 1), 0, low(source.data()), high(source.data()),
          low(target.data()), high(target.data())});
  submit({10 | 47U << 25, low(const_cast<std::int64_t*>(value)), high(const_cast<std::int64_t*>(value)), ~0U, ~0U, 0, 0,
          0});
  submit({5, low(&mailbox), high(&mailbox), 9});
  submit({6, 9});
  ASSERT_TRUE(done.reaches(0));
  ASSERT_TRUE(eventually([&] { return host.was_raised(9); }));
  EXPECT_EQ(mailbox, 9U);
  EXPECT_EQ(target, source);
}

TEST_F(SdmaQueueTest, OnePacketCopiesMoreThanOlderEnginesCould) {
  std::vector<std::uint8_t> source((std::size_t{1} << 22) + 3);
  std::iota(source.begin(), source.end(), std::uint8_t{0});
  std::vector<std::uint8_t> target(source.size() + 1);
  submit({1, static_cast<std::uint32_t>(source.size() - 1), 0, low(source.data()), high(source.data()),
          low(target.data()), high(target.data())});
  ASSERT_TRUE(all_done());
  EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin()));
  EXPECT_EQ(target.back(), 0U);
}

TEST_F(SdmaQueueTest, APollHoldsBackWhatFollows) {
  std::uint32_t polled = 1;
  std::uint32_t written_later = 0;
  submit({8 | 3U << 28 | 1U << 31, low(&polled), high(&polled), 0, ~0U, 0x0fff0004});
  submit({5, low(&written_later), high(&written_later), 42});
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(__atomic_load_n(&written_later, __ATOMIC_ACQUIRE), 0U);
  __atomic_store_n(&polled, 0U, __ATOMIC_RELEASE);
  ASSERT_TRUE(all_done());
  EXPECT_EQ(written_later, 42U);
}

TEST_F(SdmaQueueTest, FlushesTimestampsAndPaddingPass) {
  std::uint64_t time = 0;
  const std::uint64_t before = gpu_clock();
  submit({8, 0, 0x80000000, 0, 0, 0});
  submit({0, 0, 0});
  submit({13 | 2U << 8, low(&time), high(&time)});
  ASSERT_TRUE(all_done());
  EXPECT_GE(time, before);
  EXPECT_LE(time, gpu_clock());
}

TEST_F(SdmaQueueTest, FillsDwords) {
  std::vector<std::uint32_t> target(1000, 1);
  submit({11 | 2U << 30, low(target.data()), high(target.data()), 0xabcd, (999 - 1) * 4});
  ASSERT_TRUE(all_done());
  EXPECT_EQ(target[0], 0xabcdU);
  EXPECT_EQ(target[998], 0xabcdU);
  EXPECT_EQ(target[999], 1U);
}

TEST_F(SdmaQueueTest, CopiesABox) {
  // Elements of 4 bytes: 3 x 2 x 2 of them from (1, 1, 0) in planes of 8 x 4 to (0, 2, 1) in planes of 6 x 5.
  constexpr std::uint32_t element = 2;
  std::vector<std::uint32_t> source(8 * 4 * 3);
  std::iota(source.begin(), source.end(), 100U);
  std::vector<std::uint32_t> target(6 * 5 * 3);
  submit({1 | 4U << 8 | element << 29, low(source.data()), high(source.data()), 1 | 1U << 16, 0 | (8 - 1) << 13,
          8 * 4 - 1, low(target.data()), high(target.data()), 0 | 2U << 16, 1 | (6 - 1) << 13, 6 * 5 - 1,
          (3 - 1) | (2 - 1) << 16, 2 - 1});
  ASSERT_TRUE(all_done());
  std::vector<std::uint32_t> expected(target.size());
  for (std::size_t z = 0; z != 2; ++z)
    for (std::size_t y = 0; y != 2; ++y)
      for (std::size_t x = 0; x != 3; ++x)
        expected[x + (y + 2) * 6 + (z + 1) * 30] = source[(x + 1) + (y + 1) * 8 + z * 32];
  EXPECT_EQ(target, expected);
}

TEST_F(SdmaQueueTest, AnUnknownOperationStopsTheQueueWithALine) {
  std::uint32_t after = 0;
  submit({0x77});
  submit({5, low(&after), high(&after), 1});
  ASSERT_TRUE(eventually([&] { return host.errors().size() == 1; }));
  EXPECT_NE(host.errors()[0].find("copy queue 5 stops: an unknown operation"), std::string::npos);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(__atomic_load_n(&after, __ATOMIC_ACQUIRE), 0U);
}

}  // namespace
}  // namespace softgpu::command_processor
