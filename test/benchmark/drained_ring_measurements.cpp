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

constexpr std::uint32_t ring_size = 4096;
constexpr std::size_t packets = dispatch_series::sort_length;
constexpr std::size_t times = 16;  // the rings have room for all: nothing waits for the reader
constexpr int turns = 1000;
static_assert(times * packets < ring_size);

}  // namespace

void measure_drained_rings(Samples& samples) {
  namespace series = dispatch_series;
  MockHsa hsa;  // a queue of the library's in plain memory, beside the device's
  fd::Queue queue(hsa.agent(), {.size = ring_size, .producers = fd::Producers::single});
  const fd::detail::KernelInfo info{.name = "kernel",
                                    .object = 0x1000,
                                    .kernarg_size = 4,
                                    .max_group_size = 1024,
                                    .max_group_segment_size = 65536,
                                    .arguments = {{0, 4}},
                                    .implicit_arguments = {}};
  fd::Batch batch(hsa.agent());
  for (std::size_t i = 0; i < packets; ++i)
    batch.dispatch(fd::Kernel<void(std::uint32_t)>(info), fd::grid(64).group(64), 0U);
  PlainRing ring(ring_size);
  fd::Packet line;
  line.words[0] = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  const std::vector<fd::Packet> lines(packets, line);
  const RingReader reader({ring.view(), hsa.queue().view()});

  constexpr auto all = static_cast<double>(times * packets);
  Samples uncounted;  // the first turn encodes the batch and touches the rings
  for (int turn = 0; turn <= turns; ++turn) {
    Samples& target = turn == 0 ? uncounted : samples;
    const Stopwatch plain;
    for (std::size_t i = 0; i < times; ++i) ring.write(lines);
    target.add(series::drained_memcpy, plain.microseconds() / all);
    ring.wait();
    const Stopwatch replay;
    for (std::size_t i = 0; i < times; ++i) queue.submit(batch);
    target.add(series::drained_replay, replay.microseconds() / all);
    queue.wait({.policy = fd::WaitPolicy::spin});
  }
}
