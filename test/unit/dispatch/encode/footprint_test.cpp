// The waits between batches that are submitted to one queue in turn.
#include "dispatch/encode/footprint.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "begin_beside.hpp"
#include "happens_before.hpp"
#include "programs.hpp"

namespace fastdispatch::test {
namespace {

using detail::AddressSet;
using detail::Footprint;
using detail::PacketStream;
using detail::Step;
using ::testing::Eq;

// ---- sets of addresses

AddressSet set_of(const std::vector<std::pair<std::uintptr_t, std::uintptr_t>>& intervals) {
  AddressSet set;
  for (const auto& [begin, end] : intervals) set.add({.begin = begin, .end = end, .mode = AccessMode::read});
  set.sort();
  return set;
}

TEST(AddressSets, meet_where_they_share_a_byte) {
  const AddressSet set = set_of({{20, 30}, {0, 10}, {40, 50}});
  EXPECT_TRUE(set.meets(set_of({{29, 35}})));
  EXPECT_FALSE(set.meets(set_of({{30, 40}, {10, 20}, {50, 60}})));
  EXPECT_TRUE(set.meets(set_of({{10, 20}, {49, 60}})));
  EXPECT_FALSE(set.meets(set_of({})));
  EXPECT_FALSE(set_of({}).meets(set));
}

TEST(AddressSets, know_intervals_that_overlap_touch_or_are_empty) {
  const AddressSet set = set_of({{0, 10}, {2, 4}, {10, 12}, {30, 30}, {5, 11}});
  EXPECT_TRUE(set.meets(set_of({{11, 12}})));
  EXPECT_FALSE(set.meets(set_of({{12, 40}})));
}

TEST(AddressSets, meet_as_their_bytes_do) {
  std::mt19937 random(1);
  const auto below = [&](unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random); };
  for (int round = 0; round < 20000; ++round) {
    std::uint64_t bytes[2] = {};
    AddressSet sets[2];
    for (int which : {0, 1}) {
      for (unsigned count = below(5); count > 0; --count) {
        const unsigned begin = below(60);
        const unsigned end = begin + below(5);
        sets[which].add({.begin = begin, .end = end, .mode = AccessMode::read});
        for (unsigned byte = begin; byte < end; ++byte) bytes[which] |= std::uint64_t{1} << byte;
      }
      sets[which].sort();
    }
    ASSERT_EQ(sets[0].meets(sets[1]), (bytes[0] & bytes[1]) != 0);
  }
}

// ---- pairs of batches

PacketStream derive_between(const Steps& steps) { return encode(steps, Fences::derived, nullptr); }
Footprint footprint(const Steps& steps) { return {steps, derive_between(steps)}; }
bool may_begin_beside(const Steps& before, const Steps& steps) {
  return footprint(steps).may_begin_beside(footprint(before));
}

Steps chain(std::uintptr_t buffer, std::size_t length = 3) { return Steps(length, dispatch({read_write(buffer)})); }

TEST(BatchesInTurn, begin_beside_the_last_packet_of_one_that_touches_other_memory) {
  EXPECT_TRUE(may_begin_beside(chain(0), chain(1)));
  EXPECT_FALSE(may_begin_beside(chain(0), chain(0)));
}

TEST(BatchesInTurn, wait_for_the_last_packet_only) {
  // Buffer 0 is written first, and read last.
  const Steps before{dispatch({write(0)}), dispatch({read_write(1)}), dispatch({read(0), read_write(1)})};
  const auto may_begin = [&](const detail::Access& access) {
    return may_begin_beside(before, Steps{dispatch({write(5)}), dispatch({access})} + chain(2));
  };
  EXPECT_TRUE(may_begin(read(0))) << "both read it";
  EXPECT_FALSE(may_begin(write(0))) << "the last one reads it";
  EXPECT_FALSE(may_begin(read(1))) << "the last one wrote it";
}

TEST(BatchesInTurn, wait_where_no_later_barrier_bit_does_as_well) {
  const Step apart = dispatch({write(5)});
  EXPECT_TRUE(may_begin_beside(chain(0), {apart, dispatch({read(5)}), dispatch({read(0)})}))
      << "the second one waits for the first, and so for all before, and acquires what they wrote";
  EXPECT_FALSE(may_begin_beside(
      chain(0), {dispatch({read(5)}), dispatch({write(5)}), dispatch({read(0), write(6)}), dispatch({read(6)})}))
      << "the second one waits, but acquires nothing, as it comes after a read";
}

TEST(BatchesInTurn, wait_where_they_are_one_packet) { EXPECT_FALSE(may_begin_beside(chain(0), chain(1, 1))); }

TEST(BatchesInTurn, wait_for_the_release_of_what_others_than_the_agent_look_at) {
  const Steps before = Steps{dispatch({write(0)})} + chain(1);
  EXPECT_TRUE(may_begin_beside(before, Steps{dispatch({read(0), write(2)})} + chain(2)));
  EXPECT_FALSE(may_begin_beside(before, Steps{copy(read(5), read(0))} + chain(2))) << "a copy reads it";
  EXPECT_TRUE(may_begin_beside(before, Steps{copy(read(5), read(4))} + chain(2)));

  const auto shared = access(0, AccessMode::write, 0, buffer_size, FenceScope::system);
  EXPECT_FALSE(may_begin_beside(Steps{dispatch({shared})} + chain(1), Steps{dispatch({read(0), write(2)})} + chain(2)));
}

TEST(BatchesInTurn, wait_for_nothing_behind_a_barrier_packet) {
  const Steps ends_with_copy = chain(0) + Steps{copy(read(1), read(0))};
  EXPECT_TRUE(may_begin_beside(ends_with_copy, Steps{dispatch({read(1), write(2)})} + chain(2)));
}

TEST(BatchesInTurn, wait_where_memory_is_not_known) {
  const Steps unknown{dispatch({read(5)}), dispatch({detail::everywhere(AccessMode::read_write)})};
  EXPECT_FALSE(may_begin_beside(unknown, chain(0)));
  EXPECT_FALSE(may_begin_beside(chain(0), unknown));
}

// ---- properties of random sequences of batches

// Some batches, as one queue gets them.
struct Sequence {
  Steps steps;  // of all
  std::vector<SubmittedPackets> submissions;
  std::vector<bool> begins_beside;  // of each

  explicit Sequence(unsigned seed) {
    QueueEnds ends;
    for (unsigned number = 0; number < 2 + seed % 3; ++number) {
      const Steps batch = RandomProgram(seed * 5 + (seed % 4 == 0 ? 0 : number), {.most_steps = 7,
                                                                                  .copies = seed % 3 == 0 ? 20U : 0U,
                                                                                  .shared = seed % 2 == 0,
                                                                                  .unknown = seed % 10 == 0 ? 2U : 0U,
                                                                                  .most_accesses = 2,
                                                                                  .buffers = 12})();
      SubmittedPackets& submitted = submissions.emplace_back();
      submitted.steps.resize(batch.size());
      std::iota(submitted.steps.begin(), submitted.steps.end(), steps.size());
      steps.insert(steps.end(), batch.begin(), batch.end());
      submitted.stream = derive_between(batch);
      begins_beside.push_back(ends.submit(submitted, Footprint(batch, submitted.stream)));
    }
  }

  [[nodiscard]] std::optional<std::string> missing() const {
    return HappensBefore(submissions).missing(steps, SharedMemory::system_scope);
  }
};

TEST(RandomBatchesInTurn, miss_nothing) {
  std::size_t beside = 0;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    const Sequence sequence(seed);
    for (const bool one : sequence.begins_beside) beside += one ? 1 : 0;
    ASSERT_THAT(sequence.missing(), Eq(std::nullopt)) << "seed " << seed;
  }
  EXPECT_GT(beside, 1000U);
}

// Only batches with several packets count: a batch of one packet ends with its first packet.
TEST(RandomBatchesInTurn, seldom_wait_for_nothing) {
  std::size_t waits = 0;
  std::size_t superfluous = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    Sequence sequence(seed);
    for (std::size_t number = 1; number < sequence.submissions.size(); ++number) {
      PacketStream& stream = sequence.submissions[number].stream;
      if (sequence.begins_beside[number] || stream.packets.size() == 1) continue;
      ++waits;
      const PacketStream waiting = stream;
      stream = without_first_barrier_bit(stream);
      superfluous += sequence.missing() ? 0 : 1;
      stream = waiting;
    }
  }
  EXPECT_GT(waits, 500U);
  EXPECT_LE(superfluous * 20, waits) << superfluous << " of " << waits;
}

}  // namespace
}  // namespace fastdispatch::test
