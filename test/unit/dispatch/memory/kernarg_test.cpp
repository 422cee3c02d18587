#include "fastdispatch/kernarg.hpp"

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/memory/kernarg_pool.hpp"
#include "dispatch/memory/kernarg_ring.hpp"
#include "expect_error.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using detail::KernargPool;
using detail::KernargRing;
using testing::AllOf;
using testing::HasSubstr;

TEST(KernargRing, hands_out_whole_lines_in_order) {
  KernargRing ring(1024);
  EXPECT_EQ(ring.try_acquire(1)->offset, 0U);
  EXPECT_EQ(ring.try_acquire(65)->offset, 64U);
  EXPECT_EQ(ring.try_acquire(64)->offset, 192U);
}

TEST(KernargRing, takes_a_block_back_only_when_its_epoch_and_all_older_blocks_completed) {
  KernargRing ring(128);
  const auto first = ring.try_acquire(64);
  const auto second = ring.try_acquire(64);
  ASSERT_TRUE(first && second);
  ring.retire(second->index, 1);
  ring.reclaim(5);
  EXPECT_EQ(ring.oldest_epoch(), KernargRing::unretired);
  EXPECT_FALSE(ring.try_acquire(64)) << "the older block was not retired";
  ring.retire(first->index, 2);
  ring.reclaim(1);
  EXPECT_FALSE(ring.try_acquire(64)) << "the older block's epoch did not complete";
  ring.reclaim(2);
  EXPECT_EQ(ring.oldest_epoch(), 0U);
  EXPECT_TRUE(ring.try_acquire(128));
}

TEST(KernargRing, gives_all_of_its_bytes_to_one_block_whenever_it_is_empty) {
  KernargRing ring(256);
  for (std::uint64_t epoch = 1; epoch < 10; ++epoch) {
    ring.retire(ring.try_acquire(64)->index, epoch);
    ring.reclaim(epoch);
    const auto whole = ring.try_acquire(256);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->offset, 0U);
    ring.retire(whole->index, epoch);
    ring.reclaim(epoch);
  }
}

TEST(KernargRing, never_hands_out_bytes_that_are_in_use_or_cross_its_end) {
  constexpr std::size_t capacity = 4096;
  KernargRing ring(capacity);
  std::vector<bool> used(capacity);
  struct Block {
    KernargRing::Block block;
    std::size_t bytes;
  };
  std::deque<Block> live;
  std::minstd_rand random(42);
  std::uint64_t epoch = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t bytes = 1 + random() % 700;
    if (const auto block = ring.try_acquire(bytes)) {
      ASSERT_EQ(block->offset % 64, 0U);
      ASSERT_LE(block->offset + bytes, capacity);
      for (std::size_t byte = block->offset; byte < block->offset + bytes; ++byte) {
        ASSERT_FALSE(used[byte]);
        used[byte] = true;
      }
      live.push_back({*block, bytes});
    } else {
      ASSERT_FALSE(live.empty()) << "an empty ring refused " << bytes;
      ring.retire(live.front().block.index, ++epoch);
      ring.reclaim(epoch);
      const auto begin = used.begin() + static_cast<std::ptrdiff_t>(live.front().block.offset);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(live.front().bytes), false);
      live.pop_front();
    }
  }
}

TEST(KernargPool, refuses_sizes_that_it_can_never_serve) {
  MockHsa hsa;
  EXPECT_THAT(error_of([&] { KernargPool(hsa.agent(), 100); }), HasSubstr("multiple of 64"));
  EXPECT_THAT(error_of([&] { KernargPool(hsa.agent(), 0); }), HasSubstr("multiple of 64"));
  KernargPool pool(hsa.agent(), 128);
  EXPECT_THAT(error_of([&] { static_cast<void>(pool.try_acquire(129, 0)); }),
              AllOf(HasSubstr("129 bytes"), HasSubstr("128 bytes"), HasSubstr("kernarg_bytes")));
}

TEST(KernargPool, reuses_memory_of_completed_epochs) {
  MockHsa hsa;
  KernargPool pool(hsa.agent(), 128);
  const auto first = pool.try_acquire(100, 0);
  ASSERT_EQ(first->bytes.size(), 100U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->bytes.data()) % 64, 0U);
  pool.retire(first->index, 1);
  EXPECT_FALSE(pool.try_acquire(100, 0));
  EXPECT_EQ(pool.oldest_epoch(), 1U);
  EXPECT_EQ(pool.try_acquire(100, 1)->bytes.data(), first->bytes.data());
}

TEST(KernargBlock, frees_its_memory_also_when_it_cannot_be_shared_with_the_gpu) {
  MockHsa hsa;
  { const KernargBlock block(hsa.agent(), 64); }
  EXPECT_EQ(hsa.allocations(), 0U);
  hsa.fail("amd_agents_allow_access", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { KernargBlock(hsa.agent(), 64); }), HasSubstr("hsa_amd_agents_allow_access"));
  EXPECT_EQ(hsa.allocations(), 0U);
}

TEST(KernargBlock, says_what_it_was_allocating_when_the_region_is_exhausted) {
  MockHsa hsa;
  hsa.fail("amd_memory_pool_allocate", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { KernargBlock(hsa.agent(), 4096); }),
              HasSubstr("allocating 4096 bytes for kernel arguments"));
  EXPECT_THAT(error_of([&] { KernargBlock(hsa.agent(), 0); }), HasSubstr("size"));
}

}  // namespace
}  // namespace fastdispatch::test
