#include "fastdispatch/packets.hpp"

#include <cstddef>
#include <cstring>

#include <gtest/gtest.h>

namespace fastdispatch::test {
namespace {

static_assert(sizeof(Packet) == 64 && alignof(Packet) == 64);
static_assert(sizeof(hsa_kernel_dispatch_packet_t) == sizeof(Packet));
static_assert(sizeof(hsa_barrier_and_packet_t) == sizeof(Packet));
static_assert(sizeof(hsa_barrier_or_packet_t) == sizeof(Packet));
static_assert(sizeof(hsa_amd_barrier_value_packet_t) == sizeof(Packet));
static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) == 14 * 4);
static_assert(offsetof(hsa_barrier_and_packet_t, completion_signal) == 14 * 4);
static_assert(offsetof(hsa_barrier_or_packet_t, completion_signal) == 14 * 4);
static_assert(offsetof(hsa_amd_barrier_value_packet_t, completion_signal) == 14 * 4);
static_assert(offsetof(hsa_kernel_dispatch_packet_t, kernel_object) == 8 * 4);

// Encoding costs nothing at run time where the parts are known.
static_assert(encode(BarrierAnd{.signals = {{{1}, {2}}}}).word64(4) == 2);
static_assert(Packet{}.header().type == PacketType::vendor_specific, "a zeroed header is not an invalid one");

constexpr Ordering agent_ordering{BarrierBit::clear, FenceScope::agent, FenceScope::none};

template <class HsaPacket>
HsaPacket as(const Packet& packet) {
  HsaPacket result;
  std::memcpy(&result, &packet, sizeof(result));
  return result;
}

TEST(PacketHeader, has_the_bits_of_the_specification) {
  const PacketHeader header{PacketType::kernel_dispatch, agent_ordering};
  EXPECT_EQ(header.encode(), HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                                 HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE);
  EXPECT_EQ((PacketHeader{PacketType::barrier_or, {}}.encode()),
            HSA_PACKET_TYPE_BARRIER_OR | 1 << HSA_PACKET_HEADER_BARRIER |
                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

TEST(PacketHeader, decodes_to_what_was_encoded) {
  for (const auto barrier : {BarrierBit::clear, BarrierBit::set})
    for (const auto acquire : {FenceScope::none, FenceScope::agent, FenceScope::system})
      for (const auto release : {FenceScope::none, FenceScope::agent, FenceScope::system}) {
        const PacketHeader header{PacketType::barrier_and, {barrier, acquire, release}};
        EXPECT_EQ(PacketHeader::decode(header.encode()), header);
      }
}

TEST(KernelDispatch, lies_where_hsa_expects_every_field) {
  constexpr Packet packet = encode(KernelDispatch{.ordering = agent_ordering,
                                                  .grid = grid(1000, 200, 30).group(16, 8, 4),
                                                  .private_segment_bytes = 5,
                                                  .group_segment_bytes = 6,
                                                  .kernel_object = 0x1122334455667788,
                                                  .kernarg_address = 0x99aabbccddeeff00,
                                                  .completion_signal = {0x0102030405060708}});
  const auto hsa = as<hsa_kernel_dispatch_packet_t>(packet);
  EXPECT_EQ(hsa.header, (PacketHeader{PacketType::kernel_dispatch, agent_ordering}.encode()));
  EXPECT_EQ(hsa.setup, 3 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
  EXPECT_EQ(hsa.workgroup_size_x, 16);
  EXPECT_EQ(hsa.workgroup_size_y, 8);
  EXPECT_EQ(hsa.workgroup_size_z, 4);
  EXPECT_EQ(hsa.grid_size_x, 1000U);
  EXPECT_EQ(hsa.grid_size_y, 200U);
  EXPECT_EQ(hsa.grid_size_z, 30U);
  EXPECT_EQ(hsa.private_segment_size, 5U);
  EXPECT_EQ(hsa.group_segment_size, 6U);
  EXPECT_EQ(hsa.kernel_object, 0x1122334455667788U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(hsa.kernarg_address), 0x99aabbccddeeff00U);
  EXPECT_EQ(hsa.completion_signal.handle, 0x0102030405060708U);
  EXPECT_EQ(hsa.reserved0, 0);
  EXPECT_EQ(hsa.reserved2, 0U);
}

TEST(BarrierPackets, lie_where_hsa_expects_every_field) {
  constexpr std::array<hsa_signal_t, 5> signals{{{11}, {12}, {13}, {14}, {15}}};
  const auto all = as<hsa_barrier_and_packet_t>(
      encode(BarrierAnd{.ordering = agent_ordering, .signals = signals, .completion_signal = {16}}));
  const auto any = as<hsa_barrier_or_packet_t>(
      encode(BarrierOr{.ordering = agent_ordering, .signals = signals, .completion_signal = {16}}));
  EXPECT_EQ(all.header, (PacketHeader{PacketType::barrier_and, agent_ordering}.encode()));
  EXPECT_EQ(any.header, (PacketHeader{PacketType::barrier_or, agent_ordering}.encode()));
  for (std::size_t i = 0; i < signals.size(); ++i) {
    EXPECT_EQ(all.dep_signal[i].handle, signals[i].handle);
    EXPECT_EQ(any.dep_signal[i].handle, signals[i].handle);
  }
  EXPECT_EQ(all.completion_signal.handle, 16U);
  EXPECT_EQ(any.completion_signal.handle, 16U);
  EXPECT_EQ(all.reserved0, 0);
  EXPECT_EQ(all.reserved1, 0U);
  EXPECT_EQ(all.reserved2, 0U);
}

TEST(BarrierValue, lies_where_amd_expects_every_field) {
  const auto hsa = as<hsa_amd_barrier_value_packet_t>(encode(BarrierValue{.ordering = agent_ordering,
                                                                          .signal = {21},
                                                                          .condition = HSA_SIGNAL_CONDITION_GTE,
                                                                          .value = -22,
                                                                          .mask = 23,
                                                                          .completion_signal = {24}}));
  EXPECT_EQ(hsa.header.header, (PacketHeader{PacketType::vendor_specific, agent_ordering}.encode()));
  EXPECT_EQ(hsa.header.AmdFormat, HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
  EXPECT_EQ(hsa.header.reserved, 0);
  EXPECT_EQ(hsa.signal.handle, 21U);
  EXPECT_EQ(hsa.value, -22);
  EXPECT_EQ(hsa.mask, 23);
  EXPECT_EQ(hsa.cond, std::uint32_t{HSA_SIGNAL_CONDITION_GTE});
  EXPECT_EQ(hsa.completion_signal.handle, 24U);
  EXPECT_EQ(hsa.reserved0 | hsa.reserved1 | hsa.reserved2 | hsa.reserved3, 0U);
}

TEST(Packet, changes_its_ordering_and_nothing_else) {
  Packet packet = encode(KernelDispatch{.grid = grid(64, 2), .kernel_object = 5});
  packet.set_ordering(agent_ordering);
  EXPECT_EQ(packet, encode(KernelDispatch{.ordering = agent_ordering, .grid = grid(64, 2), .kernel_object = 5}));
}

}  // namespace
}  // namespace fastdispatch::test
