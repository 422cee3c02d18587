#include "dispatch/queue/packet_text.hpp"

#include <gtest/gtest.h>

namespace fastdispatch::test {
namespace {

using detail::packet_line;

constexpr detail::PacketPlace place{.queue = 3, .index = 1027};
constexpr Ordering agent_scopes{BarrierBit::set, FenceScope::agent, FenceScope::agent};

TEST(PacketText, of_a_dispatch_has_all_of_its_fields) {
  const Packet packet = encode(KernelDispatch{.ordering = {BarrierBit::set, FenceScope::system, FenceScope::agent},
                                              .grid = grid(16384).group(256),
                                              .private_segment_bytes = 48,
                                              .group_segment_bytes = 1024,
                                              .kernel_object = 0x7f1200,
                                              .kernarg_address = 0x7f3400,
                                              .completion_signal = {0x7f5600}});
  EXPECT_EQ(packet_line(place, packet, "bitonic_pass(unsigned int*)"),
            "queue 3, packet 1027: kernel dispatch, barrier, acquire system, release agent, "
            "bitonic_pass(unsigned int*), grid 16384, group 256, LDS 1024, private 48, kernarg 0x7f3400, "
            "completes 0x7f5600");
}

TEST(PacketText, of_a_dispatch_of_an_unknown_kernel_has_the_kernel_object) {
  const Packet packet = encode(KernelDispatch{.ordering = {BarrierBit::clear, FenceScope::none, FenceScope::none},
                                              .grid = grid(8, 6, 5).group(4, 3, 2),
                                              .kernel_object = 0x7f1200});
  EXPECT_EQ(packet_line(place, packet, ""),
            "queue 3, packet 1027: kernel dispatch, no barrier, acquire none, release none, kernel object 0x7f1200, "
            "grid 8 x 6 x 5, group 4 x 3 x 2, LDS 0, private 0, kernarg 0x0, no completion signal");
}

TEST(PacketText, of_a_grid_has_as_many_extents_as_the_packet_says) {
  EXPECT_EQ(detail::grid_text(encode(KernelDispatch{.grid = grid(8, 6).group(4, 3)})), "8 x 6");
  EXPECT_EQ(detail::group_text(encode(KernelDispatch{.grid = grid(8, 6).group(4, 3)})), "4 x 3");
  EXPECT_EQ(detail::group_text(encode(KernelDispatch{.grid = grid(1, 1, 9).group(1024)})), "1024 x 1 x 1");
}

TEST(PacketText, of_barriers_has_the_signals_that_they_wait_for) {
  EXPECT_EQ(
      packet_line(place, encode(BarrierAnd{.ordering = agent_scopes, .signals = {{{0}, {0x10}, {0}, {0x20}}}}), ""),
      "queue 3, packet 1027: barrier-AND, barrier, acquire agent, release agent, waits for all of 0x10, 0x20, "
      "no completion signal");
  EXPECT_EQ(packet_line(place,
                        encode(BarrierOr{.ordering = {BarrierBit::clear, FenceScope::system, FenceScope::none},
                                         .signals = {{{0x10}, {0x20}, {0x30}, {0x40}, {0x50}}},
                                         .completion_signal = {0x60}}),
                        ""),
            "queue 3, packet 1027: barrier-OR, no barrier, acquire system, release none, waits for any of 0x10, 0x20, "
            "0x30, 0x40, 0x50, completes 0x60");
  EXPECT_EQ(detail::dependencies_text(encode(BarrierAnd{})), "no signal");
}

TEST(PacketText, of_a_barrier_value_has_its_condition) {
  const auto condition = [](hsa_signal_condition_t kind, hsa_signal_value_t value, hsa_signal_value_t mask) {
    return detail::dependencies_text(
        encode(BarrierValue{.signal = {0x10}, .condition = kind, .value = value, .mask = mask}));
  };
  EXPECT_EQ(condition(HSA_SIGNAL_CONDITION_LT, 7, -1), "0x10 < 7");
  EXPECT_EQ(condition(HSA_SIGNAL_CONDITION_EQ, -7, 0xff), "0x10 & 0xff == -7");
  EXPECT_EQ(condition(HSA_SIGNAL_CONDITION_NE, 0, -1), "0x10 != 0");
  EXPECT_EQ(condition(HSA_SIGNAL_CONDITION_GTE, 1, -1), "0x10 >= 1");
  EXPECT_EQ(packet_line(place, encode(BarrierValue{.ordering = agent_scopes, .signal = {0x10}}), ""),
            "queue 3, packet 1027: barrier-value, barrier, acquire agent, release agent, waits for 0x10 == 0, "
            "no completion signal");
}

TEST(PacketText, of_other_packets_names_their_type) {
  Packet packet;
  packet.words[0] = PacketHeader{PacketType::vendor_specific, agent_scopes}.encode() | 99U << 16U;
  EXPECT_EQ(packet_line(place, packet, ""),
            "queue 3, packet 1027: vendor-specific, format 99, barrier, acquire agent, release agent, no completion "
            "signal");
  packet.words[0] = PacketHeader{PacketType::invalid, agent_scopes}.encode();
  EXPECT_EQ(detail::type_text(packet), "invalid");
  packet.words[0] = 0x77;
  EXPECT_EQ(detail::type_text(packet), "unknown type 119");
  EXPECT_EQ(detail::scope_text(static_cast<FenceScope>(3)), "reserved");
}

}  // namespace
}  // namespace fastdispatch::test
