#include "bare_queue.hpp"
#include "measurements.hpp"

#include <empty_code_object.hpp>

#include <cstdint>

namespace fd = fastdispatch;

namespace {

constexpr std::size_t batches = 50;
constexpr std::size_t packets_of_article = 16;  // each is waited for
constexpr std::size_t round_trips = 500;
constexpr fd::Grid grid = fd::grid(64);

// Times `submit`, which publishes `packets` packets, and the same until `wait` returns.
template <class Submit, class Wait>
void measure_batch(Samples& samples, const char* host, const char* throughput, Submit submit, Wait wait,
                   std::size_t packets = packets_per_batch) {
  const Stopwatch stopwatch;
  submit();
  const double published = stopwatch.microseconds();
  wait();
  samples.add(throughput, stopwatch.microseconds() / static_cast<double>(packets));
  samples.add(host, published / static_cast<double>(packets));
}

template <class RoundTrip>
void measure_round_trip(Samples& samples, const char* name, RoundTrip round_trip) {
  const Stopwatch stopwatch;
  round_trip();
  samples.add(name, stopwatch.microseconds());
}

}  // namespace

void measure_dispatch(const fd::Runtime& runtime, fd::Agent gpu, Samples& samples) {
  const fd::Module module = fd::Module::load(gpu, code_objects::empty(), "empty");
  const auto kernel = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("empty");
  const auto dispatch_one = [&kernel](fd::Queue& queue, std::size_t i) {
    return queue.dispatch(kernel, grid, nullptr, static_cast<std::uint32_t>(i), 0U, 1U);
  };
  BareQueue bare(runtime, gpu, kernel);
  fd::Queue queue(gpu);
  fd::Batch many(gpu);
  for (std::size_t i = 0; i < packets_per_batch; ++i) {
    many.dispatch(kernel, grid, nullptr, static_cast<std::uint32_t>(i), 0U, 1U);
  }
  fd::Batch one(gpu);
  one.dispatch(kernel, grid, nullptr, 0U, 0U, 1U);

  // Once, not counted: translates the kernel, encodes the batches, touches the rings.
  bare.dispatch(packets_per_batch);
  bare.wait();
  bare.dispatch_and_wait(1);
  queue.submit(many).wait();
  queue.submit(one).wait();

  for (std::size_t i = 0; i < batches; ++i) {
    measure_batch(
        samples, series::host_bare, series::throughput_bare, [&] { bare.dispatch(packets_per_batch); },
        [&] { bare.wait(); });
    measure_batch(
        samples, series::host_article, series::throughput_article, [&] { bare.dispatch_and_wait(packets_of_article); },
        [] {}, packets_of_article);
    measure_batch(
        samples, series::host_dispatch, series::throughput_dispatch,
        [&] {
          for (std::size_t packet = 0; packet < packets_per_batch; ++packet) dispatch_one(queue, packet);
        },
        [&] { queue.wait(); });
    measure_batch(
        samples, series::host_replay, series::throughput_replay, [&] { queue.submit(many); }, [&] { queue.wait(); });
  }
  for (std::size_t i = 0; i < round_trips; ++i) {
    measure_round_trip(samples, series::round_trip_bare, [&] {
      bare.dispatch(1);
      bare.wait();
    });
    measure_round_trip(samples, series::round_trip_dispatch, [&] { dispatch_one(queue, i).wait(); });
    measure_round_trip(samples, series::round_trip_replay, [&] { queue.submit(one).wait(); });
  }
}
