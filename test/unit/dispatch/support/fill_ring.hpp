// A ring without room.
#pragma once

#include <vector>

#include "fastdispatch/packets.hpp"
#include "fastdispatch/queue.hpp"

namespace fastdispatch::test {

/// Submits `packet` as often as the ring has slots, half a ring at a time, and returns the last submission.
inline Submission fill_ring(Queue& queue, const Packet& packet) {
  const std::vector<Packet> half(queue.size() / 2, packet);
  queue.submit(half);
  return queue.submit(half);
}

}  // namespace fastdispatch::test
