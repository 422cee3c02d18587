// Two threads that answer each other, by a cache line each. A round trip to a device that is a thread takes no less.
#include "cores.hpp"
#include "dispatch_suite.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace {

struct alignas(64) SharedLine {
  std::atomic<std::uint64_t> value{0};

  void wait_for(std::uint64_t number) const noexcept {
    while (value.load(std::memory_order_acquire) != number) __builtin_ia32_pause();
  }
};

}  // namespace

void measure_thread_round_trip(Samples& samples) {
  constexpr std::uint64_t questions = 10'000;
  SharedLine asked, answered;
  start_threads_on_other_cores();
  const std::jthread other([&] {
    for (std::uint64_t i = 1; i <= questions; ++i) {
      asked.wait_for(i);
      answered.value.store(i, std::memory_order_release);
    }
  });
  stay_on_first_core();
  const Stopwatch stopwatch;
  for (std::uint64_t i = 1; i <= questions; ++i) {
    asked.value.store(i, std::memory_order_release);
    answered.wait_for(i);
  }
  samples.add(dispatch_series::thread_round_trip, stopwatch.microseconds() / questions);
}
