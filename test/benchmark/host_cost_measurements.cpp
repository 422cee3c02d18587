// A packet's cost for the host: from a memcpy of it to the one-at-a-time loop over the HSA API.
#include "bare_queue.hpp"
#include "dispatch_suite.hpp"
#include "plain_ring.hpp"
#include "ring_reader.hpp"

#include <empty_code_object.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace fd = fastdispatch;

namespace {

using EmptyKernel = fd::Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>;

constexpr int host_repetitions = 20;
constexpr std::uint32_t host_ring_size = 4096;
constexpr std::size_t packets_per_sample = 3840;  // less than the ring has slots: nothing waits for room
constexpr fd::Grid empty_grid = fd::grid(64);

void record(fd::Batch& batch, const EmptyKernel& kernel, std::size_t packets) {
  for (std::size_t i = 0; i < packets; ++i)
    batch.dispatch(kernel, empty_grid, nullptr, static_cast<std::uint32_t>(i), 0U, 1U);
}

// `submit` publishes `packets` packets. It is called `times` times; without `times`, as often as it takes for about the
// same total of packets.
template <class Submit, class Wait>
void measure(Samples& samples, const std::string& name, std::size_t packets, Submit submit, Wait wait,
             std::size_t times = 0) {
  if (times == 0) times = std::max<std::size_t>(1, packets_per_sample / packets);
  const Stopwatch stopwatch;
  for (std::size_t i = 0; i < times; ++i) submit();
  samples.add(name, stopwatch.microseconds() / static_cast<double>(times * packets));
  wait();
}

std::vector<fd::Packet> lines(std::size_t count) {
  fd::Packet line;
  line.words.fill(1);
  line.words[0] = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  line.set_completion_signal({});  // whoever reads it would decrement it
  return std::vector<fd::Packet>(count, line);
}

}  // namespace

void measure_host_cost(const fd::Runtime& runtime, fd::Agent gpu, HipPeer* hip, Samples& samples) {
  namespace series = dispatch_series;
  const fd::Module module = fd::Module::load(gpu, code_objects::empty(), "empty");
  const auto kernel = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("empty");

  BareQueue bare(runtime, gpu, kernel);
  fd::Queue queue(gpu, {.size = host_ring_size, .producers = fd::Producers::single});
  fd::Queue shared(gpu, {.size = host_ring_size, .producers = fd::Producers::multiple});
  std::optional<fd::Queue> device_kernargs;  // where the GPU has them
  try {
    device_kernargs.emplace(gpu, fd::QueueOptions{.size = host_ring_size,
                                                  .producers = fd::Producers::single,
                                                  .kernarg_memory = fd::KernargMemory::device});
  } catch (const fd::Error&) {
  }
  std::vector<fd::Batch> recorded;
  for (const std::size_t packets : series::batch_lengths) record(recorded.emplace_back(gpu), kernel, packets);
  fd::Batch& sort = recorded[2];

  fd::Batch parametrized(gpu);
  const auto value = parametrized.parameter<std::uint32_t>();
  for (std::size_t i = 0; i < series::sort_length; ++i)
    parametrized.dispatch(kernel, empty_grid, nullptr, value, 0U, 1U);

  const auto drain = [&] { queue.wait({.policy = fd::WaitPolicy::spin}); };
  for (int i = -1; i < host_repetitions; ++i) {
    Samples uncounted;  // the first time translates the kernel, encodes the batches and touches the rings
    Samples& target = i < 0 ? uncounted : samples;
    {
      PlainRing ring(host_ring_size);
      const RingReader reader({ring.view()});  // must not take processor time from the device
      for (const std::size_t packets : series::batch_lengths) {
        const std::vector<fd::Packet> image = lines(packets);
        for (Samples* pass : {&uncounted, &target})
          measure(
              *pass, series::floor_of(packets), packets, [&] { ring.write(image); }, [&] { ring.wait(); });
        if (packets == series::sort_length)
          measure(
              target, series::streamed, packets, [&] { ring.stream(image); }, [&] { ring.wait(); });
      }
    }
    for (std::size_t k = 0; k < recorded.size(); ++k)
      measure(
          target, series::replay_of(series::batch_lengths[k]), series::batch_lengths[k],
          [&] { queue.submit(recorded[k]); }, drain);
    measure(
        target, series::replay_shared, series::sort_length, [&] { shared.submit(sort); },
        [&] { shared.wait({.policy = fd::WaitPolicy::spin}); });
    std::uint32_t next = 0;
    measure(
        target, series::replay_parameters, series::sort_length,
        [&] { queue.submit(parametrized, fd::set(value, ++next)); }, drain);
    if (device_kernargs)
      measure(
          target, series::replay_device_parameters, series::sort_length,
          [&] { device_kernargs->submit(parametrized, fd::set(value, ++next)); },
          [&] { device_kernargs->wait({.policy = fd::WaitPolicy::spin}); });
    measure(
        target, series::fresh_batch, series::sort_length,
        [&] {
          fd::Batch fresh(gpu);
          record(fresh, kernel, series::sort_length);
          queue.submit(fresh);
        },
        drain);
    const auto measure_dispatches = [&](const char* name, fd::Queue& to) {
      measure(
          target, name, series::sort_length,
          [&] {
            for (std::uint32_t packet = 0; packet < series::sort_length; ++packet)
              to.dispatch(kernel, empty_grid, nullptr, packet, 0U, 1U);
          },
          [&] { to.wait({.policy = fd::WaitPolicy::spin}); });
    };
    measure_dispatches(series::dispatches, queue);
    if (device_kernargs) measure_dispatches(series::device_dispatches, *device_kernargs);
    measure(
        target, series::bare, packets_per_sample, [&] { bare.dispatch(packets_per_sample); }, [&] { bare.wait(); });
    measure(
        target, series::article, series::sort_length, [&] { bare.dispatch_and_wait(series::sort_length); }, [] {}, 1);
    if (hip == nullptr) continue;
    measure(
        target, series::hip_launches, series::sort_length,
        [&] {
          for (std::size_t packet = 0; packet < series::sort_length; ++packet) hip->launch();
        },
        [&] { hip->wait(); }, 1);
    measure(
        target, series::hip_graph, series::sort_length, [&] { hip->launch_graph(); }, [&] { hip->wait(); }, 1);
  }
}
