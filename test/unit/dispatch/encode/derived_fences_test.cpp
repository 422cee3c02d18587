#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/encode/batch_image.hpp"
#include "happens_before.hpp"
#include "programs.hpp"

namespace fastdispatch::test {
namespace {

using detail::Access;
using detail::PacketStream;
using detail::Step;

PacketStream derive(const std::vector<Step>& steps) { return encode(steps, Fences::derived, nullptr); }

std::vector<Ordering> orderings(const PacketStream& stream) {
  std::vector<Ordering> result;
  for (const Packet& packet : stream.packets) result.push_back(packet.header().ordering);
  return result;
}

std::vector<std::size_t> barriers(const PacketStream& stream) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < stream.packets.size(); ++i) {
    if (stream.packets[i].header().ordering.barrier == BarrierBit::set) result.push_back(i);
  }
  return result;
}

constexpr auto none = FenceScope::none;
constexpr auto agent = FenceScope::agent;
constexpr auto everyone = FenceScope::system;
constexpr Ordering waiting(FenceScope acquire, FenceScope release) { return {BarrierBit::set, acquire, release}; }
constexpr Ordering free(FenceScope acquire, FenceScope release) { return {BarrierBit::clear, acquire, release}; }

using ::testing::ElementsAre;
using ::testing::Eq;

TEST(DerivedFences, of_a_chain_are_the_minimal_ones) {
  const std::vector<Step> chain(5, dispatch({read_write(0)}));
  EXPECT_EQ(derive(chain).packets, encode(chain, Fences::minimal, nullptr).packets);
}

TEST(DerivedFences, leave_independent_dispatches_unordered) {
  const std::vector<Step> steps{dispatch({write(0)}), dispatch({write(1)}), dispatch({read(2), write(3)})};
  EXPECT_THAT(orderings(derive(steps)),
              ElementsAre(waiting(everyone, agent), free(none, agent), free(none, agent), waiting(agent, everyone)));
}

TEST(DerivedFences, wait_once_for_several_reasons) {
  const std::vector<Step> steps{dispatch({write(0)}), dispatch({write(1)}), dispatch({read(0), write(2)}),
                                dispatch({read(1), write(3)}), dispatch({read(2), read(3), write(4)})};
  EXPECT_THAT(orderings(derive(steps)), ElementsAre(waiting(everyone, agent), free(none, agent), waiting(agent, agent),
                                                    free(none, agent), waiting(agent, everyone)));
}

TEST(DerivedFences, of_a_write_after_a_read_only_wait) {
  const std::vector<Step> steps{dispatch({read(0)}), dispatch({write(0)}), dispatch({read(0)})};
  EXPECT_THAT(orderings(derive(steps)),
              ElementsAre(waiting(everyone, none), waiting(none, agent), waiting(agent, everyone)));
}

TEST(DerivedFences, look_at_bytes_not_at_buffers) {
  const std::vector<Step> steps{dispatch({access(0, AccessMode::write, 0, 32)}),
                                dispatch({access(0, AccessMode::write, 32, 32)}),
                                dispatch({access(0, AccessMode::read, 31, 1)})};
  EXPECT_THAT(barriers(derive(steps)), ElementsAre(0, 2));
  const std::vector<Step> other{dispatch({access(0, AccessMode::write, 0, 32)}),
                                dispatch({access(0, AccessMode::write, 32, 32)}),
                                dispatch({access(0, AccessMode::read, 32, 1)})};
  EXPECT_THAT(barriers(derive(other)), ElementsAre(0, 2));
}

TEST(DerivedFences, reach_the_system_where_others_look) {
  const Access shared = access(0, AccessMode::read_write, 0, 8, FenceScope::system);
  EXPECT_THAT(
      orderings(derive({dispatch({shared}), dispatch({shared}), dispatch({read(1)})})),
      ElementsAre(waiting(everyone, everyone), waiting(everyone, agent), free(none, none), waiting(agent, everyone)));
}

TEST(DerivedFences, order_memory_that_is_not_known_with_all_other) {
  const Step unknown = dispatch({detail::everywhere(AccessMode::read)});
  EXPECT_THAT(barriers(derive({dispatch({write(0)}), unknown, dispatch({read(1)}), dispatch({write(2)})})),
              ElementsAre(0, 1, 3));
}

TEST(DerivedFences, let_copies_run_beside_what_they_do_not_conflict_with) {
  const PacketStream stream = derive({dispatch({write(0)}), dispatch({write(1)}), copy(read(2), read(0)),
                                      dispatch({read_write(1)}), dispatch({read(2)})});
  EXPECT_THAT(orderings(stream), ElementsAre(waiting(everyone, everyone), free(none, agent), waiting(agent, agent),
                                             free(none, none), free(everyone, none), waiting(agent, everyone)));
  EXPECT_EQ(stream.copies[0].after, 0U);
  EXPECT_EQ(stream.copies[0].before, 3U);
}

TEST(DerivedFences, start_copies_behind_all_that_they_conflict_with) {
  const PacketStream stream =
      derive({dispatch({write(0)}), dispatch({read(0), write(1)}), dispatch({read(0)}), copy(read(0), read(1))});
  EXPECT_THAT(barriers(stream), ElementsAre(0, 1, 3, 4));
  EXPECT_EQ(stream.copies[0].after, 3U);
}

TEST(DerivedFences, start_copies_behind_all_readers_of_what_they_write) {
  const PacketStream apart = derive({dispatch({read(0)}), dispatch({read(0)}), copy(read(0), read(1))});
  EXPECT_THAT(barriers(apart), ElementsAre(0, 2, 3));
  EXPECT_EQ(apart.copies[0].after, 2U);
  const PacketStream in_turn =
      derive({dispatch({read(0), write(2)}), dispatch({read(0), write(2)}), copy(read(0), read(1))});
  EXPECT_THAT(barriers(in_turn), ElementsAre(0, 1, 2));
  EXPECT_EQ(in_turn.copies[0].after, 1U);
}

TEST(DerivedFences, let_copies_wait_for_copies_by_their_signals) {
  const PacketStream stream =
      derive({copy(read(1), read(0)), copy(read(3), read(2)), copy(read(4), read(1)), copy(read(4), read(3))});
  EXPECT_EQ(stream.packets.size(), 2U);
  EXPECT_EQ(stream.copies[1].after, 0U);
  EXPECT_EQ(stream.copies[2].after, std::nullopt);
  EXPECT_THAT(stream.copies[2].after_copies, ElementsAre(0));
  EXPECT_THAT(stream.copies[3].after_copies, ElementsAre(1, 2));
}

TEST(DerivedFences, wait_for_five_copies_with_one_packet) {
  std::vector<Step> steps;
  for (std::uintptr_t i = 0; i < 7; ++i) steps.push_back(copy(read(2 * i), read(2 * i + 1)));
  const PacketStream stream = derive(steps);
  EXPECT_EQ(stream.packets.size(), 3U);
  EXPECT_EQ(stream.copies[4].before, 1U);
  EXPECT_EQ(stream.copies[4].before_signal, 4U);
  EXPECT_EQ(stream.copies[5].before, 2U);
  EXPECT_EQ(stream.copies[5].before_signal, 0U);
}

TEST(DerivedFences, of_a_kernel_between_copies_take_no_packet_more_than_it) {
  const PacketStream stream = derive({copy(read(0), read(1)), dispatch({read_write(0)}), copy(read(1), read(0))});
  EXPECT_THAT(orderings(stream),
              ElementsAre(waiting(none, none), free(none, none), free(everyone, everyone), waiting(agent, everyone)));
}

TEST(DerivedFences, of_nothing_are_nothing) { EXPECT_TRUE(derive({}).packets.empty()); }

// ---- properties of random programs

void expect_nothing_missing(Fences fences, SharedMemory shared) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    const std::vector<Step> steps = RandomProgram(seed, {.copies = seed % 60})();
    const HappensBefore order(encode(steps, fences, nullptr));
    ASSERT_THAT(order.missing(steps, shared), Eq(std::nullopt)) << "seed " << seed;
  }
}

TEST(RandomPrograms, with_derived_fences_miss_nothing) {
  expect_nothing_missing(Fences::derived, SharedMemory::system_scope);
}
TEST(RandomPrograms, with_conservative_fences_miss_nothing) {
  expect_nothing_missing(Fences::conservative, SharedMemory::system_scope);
}
// Between kernels of one agent these reach only the agent, wherever the memory is.
TEST(RandomPrograms, with_minimal_fences_miss_nothing) {
  expect_nothing_missing(Fences::minimal, SharedMemory::agent_scope);
}

// A stream like `stream` whose packet `index` has another ordering.
PacketStream with(PacketStream stream, std::size_t index, Ordering ordering) {
  stream.packets[index].set_ordering(ordering);
  return stream;
}

FenceScope narrower(FenceScope scope) { return scope == FenceScope::system ? FenceScope::agent : FenceScope::none; }

// Programs of kernels alone. The steps between two copies are such a program, too.
constexpr Shape kernels_only{.most_steps = 10, .copies = 0};

TEST(RandomPrograms, with_derived_fences_need_every_barrier_bit) {
  std::size_t bits = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const std::vector<Step> steps = RandomProgram(seed, kernels_only)();
    const PacketStream stream = derive(steps);
    for (const std::size_t packet : barriers(stream)) {
      Ordering ordering = stream.packets[packet].header().ordering;
      ordering.barrier = BarrierBit::clear;
      ASSERT_NE(HappensBefore(with(stream, packet, ordering)).missing(steps), std::nullopt)
          << "seed " << seed << ", packet " << packet;
      ++bits;
    }
  }
  EXPECT_GT(bits, 3000U);
}

// How many releases there are, and how many of them could be narrower without losing a guarantee.
struct Releases {
  std::size_t all = 0;
  std::size_t superfluous = 0;
};

// Fails where an acquire could be narrower.
void weaken_fences(const Shape& shape, Releases& releases) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const std::vector<Step> steps = RandomProgram(seed, shape)();
    const PacketStream stream = derive(steps);
    const auto is_enough = [&](std::size_t packet, Ordering ordering) {
      return !HappensBefore(with(stream, packet, ordering)).missing(steps, SharedMemory::system_scope);
    };
    for (std::size_t packet = 0; packet < stream.packets.size(); ++packet) {
      const auto [barrier, acquire, release] = stream.packets[packet].header().ordering;
      if (acquire != none) {
        ASSERT_FALSE(is_enough(packet, {barrier, narrower(acquire), release})) << "seed " << seed << ", " << packet;
      }
      // The last packet always releases to the system, whatever was written.
      if (release == none || packet + 1 == stream.packets.size()) continue;
      ++releases.all;
      releases.superfluous += is_enough(packet, {barrier, acquire, narrower(release)}) ? 1 : 0;
    }
  }
}

TEST(RandomPrograms, with_derived_fences_on_device_memory_need_every_fence) {
  Releases releases;
  weaken_fences({.most_steps = 10, .copies = 0, .shared = false, .unknown = 0}, releases);
  EXPECT_GT(releases.all, 2000U);
  EXPECT_EQ(releases.superfluous, 0U);
}

// A release is wider than needed if a later packet passes the same bytes on to the system in time, for a reason of its
// own. This is known too late to be used.
TEST(RandomPrograms, with_derived_fences_need_nearly_every_fence) {
  Releases releases;
  weaken_fences(kernels_only, releases);
  EXPECT_GT(releases.all, 2000U);
  EXPECT_LE(releases.superfluous * 20, releases.all) << releases.superfluous << " of " << releases.all;
}

TEST(RandomPrograms, with_derived_fences_have_as_few_barrier_bits_as_any_that_miss_nothing) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::vector<Step> steps = RandomProgram(seed, {.most_steps = 7, .copies = 0})();
    const PacketStream derived = derive(steps);
    PacketStream stream = encode(steps, Fences::conservative, nullptr);
    const std::size_t inner = steps.size() - 1;  // the first packet's bit is always set
    std::size_t fewest = inner;
    for (unsigned set = 0; set < 1U << inner; ++set) {
      for (std::size_t i = 0; i < inner; ++i)
        stream.packets[i + 1].set_ordering({(set >> i & 1U) != 0 ? BarrierBit::set : BarrierBit::clear});
      // With every set of bits, the batch ends behind all of its packets.
      PacketStream ended = stream;
      ended.packets.push_back(encode(BarrierAnd{}));
      if (!HappensBefore(ended).missing(steps)) fewest = std::min(fewest, static_cast<std::size_t>(std::popcount(set)));
    }
    std::size_t bits = 0;
    for (const std::size_t packet : barriers(derived)) bits += packet > 0 && packet <= inner ? 1 : 0;
    ASSERT_EQ(bits, fewest) << "seed " << seed;
  }
}

// ---- programs with copies

// How many waits there are, and how many of them hold up a step but could be left out without losing a guarantee. A
// wait between steps that are also ordered in another way costs no time, and is not counted among the latter.
struct Waits {
  std::size_t all = 0;
  std::size_t superfluous = 0;
};

template <class Weaken>
Waits count_waits(Weaken each_weaker) {
  Waits waits;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const std::vector<Step> steps = RandomProgram(seed, {.copies = 40})();
    const PacketStream stream = derive(steps);
    const HappensBefore order(stream);
    each_weaker(stream, [&](const PacketStream& weaker) {
      const HappensBefore weaker_order(weaker);
      ++waits.all;
      waits.superfluous +=
          !weaker_order.orders_as(order) && !weaker_order.missing(steps, SharedMemory::system_scope) ? 1 : 0;
    });
  }
  return waits;
}

TEST(RandomPrograms, with_derived_fences_hang_nearly_no_copy_on_what_does_not_concern_it) {
  const Waits waits = count_waits([](const PacketStream& stream, const auto& check) {
    for (std::size_t i = 0; i < stream.copies.size(); ++i) {
      PacketStream weaker = stream;
      detail::ScheduledCopy& copy = weaker.copies[i];
      const auto check_and_restore = [&] {
        check(weaker);
        copy = stream.copies[i];
      };
      if (std::exchange(copy.after, std::nullopt)) check_and_restore();
      if (std::exchange(copy.before, std::nullopt)) check_and_restore();
      for (std::size_t k = 0; k < copy.after_copies.size(); ++k) {
        copy.after_copies.erase(copy.after_copies.begin() + static_cast<std::ptrdiff_t>(k));
        check_and_restore();
      }
    }
  });
  EXPECT_GT(waits.all, 5000U);
  EXPECT_LE(waits.superfluous * 100, waits.all) << waits.superfluous << " of " << waits.all;
}

// The encoder does not use that a dispatch may come after another dispatch by way of a copy that it waits for.
TEST(RandomPrograms, with_derived_fences_and_copies_need_nearly_every_barrier_bit) {
  const Waits waits = count_waits([](const PacketStream& stream, const auto& check) {
    for (const std::size_t packet : barriers(stream)) {
      if (packet + 1 == stream.packets.size()) continue;  // a batch always ends behind all of its packets
      Ordering ordering = stream.packets[packet].header().ordering;
      ordering.barrier = BarrierBit::clear;
      check(with(stream, packet, ordering));
    }
  });
  EXPECT_GT(waits.all, 2000U);
  EXPECT_LE(waits.superfluous * 20, waits.all) << waits.superfluous << " of " << waits.all;
}

}  // namespace
}  // namespace fastdispatch::test
