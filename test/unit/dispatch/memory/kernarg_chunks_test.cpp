#include "dispatch/memory/kernarg_chunks.hpp"

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using detail::KernargChunks;
using detail::KernargShare;

class Chunks : public ::testing::Test {
protected:
  MockHsa hsa;
  KernargChunks chunks{hsa.agent(), KernargMemory::host};
};

TEST_F(Chunks, cost_no_allocation_before_a_part_is_taken_and_none_for_nothing) {
  EXPECT_TRUE(chunks.take(0).bytes().empty());
  EXPECT_EQ(hsa.allocations(), 0U);
}

TEST_F(Chunks, put_small_parts_beside_each_other_on_lines_of_their_own) {
  const KernargShare first = chunks.take(1);
  const KernargShare second = chunks.take(65);
  const KernargShare third = chunks.take(64);
  EXPECT_EQ(first.bytes().size(), 1U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.bytes().data()) % 64, 0U);
  EXPECT_EQ(second.bytes().data(), first.bytes().data() + 64);
  EXPECT_EQ(third.bytes().data(), first.bytes().data() + 192);
  EXPECT_EQ(hsa.allocations(), 1U);
}

TEST_F(Chunks, give_large_parts_an_allocation_of_their_own) {
  const KernargShare small = chunks.take(64);
  const KernargShare large = chunks.take(KernargChunks::chunk_bytes * 2);
  EXPECT_EQ(large.bytes().size(), KernargChunks::chunk_bytes * 2);
  EXPECT_EQ(hsa.allocations(), 2U);
  EXPECT_EQ(chunks.take(64).bytes().data(), small.bytes().data() + 64);
}

TEST_F(Chunks, hand_out_again_what_came_back) {
  constexpr std::size_t part = KernargChunks::chunk_bytes / 8;
  std::vector<KernargShare> parts;
  for (int i = 0; i < 24; ++i) parts.push_back(chunks.take(part));
  EXPECT_EQ(hsa.allocations(), 3U);
  const std::byte* const first = parts.front().bytes().data();
  parts.erase(parts.begin(), parts.begin() + 7);
  EXPECT_NE(chunks.take(part).bytes().data(), first) << "one part of the first chunk is in use";
  EXPECT_EQ(hsa.allocations(), 4U);
  parts.erase(parts.begin());
  std::vector<KernargShare> later;
  for (int i = 0; i < 9; ++i) later.push_back(chunks.take(part));
  EXPECT_EQ(later.back().bytes().data(), first);
  EXPECT_EQ(hsa.allocations(), 4U);
}

TEST_F(Chunks, take_turns_without_an_allocation_where_few_are_in_flight) {
  KernargShare before;
  for (int i = 0; i < 1000; ++i) before = chunks.take(KernargChunks::chunk_bytes / 5);
  EXPECT_EQ(hsa.calls("amd_memory_pool_allocate"), 2);
}

TEST_F(Chunks, hand_out_a_large_one_again_unless_half_of_it_would_be_wasted) {
  const std::size_t large = KernargChunks::chunk_bytes * 2;
  const std::byte* const first = chunks.take(large).bytes().data();
  EXPECT_EQ(chunks.take(large - 64).bytes().data(), first);
  EXPECT_NE(chunks.take(large / 2 - 64).bytes().data(), first);
  EXPECT_EQ(hsa.calls("amd_memory_pool_allocate"), 2);
}

TEST_F(Chunks, keep_little_that_nobody_uses) {
  std::vector<KernargShare> parts;
  for (int i = 0; i < 40; ++i) parts.push_back(chunks.take(KernargChunks::chunk_bytes));
  parts.clear();
  EXPECT_EQ(hsa.allocations(), KernargChunks::most_unused / KernargChunks::chunk_bytes);
}

TEST_F(Chunks, never_give_two_threads_the_same_bytes) {
  constexpr std::size_t bytes = 200;
  std::vector<std::vector<KernargShare>> taken(4);
  {
    std::vector<std::jthread> threads;
    for (auto& parts : taken)
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          parts.push_back(chunks.take(bytes));
          for (std::byte& byte : parts.back().bytes()) byte = std::byte{0};
        }
      });
  }
  for (auto& parts : taken)
    for (const KernargShare& part : parts)
      for (std::byte& byte : part.bytes()) byte = static_cast<std::byte>(std::to_integer<int>(byte) + 1);
  for (auto& parts : taken)
    for (const KernargShare& part : parts)
      for (const std::byte byte : part.bytes()) ASSERT_EQ(byte, std::byte{1});
}

}  // namespace
}  // namespace fastdispatch::test
