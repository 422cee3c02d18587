#include "dispatch/encode/packet_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fastdispatch::packet_streams {
namespace {

using detail::CopyStep;
using detail::DispatchStep;
using detail::PacketStream;
using detail::Step;

Ordering ordering(FenceScope acquire, FenceScope release) { return {BarrierBit::set, acquire, release}; }
const Ordering to_the_system = ordering(FenceScope::system, FenceScope::system);

class BatchEncoding : public ::testing::Test {
protected:
  Step dispatch(std::size_t kernarg = 0) { return DispatchStep{&info, grid(128).group(64), 0, kernarg}; }
  Step copy() { return CopyStep{}; }

  std::vector<Ordering> orderings(const std::vector<Step>& steps, Fences fences) {
    std::vector<Ordering> result;
    for (const Packet& packet : encode(steps, fences, kernargs.data()).packets) {
      result.push_back(packet.header().ordering);
    }
    return result;
  }

  const detail::KernelInfo info{.name = "kernel",
                                .object = 0x1000,
                                .kernarg_size = 12,
                                .group_segment_size = 256,
                                .private_segment_size = 16,
                                .max_group_size = 1024,
                                .max_group_segment_size = 65536,
                                .arguments = {{0, 8}, {8, 4}},
                                .implicit_arguments = {}};
  std::array<std::byte, 256> kernargs{};
};

TEST_F(BatchEncoding, writes_each_dispatch_with_its_own_kernargs) {
  const PacketStream stream = encode(std::vector{dispatch(0), dispatch(64)}, Fences::minimal, kernargs.data());
  ASSERT_EQ(stream.packets.size(), 2U);
  EXPECT_TRUE(stream.copies.empty());
  const Packet expected =
      encode(KernelDispatch{.ordering = ordering(FenceScope::agent, FenceScope::system),
                            .grid = grid(128).group(64),
                            .private_segment_bytes = 16,
                            .group_segment_bytes = 256,
                            .kernel_object = 0x1000,
                            .kernarg_address = reinterpret_cast<std::uintptr_t>(kernargs.data()) + 64});
  EXPECT_EQ(stream.packets[1], expected);
}

TEST_F(BatchEncoding, with_minimal_fences_reaches_the_system_at_the_ends_only) {
  EXPECT_THAT(orderings({dispatch(), dispatch(), dispatch()}, Fences::minimal),
              ::testing::ElementsAre(ordering(FenceScope::system, FenceScope::agent),
                                     ordering(FenceScope::agent, FenceScope::agent),
                                     ordering(FenceScope::agent, FenceScope::system)));
  EXPECT_THAT(orderings({dispatch()}, Fences::minimal), ::testing::ElementsAre(to_the_system));
}

TEST_F(BatchEncoding, with_conservative_fences_reaches_the_system_everywhere) {
  EXPECT_THAT(orderings({copy(), dispatch(), dispatch(), copy(), dispatch()}, Fences::conservative),
              ::testing::Each(to_the_system));
}

TEST_F(BatchEncoding, puts_a_barrier_behind_a_copy_and_none_before_where_a_dispatch_can_start_it) {
  const PacketStream stream =
      encode(std::vector{dispatch(), dispatch(), copy(), dispatch()}, Fences::minimal, kernargs.data());
  ASSERT_EQ(stream.packets.size(), 4U);
  ASSERT_EQ(stream.copies.size(), 1U);
  EXPECT_EQ(stream.copies[0].after, 1U);
  EXPECT_EQ(stream.copies[0].before, 2U);
  EXPECT_EQ(stream.packets[1].header().ordering, ordering(FenceScope::agent, FenceScope::system));
  EXPECT_EQ(stream.packets[2].header().type, PacketType::barrier_and);
  EXPECT_EQ(stream.packets[2].header().ordering.barrier, BarrierBit::set);
  EXPECT_EQ(stream.packets[3].header().ordering, to_the_system);
}

TEST_F(BatchEncoding, of_leading_and_trailing_copies_starts_and_ends_with_barriers) {
  const PacketStream stream = encode(std::vector{copy(), dispatch(), copy()}, Fences::minimal, kernargs.data());
  ASSERT_EQ(stream.packets.size(), 4U);
  EXPECT_EQ(stream.packets[0].header(),
            (PacketHeader{PacketType::barrier_and, ordering(FenceScope::none, FenceScope::system)}));
  EXPECT_EQ(stream.copies[0].after, 0U);
  EXPECT_EQ(stream.copies[0].before, 1U);
  EXPECT_EQ(stream.copies[1].after, 2U);
  EXPECT_EQ(stream.copies[1].before, 3U);
}

TEST_F(BatchEncoding, lets_consecutive_copies_follow_each_other_without_packets_between) {
  const PacketStream stream = encode(std::vector{copy(), copy(), copy()}, Fences::minimal, kernargs.data());
  ASSERT_EQ(stream.packets.size(), 2U);
  EXPECT_EQ(stream.copies[0].after, 0U);
  EXPECT_EQ(stream.copies[0].before, std::nullopt);
  EXPECT_EQ(stream.copies[1].after, std::nullopt);
  EXPECT_EQ(stream.copies[1].before, std::nullopt);
  EXPECT_EQ(stream.copies[2].after, std::nullopt);
  EXPECT_EQ(stream.copies[2].before, 1U);
}

}  // namespace
}  // namespace fastdispatch::packet_streams
