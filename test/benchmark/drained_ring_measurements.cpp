// A replay beside a memcpy of as many lines: both into rings in plain memory that one thread reads in the same way.
#include "dispatch_suite.hpp"
#include "plain_ring.hpp"
#include "ring_reader.hpp"

#include "mock_hsa.hpp"

#include <cstdint>
#include <vector>

namespace fd = fastdispatch;
using fd::test::MockHsa;

namespace {

constexpr std::uint32_t drained_ring_size = 4096;
constexpr std::size_t sort_packets = dispatch_series::sort_length;
constexpr std::size_t replays = 16;  // the rings have room for all: nothing waits for the reader
constexpr int turns = 1000;
static_assert(replays * sort_packets < drained_ring_size);

}  // namespace

void measure_drained_rings(Samples& samples) {
  namespace series = dispatch_series;
  MockHsa hsa;  // a queue of the library's in plain memory, beside the device's
  fd::Queue queue(hsa.agent(), {.size = drained_ring_size, .producers = fd::Producers::single});
  const fd::detail::KernelInfo info{.name = "kernel",
                                    .object = 0x1000,
                                    .kernarg_size = 4,
                                    .max_group_size = 1024,
                                    .max_group_segment_size = 65536,
                                    .arguments = {{0, 4}},
                                    .implicit_arguments = {}};
  fd::Batch batch(hsa.agent());
  for (std::size_t i = 0; i < sort_packets; ++i)
    batch.dispatch(fd::Kernel<void(std::uint32_t)>(info), fd::grid(64).group(64), 0U);
  PlainRing ring(drained_ring_size);
  fd::Packet line;
  line.words[0] = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  const std::vector<fd::Packet> lines(sort_packets, line);
  const RingReader reader({ring.view(), hsa.queue().view()});

  constexpr auto all = static_cast<double>(replays * sort_packets);
  Samples uncounted;  // the first turn encodes the batch and touches the rings
  for (int turn = 0; turn <= turns; ++turn) {
    Samples& target = turn == 0 ? uncounted : samples;
    const Stopwatch plain;
    for (std::size_t i = 0; i < replays; ++i) ring.write(lines);
    target.add(series::drained_memcpy, plain.microseconds() / all);
    ring.wait();
    const Stopwatch replay;
    for (std::size_t i = 0; i < replays; ++i) queue.submit(batch);
    target.add(series::drained_replay, replay.microseconds() / all);
    queue.wait({.policy = fd::WaitPolicy::spin});
  }
}
