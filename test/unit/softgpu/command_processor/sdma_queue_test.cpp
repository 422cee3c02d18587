// Copy packets, as ROCr's blit code builds them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <sstream>
#include <string>
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

/// A copy queue in plain memory.
class MemorySdmaQueue {
public:
  MemorySdmaQueue(Scheduler& scheduler, Host& host, std::uint64_t id, std::uint32_t gpu = 0,
                  const sdma::BoxFields& box_fields = sdma::box_fields)
      : scheduler_(scheduler),
        target_(std::make_shared<SdmaQueue>(
            id, SdmaQueueMemory{.gpu = gpu, .ring = reinterpret_cast<std::byte*>(ring_.data()), .ring_bytes = 4096},
            box_fields, host)) {
    scheduler_.add(target_);
  }
  ~MemorySdmaQueue() {
    scheduler_.remove(*target_);
    target_->close();
  }
  MemorySdmaQueue(const MemorySdmaQueue&) = delete;
  MemorySdmaQueue& operator=(const MemorySdmaQueue&) = delete;

  void submit(const std::vector<std::uint32_t>& dwords) {
    for (const std::uint32_t dword : dwords) ring_[(written_++) % ring_.size()] = dword;
    __atomic_store_n(target_->write_index(), written_ * 4, __ATOMIC_RELEASE);
  }
  [[nodiscard]] bool all_done() const {
    return eventually([&] { return __atomic_load_n(target_->read_index(), __ATOMIC_ACQUIRE) == written_ * 4; });
  }

private:
  Scheduler& scheduler_;
  std::vector<std::uint32_t> ring_ = std::vector<std::uint32_t>(1024);
  std::uint64_t written_ = 0;
  std::shared_ptr<SdmaQueue> target_;
};

class SdmaQueueTest : public ::testing::Test {
protected:
  void submit(const std::vector<std::uint32_t>& dwords) { queue.submit(dwords); }
  [[nodiscard]] bool all_done() const { return queue.all_done(); }

  FakeHost host;
  Scheduler scheduler{2};
  MemorySdmaQueue queue{scheduler, host, 5};
};

/// A page that may be used, and one behind it that may not.
class PageAtTheEdge {
public:
  PageAtTheEdge() {
    first_ =
        static_cast<std::byte*>(mmap(nullptr, 2 * size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(edge(), size(), PROT_NONE);
  }
  ~PageAtTheEdge() { munmap(first_, 2 * size()); }
  PageAtTheEdge(const PageAtTheEdge&) = delete;
  PageAtTheEdge& operator=(const PageAtTheEdge&) = delete;

  [[nodiscard]] static std::size_t size() { return static_cast<std::size_t>(getpagesize()); }
  [[nodiscard]] std::byte* data() const { return first_; }
  [[nodiscard]] std::byte* edge() const { return first_ + size(); }

private:
  std::byte* first_;
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

/// Elements of 4 bytes: 3 x 2 x 2 of them from (1, 1, 0) in planes of 8 x 4 to (0, 2, 1) in planes of 6 x 5. A pitch
/// begins at the bit `pitch_bit` of its dword.
class BoxOfElements {
public:
  explicit BoxOfElements(unsigned pitch_bit) : pitch_bit_(pitch_bit) {
    std::iota(source_.begin(), source_.end(), 100U);
    for (std::size_t z = 0; z != 2; ++z)
      for (std::size_t y = 0; y != 2; ++y)
        for (std::size_t x = 0; x != 3; ++x)
          expected[x + (y + 2) * 6 + (z + 1) * 30] = source_[(x + 1) + (y + 1) * 8 + z * 32];
  }

  [[nodiscard]] std::vector<std::uint32_t> packet() const {
    constexpr std::uint32_t element = 2;
    return {1 | 4U << 8 | element << 29,
            low(source_.data()),
            high(source_.data()),
            1 | 1U << 16,
            0 | (8U - 1) << pitch_bit_,
            8 * 4 - 1,
            low(target.data()),
            high(target.data()),
            0 | 2U << 16,
            1 | (6U - 1) << pitch_bit_,
            6 * 5 - 1,
            (3 - 1) | (2 - 1) << 16,
            2 - 1};
  }

  std::vector<std::uint32_t> target = std::vector<std::uint32_t>(6 * 5 * 3);
  std::vector<std::uint32_t> expected = std::vector<std::uint32_t>(6 * 5 * 3);

private:
  unsigned pitch_bit_;
  std::vector<std::uint32_t> source_ = std::vector<std::uint32_t>(8 * 4 * 3);
};

TEST_F(SdmaQueueTest, CopiesABox) {
  const BoxOfElements box(13);
  submit(box.packet());
  ASSERT_TRUE(all_done());
  EXPECT_EQ(box.target, box.expected);
}

TEST_F(SdmaQueueTest, CopiesABoxAsGfx12DescribesIt) {
  MemorySdmaQueue of_gfx12(scheduler, host, 6, 0, sdma::gfx12_box_fields);
  const BoxOfElements box(16);
  of_gfx12.submit(box.packet());
  ASSERT_TRUE(of_gfx12.all_done());
  EXPECT_EQ(box.target, box.expected);
}

/// More rows than the older fields can tell, with a slice pitch of 32 bits that nothing uses.
TEST_F(SdmaQueueTest, CopiesATallBoxOfGfx12) {
  MemorySdmaQueue of_gfx12(scheduler, host, 6, 0, sdma::gfx12_box_fields);
  constexpr std::uint32_t rows = 40'000;
  std::vector<std::uint32_t> source(rows * 2);
  std::iota(source.begin(), source.end(), 100U);
  std::vector<std::uint32_t> target(rows);
  of_gfx12.submit({1 | 4U << 8 | 2U << 29, low(source.data()), high(source.data()), 0, 1U << 16, ~0U,
                   low(target.data()), high(target.data()), 0, 0, ~0U, (rows - 1) << 16, 0});
  ASSERT_TRUE(of_gfx12.all_done());
  for (std::uint32_t row = 0; row < rows; ++row) ASSERT_EQ(target[row], source[row * 2]) << row;
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

std::string hexadecimal(const void* address) {
  std::ostringstream text;
  text << "0x" << std::hex << reinterpret_cast<std::uint64_t>(address);
  return text.str();
}

std::vector<std::uint32_t> copy_packet(const void* source, const void* target, std::uint32_t bytes) {
  return {1, bytes - 1, 0, low(source), high(source), low(target), high(target)};
}

TEST(SdmaQueueFault, ACopyBeyondWhatIsMappedIsAMemoryFaultThatStopsItsQueueAndNoOther) {
  FakeHost host;
  Scheduler scheduler(2);
  MemorySdmaQueue other(scheduler, host, 4);
  MemorySdmaQueue broken(scheduler, host, 5, 1);
  const PageAtTheEdge source;
  std::vector<std::byte> target(2 * PageAtTheEdge::size());
  std::fill_n(source.data(), PageAtTheEdge::size(), std::byte{7});
  std::uint32_t polled = 1;
  std::uint32_t after = 0;
  std::uint32_t after_in_other = 0;
  other.submit({8 | 3U << 28 | 1U << 31, low(&polled), high(&polled), 0, ~0U, 0x0fff0004});
  other.submit({5, low(&after_in_other), high(&after_in_other), 1});
  broken.submit({0, 0, 0});
  broken.submit(copy_packet(source.data() + 16, target.data(), static_cast<std::uint32_t>(PageAtTheEdge::size())));
  broken.submit({5, low(&after), high(&after), 1});

  ASSERT_TRUE(eventually([&] { return host.faults().size() == 1; }));
  EXPECT_EQ(host.faults()[0].gpu, 1U);
  EXPECT_EQ(host.faults()[0].address, reinterpret_cast<std::uint64_t>(source.edge()));
  ASSERT_EQ(host.errors().size(), 1U);
  EXPECT_EQ(host.errors()[0], "copy queue 5 stops: address " + hexadecimal(source.edge()) +
                                  " is not mapped; accessed by a copy of 4096 bytes from " +
                                  hexadecimal(source.data() + 16) + " to " + hexadecimal(target.data()) +
                                  " (packet at byte 12)");
  __atomic_store_n(&polled, 0U, __ATOMIC_RELEASE);
  EXPECT_TRUE(other.all_done());
  EXPECT_EQ(after_in_other, 1U);
  EXPECT_EQ(__atomic_load_n(&after, __ATOMIC_ACQUIRE), 0U);
  EXPECT_EQ(target[PageAtTheEdge::size() - 17], std::byte{7});
}

struct FaultingPacket {
  const char* operation;
  std::vector<std::uint32_t> (*packet)(const void* mapped, const void* unmapped);
};
void PrintTo(const FaultingPacket& packet, std::ostream* out) { *out << packet.operation; }

class EachSdmaPacket : public ::testing::TestWithParam<FaultingPacket> {};

TEST_P(EachSdmaPacket, ThatNamesAnAddressThatIsNotMappedIsAMemoryFaultThere) {
  FakeHost host;
  Scheduler scheduler(2);
  MemorySdmaQueue queue(scheduler, host, 5);
  const PageAtTheEdge page;
  queue.submit(GetParam().packet(page.data(), page.edge()));
  ASSERT_TRUE(eventually([&] { return host.faults().size() == 1; }));
  EXPECT_EQ(host.faults()[0].address, reinterpret_cast<std::uint64_t>(page.edge()));
  const std::string line = host.errors().at(0);
  EXPECT_NE(line.find("copy queue 5 stops: address " + hexadecimal(page.edge()) + " is not mapped"), std::string::npos);
  EXPECT_NE(line.find(std::string("accessed by ") + GetParam().operation), std::string::npos) << line;
}

using Packets = std::vector<std::uint32_t>;
INSTANTIATE_TEST_SUITE_P(
    All, EachSdmaPacket,
    ::testing::Values(
        FaultingPacket{"a copy of 8 bytes from ",
                       [](const void* mapped, const void* unmapped) { return copy_packet(unmapped, mapped, 8); }},
        FaultingPacket{"a copy of 8 bytes from ",
                       [](const void* mapped, const void* unmapped) { return copy_packet(mapped, unmapped, 8); }},
        FaultingPacket{"a copy of a box from ",
                       [](const void* mapped, const void* unmapped) -> Packets {
                         return {1 | 4U << 8,    low(mapped), high(mapped), 0,  7U << 13,     63, low(unmapped),
                                 high(unmapped), 0,           7U << 13,     63, 7 | 1U << 16, 0};
                       }},
        FaultingPacket{"a fence at ",
                       [](const void*, const void* unmapped) -> Packets {
                         return {5, low(unmapped), high(unmapped), 1};
                       }},
        FaultingPacket{"a poll at ",
                       [](const void*, const void* unmapped) -> Packets {
                         return {8 | 3U << 28 | 1U << 31, low(unmapped), high(unmapped), 0, ~0U, 0x0fff0004};
                       }},
        FaultingPacket{"an atomic addition at ",
                       [](const void*, const void* unmapped) -> Packets {
                         return {10 | 47U << 25, low(unmapped), high(unmapped), ~0U, ~0U, 0, 0, 0};
                       }},
        FaultingPacket{"a fill of 16 bytes at ",
                       [](const void*, const void* unmapped) -> Packets {
                         return {11 | 2U << 30, low(unmapped), high(unmapped), 9, 12};
                       }},
        FaultingPacket{"a timestamp at ", [](const void*, const void* unmapped) -> Packets {
                         return {13 | 2U << 8, low(unmapped), high(unmapped)};
                       }}));

TEST_F(SdmaQueueTest, AnAddressOfMoreThan48BitsIsAMemoryFault) {
  std::uint64_t target = 0;
  submit({1, 7, 0, 0x1000, 0x12345678, low(&target), high(&target)});
  ASSERT_TRUE(eventually([&] { return host.faults().size() == 1; }));
  const std::string line = host.errors().at(0);
  EXPECT_NE(line.find("not canonical"), std::string::npos) << line;
  EXPECT_NE(line.find("a copy of 8 bytes from 0x1234567800001000"), std::string::npos) << line;
}

TEST_F(SdmaQueueTest, AFaultOfWhichTheRuntimeIsNotToldIsALineMore) {
  host.takes_faults = false;
  const PageAtTheEdge page;
  submit({5, low(page.edge()), high(page.edge()), 1});
  ASSERT_TRUE(eventually([&] { return host.errors().size() == 2; }));
  EXPECT_NE(host.errors()[1].find("copy queue 5: the runtime takes no further memory fault"), std::string::npos);
}

}  // namespace
}  // namespace softgpu::command_processor
