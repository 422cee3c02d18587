// Packets that need no kernel.
#pragma once

#include <fastdispatch/packets.hpp>

namespace fastdispatch::test {

inline const Packet barrier_packet = encode(BarrierAnd{});
inline const Packet barrier_packet_without_bit = encode(BarrierAnd{.ordering = {.barrier = BarrierBit::clear}});

}  // namespace fastdispatch::test
