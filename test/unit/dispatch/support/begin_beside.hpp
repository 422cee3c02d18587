// Leaves out first barrier bits, as the queues do.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "dispatch/encode/footprint.hpp"
#include "happens_before.hpp"

namespace fastdispatch::test {

inline detail::PacketStream without_first_barrier_bit(detail::PacketStream stream) {
  Ordering ordering = stream.packets.front().header().ordering;
  ordering.barrier = BarrierBit::clear;
  stream.packets.front().set_ordering(ordering);
  return stream;
}

/// The latest submission to each queue.
class QueueEnds {
public:
  /// Leaves out the first barrier bit of the next submission to a queue if this is allowed, and returns whether it is
  /// allowed. `footprint` is empty if the batch does not say what it touches.
  bool submit(SubmittedPackets& submitted, std::optional<detail::Footprint> footprint) {
    std::optional<detail::Footprint>& last = last_[submitted.queue];
    const bool beside = footprint && last && submitted.waits.empty() && footprint->may_begin_beside(*last);
    if (beside) submitted.stream = without_first_barrier_bit(std::move(submitted.stream));
    last = std::move(footprint);
    return beside;
  }

private:
  std::map<std::size_t, std::optional<detail::Footprint>> last_;
};

}  // namespace fastdispatch::test
