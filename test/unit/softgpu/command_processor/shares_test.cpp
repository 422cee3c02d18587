// Every work-group is handed out once; a core's own stretch comes first.
#include "softgpu/command_processor/shares.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace softgpu::command_processor {
namespace {

TEST(Shares, a_core_begins_with_its_own_stretch_and_goes_on_with_the_next) {
  Shares shares;
  shares.deal(40, 4);
  std::vector<std::uint64_t> order;
  while (const auto range = shares.claim(2))
    for (std::uint64_t group = range->begin; group != range->end; ++group) order.push_back(group);
  ASSERT_EQ(order.size(), 40U);
  for (std::uint64_t i = 0; i != 40; ++i) EXPECT_EQ(order[i], (20 + i) % 40);
  EXPECT_FALSE(shares.are_left());
}

TEST(Shares, a_grid_with_fewer_work_groups_than_cores_is_handed_out_one_by_one) {
  Shares shares;
  shares.deal(3, 8);
  for (const std::uint32_t core : {7U, 7U, 7U}) {
    ASSERT_TRUE(shares.are_left());
    const auto range = shares.claim(core);
    ASSERT_TRUE(range);
    EXPECT_EQ(range->end - range->begin, 1U);
  }
  EXPECT_FALSE(shares.claim(0));
}

TEST(Shares, ranges_get_shorter_but_not_much_shorter_than_a_share) {
  Shares shares;
  shares.deal(64, 2);
  std::vector<std::uint64_t> lengths;
  while (const auto range = shares.claim(1)) lengths.push_back(range->end - range->begin);
  EXPECT_EQ(lengths, (std::vector<std::uint64_t>{16, 8, 4, 4, 16, 8, 4, 4}));
}

TEST(Shares, what_is_given_back_is_handed_out_again_before_the_rest) {
  Shares shares;
  shares.deal(100, 1);
  const auto first = shares.claim(0);
  ASSERT_TRUE(first);
  shares.take_all();
  EXPECT_FALSE(shares.are_left());
  shares.give_back({.begin = first->begin + 1, .end = first->end});
  EXPECT_TRUE(shares.are_left());
  const auto again = shares.claim(0);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->begin, first->begin + 1);
  EXPECT_EQ(again->end, first->end);
  EXPECT_FALSE(shares.claim(0));
}

TEST(Shares, an_empty_grid_has_none) {
  Shares shares;
  shares.deal(0, 8);
  EXPECT_FALSE(shares.are_left());
  EXPECT_FALSE(shares.claim(3));
}

TEST(Shares, threads_on_any_cores_get_every_work_group_once) {
  for (const std::uint64_t groups : {1ULL, 17ULL, 1000ULL, 100'000ULL}) {
    Shares shares;
    shares.deal(groups, 3);
    std::vector<std::atomic<int>> claimed(groups);
    std::vector<std::jthread> threads;
    for (std::uint32_t core = 0; core != 5; ++core)
      threads.emplace_back([&, core] {
        while (const auto range = shares.claim(core))
          for (std::uint64_t group = range->begin; group != range->end; ++group) ++claimed[group];
      });
    threads.clear();
    for (const auto& count : claimed) EXPECT_EQ(count.load(), 1);
  }
}

}  // namespace
}  // namespace softgpu::command_processor
