#include "dispatch/streams/partition.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.hpp"

namespace fastdispatch::test {
namespace {

using detail::Partition;
using detail::Segment;
using detail::Step;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// `chains` chains of `length` dispatches each, on buffers of their own from `first` on, one chain after the other.
Steps chains(std::size_t chains, std::size_t length, std::uintptr_t first = 0) {
  Steps steps;
  for (std::uintptr_t chain = 0; chain < chains; ++chain)
    for (std::size_t i = 0; i < length; ++i) steps.push_back(dispatch({read_write(first + chain)}));
  return steps;
}

std::vector<std::vector<std::size_t>> steps_of(const Partition& partition) {
  std::vector<std::vector<std::size_t>> result;
  for (const Segment& segment : partition.segments) result.push_back(segment.steps);
  return result;
}

TEST(Partitions, give_independent_chains_queues_of_their_own_and_no_waits) {
  const Partition result = detail::partition(chains(2, 3), 4);
  EXPECT_EQ(result.queues, 2U);
  EXPECT_THAT(steps_of(result), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  for (const Segment& segment : result.segments) EXPECT_THAT(segment.waits, IsEmpty());
  EXPECT_EQ(result.waits, 2U) << "where the ends of both are joined";
}

TEST(Partitions, use_no_more_queues_than_there_are) {
  const Partition result = detail::partition(chains(10, 8), 4);
  EXPECT_EQ(result.queues, 4U);
  EXPECT_THAT(result.segments, SizeIs(4));
}

TEST(Partitions, let_chains_that_share_a_queue_run_side_by_side) {
  const Steps steps = chains(4, 4);
  const Partition result = detail::partition(steps, 2);
  ASSERT_THAT(result.segments, SizeIs(2));
  for (const Segment& segment : result.segments) {
    Steps own;
    for (const std::size_t step : segment.steps) own.push_back(steps[step]);
    std::size_t barriers = 0;
    for (const Packet& packet : encode(own, Fences::derived, nullptr).packets)
      barriers +=
          packet.header().ordering.barrier == BarrierBit::set && packet.header().type == PacketType::kernel_dispatch
              ? 1
              : 0;
    EXPECT_EQ(barriers, 4U) << "as many as one chain has";
  }
}

TEST(Partitions, wait_only_where_chains_meet) {
  // Two chains, and a step that reads the results of both.
  const Partition result =
      detail::partition(chains(2, 6) + Steps{dispatch({read(0), read(1), write(2)}), dispatch({read_write(2)})}, 4);
  ASSERT_THAT(result.segments, SizeIs(3));
  EXPECT_THAT(result.segments[2].steps, ElementsAre(12, 13));
  EXPECT_THAT(result.segments[2].waits, SizeIs(1));
  EXPECT_EQ(result.waits, 2U) << "one more: the next run writes what this one's last steps read";
}

TEST(Partitions, wait_for_what_chains_begin_with) {
  // A copy, whose result three chains read.
  Steps steps{copy(read(0), read(1))};
  for (std::uintptr_t chain = 2; chain < 5; ++chain) {
    steps.push_back(dispatch({read(0), write(chain)}));
    for (int i = 0; i < 8; ++i) steps.push_back(dispatch({read_write(chain)}));
  }
  const Partition result = detail::partition(steps, 4);
  EXPECT_EQ(result.queues, 3U);
  ASSERT_THAT(result.segments, SizeIs(4));
  EXPECT_THAT(result.segments[0].steps, ElementsAre(0)) << "the chain behind the copy keeps nobody waiting";
  std::size_t waits = 0;
  for (const Segment& segment : result.segments) waits += segment.waits.size();
  EXPECT_EQ(waits, 2U);
  // The next run's copy overwrites what the run before read: it waits for the chains of other queues.
  EXPECT_EQ(result.waits, 7U) << "with three where the ends are joined";
}

TEST(Partitions, leave_out_waits_that_others_cover) {
  // b comes after a, c after b and a: to wait for b is enough.
  const Steps steps = Steps{dispatch({write(0)}), dispatch({write(9)}), dispatch({read_write(9)})} + chains(1, 5, 0) +
                      Steps{dispatch({read(0), write(1)})} + chains(1, 5, 1) +
                      Steps{dispatch({read(0), read(1), read(9), write(2)})} + chains(1, 5, 2);
  const Partition result = detail::spread_over(steps, 4);
  for (const Segment& segment : result.segments) EXPECT_THAT(segment.waits, SizeIs(::testing::Le(2)));
}

TEST(Partitions, of_one_chain_are_one_segment) {
  const Partition result = detail::partition(chains(1, 9), 4);
  EXPECT_THAT(result.segments, SizeIs(1));
  EXPECT_EQ(result.waits, 0U);
}

TEST(Partitions, of_independent_steps_without_chains_are_one_segment) {
  EXPECT_THAT(detail::partition(chains(20, 1), 4).segments, SizeIs(1)) << "one queue runs them side by side";
}

TEST(Partitions, of_what_depends_on_everything_are_one_segment) {
  Steps steps;
  for (int i = 0; i < 20; ++i) steps.push_back(dispatch({detail::everywhere(AccessMode::read_write)}));
  EXPECT_THAT(detail::partition(steps, 4).segments, SizeIs(1));
  // A butterfly: each step reads results of two chains.
  Steps butterfly;
  for (std::uintptr_t level = 0; level < 4; ++level)
    for (std::uintptr_t i = 0; i < 8; ++i)
      butterfly.push_back(
          dispatch({read(8 * level + i), read(8 * level + (i ^ (1U << level % 3))), write(8 * level + 8 + i)}));
  EXPECT_THAT(detail::partition(butterfly, 4).segments, SizeIs(1));
}

TEST(Partitions, keep_short_side_branches_in_the_queue_of_their_chain) {
  Steps steps;
  for (std::uintptr_t chain = 0; chain < 2; ++chain)
    for (int i = 0; i < 10; ++i) {
      steps.push_back(dispatch({read_write(chain)}));
      steps.push_back(dispatch({read(chain), write(10 + chain)}));
      steps.push_back(dispatch({read(10 + chain), read_write(20 + chain)}));
    }
  const Partition result = detail::partition(steps, 4);
  EXPECT_EQ(result.queues, 2U);
  EXPECT_THAT(result.segments, SizeIs(2));
}

}  // namespace
}  // namespace fastdispatch::test
