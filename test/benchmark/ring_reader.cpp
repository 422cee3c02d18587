#include "ring_reader.hpp"

#include "cores.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

using fastdispatch::test::RingView;

namespace {

// Reads up to the doorbell's index. Returns whether there was anything to read.
bool read_rung(const RingView& ring) noexcept {
  const std::uint64_t end = std::atomic_ref(*ring.doorbell).load(std::memory_order_acquire) + 1;
  const std::atomic_ref read_index(*ring.read_index);
  if (read_index.load(std::memory_order_relaxed) == end) return false;
  while (read_index.load(std::memory_order_relaxed) != end)
    fastdispatch::test::read_packet(ring, [](const fastdispatch::Packet&) {});
  return true;
}

}  // namespace

RingReader::RingReader(std::vector<RingView> rings) : rings_(std::move(rings)) {
  start_threads_on_other_cores();
  thread_ = std::jthread([this](const std::stop_token& stop) { read(stop); });
  stay_on_first_core();
}

void RingReader::read(const std::stop_token& stop) const noexcept {
  while (!stop.stop_requested()) {
    bool idle = true;
    for (const RingView& ring : rings_)
      if (read_rung(ring)) idle = false;
    if (idle) std::this_thread::yield();
  }
}
