// Several threads that submit to one queue.
#include "dispatch_suite.hpp"

#include <empty_code_object.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace fd = fastdispatch;

namespace {

constexpr std::uint32_t shared_ring_size = 4096;
constexpr std::size_t packets_per_submission = 16;
constexpr std::size_t submissions = 240;  // all together fit into the ring: nobody waits for the device
constexpr int shared_repetitions = 10;

// Calls `submit` from as many threads, `submissions` times in all. Returns the microseconds from the moment when all of
// them were ready until the last had finished.
template <class Submit>
double time_of(std::size_t threads, Submit submit) {
  std::atomic<std::size_t> ready = 0;
  std::atomic<std::size_t> running = threads;
  std::atomic<bool> go = false;
  std::vector<std::jthread> producers;
  for (std::size_t thread = 0; thread < threads; ++thread)
    producers.emplace_back([&] {
      ++ready;
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      for (std::size_t i = 0; i < submissions / threads; ++i) submit();
      --running;
    });
  while (ready.load() != threads) std::this_thread::yield();
  const Stopwatch stopwatch;
  go.store(true, std::memory_order_release);
  while (running.load() != 0) std::this_thread::yield();
  return stopwatch.microseconds();
}

}  // namespace

void measure_producers(fd::Agent gpu, Samples& samples) {
  namespace series = dispatch_series;
  const fd::Module module = fd::Module::load(gpu, code_objects::empty(), "empty");
  const auto kernel = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("empty");
  fd::Queue queue(gpu, {.size = shared_ring_size, .producers = fd::Producers::multiple});
  fd::Batch batch(gpu);
  for (std::uint32_t i = 0; i < packets_per_submission; ++i) batch.dispatch(kernel, fd::grid(64), nullptr, i, 0U, 1U);
  queue.submit(batch).wait();

  constexpr auto packets = static_cast<double>(submissions * packets_per_submission);
  for (int i = 0; i < shared_repetitions; ++i) {
    for (const std::size_t threads : series::producer_counts) {
      const Stopwatch stopwatch;
      samples.add(series::published_by(threads), time_of(threads, [&] { queue.submit(batch); }) / packets);
      queue.wait();
      samples.add(series::completed_of(threads), stopwatch.microseconds() / packets);
    }
  }
}
