#include "dispatch/partition.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "happens_before.hpp"
#include "programs.hpp"

namespace fastdispatch::test {
namespace {

using detail::Partition;
using detail::Segment;
using detail::SegmentWait;
using detail::Step;
using ::testing::ElementsAre;
using ::testing::Eq;
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
  for (const Segment& segment : result.segments) {
    EXPECT_THAT(segment.waits, IsEmpty());
    EXPECT_THAT(segment.waits_again, IsEmpty());
  }
  EXPECT_EQ(result.last, std::nullopt);
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
  EXPECT_EQ(result.last, 2U) << "all has completed behind it";
  EXPECT_EQ(result.waits(), 2U) << "one more: the next run writes what this one's last steps read";
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
  // The copy overwrites what the run before read: it waits for the chains of other queues.
  EXPECT_THAT(result.segments[0].waits_again, SizeIs(2));
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
  EXPECT_EQ(result.waits(), 0U);
  EXPECT_EQ(result.last, 0U);
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

// ---- properties of random programs

constexpr std::size_t runs = 3;

// The program `runs` times in a row.
Steps repeated(const Steps& steps) {
  Steps result;
  for (std::size_t run = 0; run < runs; ++run) result.insert(result.end(), steps.begin(), steps.end());
  return result;
}

// What is submitted for so many runs.
std::vector<SubmittedPackets> submissions(const Partition& partition, const Steps& steps) {
  std::vector<SubmittedPackets> result;
  const std::size_t a_run = partition.segments.size() + (partition.last ? 0 : 1);
  for (std::size_t run = 0; run < runs; ++run) {
    std::vector<std::size_t> last_of_queue(partition.queues);
    for (std::size_t number = 0; number < partition.segments.size(); ++number) {
      const Segment& segment = partition.segments[number];
      last_of_queue[segment.queue] = run * a_run + number;
      SubmittedPackets& submitted = result.emplace_back();
      submitted.queue = segment.queue;
      submitted.ends_all = number == partition.last;
      Steps own;
      for (const std::size_t step : segment.steps) {
        own.push_back(steps[step]);
        submitted.steps.push_back(run * steps.size() + step);
      }
      submitted.stream = encode(own, Fences::derived, nullptr);
      for (const SegmentWait& wait : run == 0 ? segment.waits : segment.waits_again)
        submitted.waits.push_back((wait.of_run_before ? run - 1 : run) * a_run + wait.segment);
    }
    if (!partition.last)
      result.push_back({.queue = partition.queues,
                        .stream = {.packets = {encode(BarrierAnd{})}, .copies = {}},
                        .steps = {},
                        .waits = last_of_queue});
  }
  return result;
}

std::optional<std::string> missing(const Partition& partition, const Steps& steps) {
  return HappensBefore(submissions(partition, steps)).missing(repeated(steps), SharedMemory::system_scope);
}

// Chains that meet now and then.
Steps random_chains(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const std::uintptr_t chains = 2 + below(4);
  const auto other = [&] { return static_cast<std::uintptr_t>(below(chains)); };
  Steps steps;
  for (std::size_t count = 6 + below(16); count > 0; --count) {
    const std::uintptr_t chain = other();
    const std::size_t kind = below(20);
    if (kind == 0)
      steps.push_back(copy(read(chain), read(other() + chains)));
    else if (kind == 1)
      steps.push_back(dispatch({read(chain), write(other())}));
    else if (kind < 5)
      steps.push_back(dispatch({read_write(chain), read(other())}));
    else
      steps.push_back(dispatch({read_write(chain)}));
  }
  return steps;
}

Steps random_program(unsigned seed) {
  if (seed % 2 == 0) return random_chains(seed);
  return RandomProgram(seed, {.most_steps = 14,
                              .copies = seed % 3 == 0 ? seed % 40 : 0,
                              .unknown = seed % 5 == 0 ? 1U : 0U,
                              .most_accesses = 1 + seed % 3,
                              .buffers = 6 + 2 * (seed % 6)})();
}

TEST(RandomPrograms, spread_over_queues_and_run_several_times_miss_nothing) {
  std::size_t spread = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const Steps steps = random_program(seed);
    const Partition partition = detail::spread_over(steps, 2 + seed % 4);
    spread += partition.queues > 1 ? 1 : 0;
    ASSERT_THAT(missing(partition, steps), Eq(std::nullopt)) << "seed " << seed;
    ASSERT_THAT(missing(detail::partition(steps, 4), steps), Eq(std::nullopt)) << "seed " << seed;
  }
  EXPECT_GT(spread, 500U);
}

// A first run's waits are its own, those of a later run are for the run before, too.
TEST(RandomPrograms, spread_over_queues_need_every_wait) {
  std::size_t first = 0;
  std::size_t again = 0;
  const auto without = [](Partition partition, std::size_t segment, auto waits, std::size_t wait) {
    auto& list = std::invoke(waits, partition.segments[segment]);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(wait));
    return partition;
  };
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const Steps steps = random_program(seed);
    const Partition partition = detail::spread_over(steps, 2 + seed % 4);
    for (std::size_t segment = 0; segment < partition.segments.size(); ++segment) {
      for (std::size_t i = 0; i < partition.segments[segment].waits.size(); ++i, ++first)
        ASSERT_NE(missing(without(partition, segment, &Segment::waits, i), steps), std::nullopt)
            << "seed " << seed << ", segment " << segment;
      for (std::size_t i = 0; i < partition.segments[segment].waits_again.size(); ++i, ++again)
        ASSERT_NE(missing(without(partition, segment, &Segment::waits_again, i), steps), std::nullopt)
            << "seed " << seed << ", segment " << segment;
    }
  }
  EXPECT_GT(first, 400U);
  EXPECT_GT(again, 700U);
}

TEST(RandomPrograms, spread_over_queues_execute_every_step_once) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Steps steps = random_program(seed);
    const Partition partition = detail::spread_over(steps, 4);
    std::vector<std::size_t> all;
    for (const Segment& segment : partition.segments) all.insert(all.end(), segment.steps.begin(), segment.steps.end());
    std::sort(all.begin(), all.end());
    ASSERT_THAT(all, SizeIs(steps.size()));
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  }
}

}  // namespace
}  // namespace fastdispatch::test
