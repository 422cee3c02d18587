// A packet's cost for the host while many packets before it wait.
#include "dispatch_suite.hpp"

#include <empty_code_object.hpp>

#include <algorithm>
#include <cstdint>

namespace fd = fastdispatch;

namespace {

constexpr std::uint32_t in_flight_ring_size = 131072;
constexpr std::size_t packets_per_replay = 100;
constexpr fd::Grid in_flight_grid = fd::grid(64);

// Publishes `submit`'s packets behind a barrier that opens only afterwards.
template <class Submit>
void measure(fd::Agent gpu, fd::Queue& queue, Samples& samples, const std::string& name, std::size_t packets,
             Submit submit) {
  fd::Signal gate(gpu, 1);
  queue.submit(encode(fd::BarrierAnd{.signals = {gate.handle()}}));
  const Stopwatch stopwatch;
  submit();
  samples.add(name, stopwatch.microseconds() / static_cast<double>(packets));
  gate.store(0);
  queue.wait();
}

}  // namespace

void measure_in_flight(fd::Agent gpu, Samples& samples) {
  namespace series = dispatch_series;
  const fd::Module module = fd::Module::load(gpu, code_objects::empty(), "empty");
  const auto kernel = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("empty");
  fd::Queue queue(
      gpu,
      {.size = in_flight_ring_size, .producers = fd::Producers::single, .kernarg_bytes = 2 * in_flight_ring_size * 64});
  fd::Batch one(gpu);
  one.dispatch(kernel, in_flight_grid, nullptr, 0U, 0U, 1U);
  fd::Batch many(gpu);
  for (std::uint32_t i = 0; i < packets_per_replay; ++i) many.dispatch(kernel, in_flight_grid, nullptr, i, 0U, 1U);
  queue.submit(one).wait();
  queue.submit(many).wait();

  for (std::size_t i = 0; i < series::in_flight_levels.back(); ++i)  // touches all of the memory
    queue.dispatch(kernel, in_flight_grid, nullptr, 0U, 0U, 1U);
  queue.wait();

  for (const std::size_t packets : series::in_flight_levels) {
    // A few packets are published before the clock ticks: so the median of several takes counts.
    const int takes = packets < 1000 ? 15 : 1;
    for (int take = 0; take < takes; ++take) {
      measure(gpu, queue, samples, series::dispatches_behind(packets), packets, [&] {
        for (std::size_t i = 0; i < packets; ++i) queue.dispatch(kernel, in_flight_grid, nullptr, 0U, 0U, 1U);
      });
      measure(gpu, queue, samples, series::replays_behind(packets), packets, [&] {
        if (packets < packets_per_replay)
          for (std::size_t i = 0; i < packets; ++i) queue.submit(one);
        else
          for (std::size_t i = 0; i < packets; i += packets_per_replay) queue.submit(many);
      });
    }
  }
}
