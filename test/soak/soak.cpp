// A soak: several threads at once replay a batch that is longer than the ring, for any length of time. Every packet
// counts itself on the device, so that a lost packet or a packet that is executed twice is noticed. Memory must not
// grow.
#include "command_line.hpp"
#include "standard_output.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <soak_code_object.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace fd = fastdispatch;

namespace {

using std::chrono::steady_clock;

constexpr double mebibyte = 1 << 20;
constexpr std::uint64_t warm_up = 100;  // replays, after which all reused memory has been used once
constexpr double growth_limit = 8;      // MiB, from then on
constexpr auto progress_interval = std::chrono::seconds(5);
constexpr fd::WaitOptions patiently{.timeout = std::chrono::minutes(5)};

struct Options {
  std::uint64_t replays = 10'000'000;  // of all threads together
  std::uint32_t threads = 4;
  std::uint32_t ring = 64;
  std::uint32_t packets = 120;
  double seconds = 0;                   // 0: no limit
  std::optional<std::uint32_t> inject;  // a packet that is dispatched once too often, to test that it is noticed
};

/// In MiB; what the process has in physical memory.
double resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / mebibyte;
}

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

class Soak {
public:
  explicit Soak(const Options& options)
      : options_(options), module_(fd::Module::load(gpu_, code_objects::soak(), "soak")),
        kernel_(module_.kernel<void(std::uint32_t*)>("count")),
        counters_(gpu_, std::size_t{options.threads} * options.packets),
        queue_(gpu_, {.size = options.ring, .producers = fd::Producers::multiple}), replays_of_(options.threads) {
    std::fill(counters_.begin(), counters_.end(), 0U);
  }

  void run() {
    std::cout << options_.replays << " replays of " << options_.packets << " packets from " << options_.threads
              << " threads through a ring of " << options_.ring << " on " << gpu_.name()
              << (runtime_.on_softgpu() ? " (soft GPU)" : "") << std::endl;
    start_ = steady_clock::now();
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread != options_.threads; ++thread)
      threads.emplace_back([this, thread] { produce(thread); });
    watch();
    threads.clear();
    if (failure_) std::rethrow_exception(failure_);
    if (options_.inject) queue_.dispatch(kernel_, fd::grid(1), counter(0, *options_.inject));
    queue_.wait(patiently);
    check();
  }

private:
  [[nodiscard]] std::uint32_t* counter(std::uint32_t thread, std::uint32_t packet) {
    return counters_.data() + std::size_t{thread} * options_.packets + packet;
  }
  [[nodiscard]] bool time_is_up() const { return options_.seconds > 0 && seconds_since(start_) >= options_.seconds; }

  void produce(std::uint32_t thread) {
    try {
      fd::Batch batch(gpu_);
      for (std::uint32_t packet = 0; packet != options_.packets; ++packet)
        batch.dispatch(kernel_, fd::grid(1), counter(thread, packet));
      std::optional<fd::Submission> last;
      while (!stop_.load(std::memory_order_relaxed)) {
        if (claimed_.fetch_add(1, std::memory_order_relaxed) >= options_.replays) break;
        last = queue_.submit(batch);
        ++replays_of_[thread];
        submitted_.fetch_add(1, std::memory_order_relaxed);
      }
      if (last) last->wait(patiently);
    } catch (...) {
      const std::scoped_lock lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    producers_.fetch_add(1, std::memory_order_release);
  }

  // Prints the progress until all producers have ended.
  void watch() {
    auto next = start_ + progress_interval;
    while (producers_.load(std::memory_order_acquire) != options_.threads) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (time_is_up()) stop_ = true;
      if (memory_after_warm_up_ == 0 && submitted_ >= warm_up) memory_after_warm_up_ = resident_memory();
      if (steady_clock::now() < next) continue;
      next += progress_interval;
      report();
    }
  }

  void report() const {
    const double seconds = seconds_since(start_);
    const auto packets = static_cast<double>(submitted_.load() * options_.packets);
    std::cout << std::fixed << std::setprecision(1) << std::setw(8) << seconds << " s  " << std::setw(10) << submitted_
              << " replays  " << std::setprecision(3) << seconds * 1e6 / packets << " us a packet  "
              << std::setprecision(1) << resident_memory() << " MiB" << std::endl;
  }

  void check() {
    if (memory_after_warm_up_ == 0) memory_after_warm_up_ = resident_memory();
    report();
    for (std::uint32_t thread = 0; thread != options_.threads; ++thread) {
      for (std::uint32_t packet = 0; packet != options_.packets; ++packet) {
        const std::uint32_t count = counters_[std::size_t{thread} * options_.packets + packet];
        if (count == replays_of_[thread]) continue;
        std::ostringstream text;
        text << "packet " << packet << " of thread " << thread << " was executed " << count << " times in "
             << replays_of_[thread] << " replays";
        throw std::runtime_error(text.str());
      }
    }
    const double memory = resident_memory();
    std::ostringstream growth;
    growth << std::fixed << std::setprecision(1) << memory_after_warm_up_ << " MiB after the first replays, " << memory
           << " MiB at the end";
    if (memory > memory_after_warm_up_ + growth_limit) throw std::runtime_error("memory grew: " + growth.str());
    std::cout << "every packet was executed once: " << submitted_ << " replays, " << submitted_ * options_.packets
              << " packets; memory " << growth.str() << "\n";
  }

  Options options_;
  fd::Runtime runtime_;
  fd::Agent gpu_ = runtime_.gpu();
  fd::Module module_;
  fd::Kernel<void(std::uint32_t*)> kernel_;
  fd::PinnedBuffer<std::uint32_t> counters_;  // by thread and packet
  fd::Queue queue_;
  std::vector<std::uint64_t> replays_of_;  // by thread

  steady_clock::time_point start_;
  std::atomic<std::uint64_t> claimed_{0};
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint32_t> producers_{0};  // that have ended
  std::atomic<bool> stop_{false};
  double memory_after_warm_up_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

int run(int argc, char** argv) {
  Options options;
  CommandLine line("Replays a batch from several threads and counts every packet on the device.", "soak");
  line.option("--replays", &options.replays, "Of all threads together (10000000)").between(1, 0xffffffff);
  line.option("--threads", &options.threads, "That submit to the one queue (4)").between(1, 64);
  line.option("--packets", &options.packets, "Of the batch (120)").between(1, 1 << 20);
  line.option("--ring", &options.ring, "Slots of the queue, a power of two (64)").power_of_two();
  line.option("--seconds", &options.seconds, "End after this time, whatever --replays says (no limit)")
      .check([](const std::string& text) {
        return std::strtod(text.c_str(), nullptr) > 0 ? std::string() : text + " is no positive number";
      });
  line.option("--inject-packet", &options.inject, "Execute this packet of thread 0 once too often: the check must fail")
      .hidden();
  line.parse_or_exit(argc, argv);
  if (options.inject && *options.inject >= options.packets)
    line.refuse("--inject-packet: the batch has no such packet");
  Soak(options).run();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_output("soak");
  // What the optimizer takes, once the kernel has run for a while, would look like growth.
  ::setenv("SOFTGPU_OPTIMIZE", "1", /*overwrite=*/0);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "soak: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
