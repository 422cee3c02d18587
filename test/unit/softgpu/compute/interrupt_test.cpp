#include "softgpu/compute/run_time/interrupt.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <thread>

#include <gtest/gtest.h>

#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::compute {
namespace {

constexpr std::uint64_t token = 7;

/// Interrupts a thread again and again, without a pause.
class Flood {
public:
  explicit Flood(pid_t thread)
      : sender_([this, thread] {
          while (!ended_.load(std::memory_order_relaxed)) interrupt(thread, token);
        }) {}
  ~Flood() {
    ended_.store(true, std::memory_order_relaxed);
    sender_.join();
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

private:
  std::atomic<bool> ended_{false};
  std::thread sender_;
};

void expect_nothing_to_be_blocked() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (const int number : {SIGURG, SIGSEGV, SIGBUS}) EXPECT_EQ(sigismember(&blocked, number), 0) << number;
}

void loop_forever() {
  for (volatile bool go_on = true; go_on;) {
  }
}

TEST(Interrupt, ends_a_loop_however_many_come_at_once) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer holds signals back until the next call into the C library";
#endif
  std::thread([] {
    const Flood flood(gettid());
    FaultGuard guard;
    for (int round = 0; round < 50; ++round) {
      const Interruptible interruptible(token);
      const auto exit = guard.run(loop_forever);
      ASSERT_TRUE(exit);
      EXPECT_EQ(exit->cause, EarlyExit::Cause::interrupted);
      EXPECT_TRUE(Interruptible::interrupted());
      expect_nothing_to_be_blocked();
    }
  }).join();
}

TEST(Interrupt, comes_while_a_fault_is_handled) {
  std::thread([] {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* forbidden = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(forbidden, MAP_FAILED);
    {
      const Flood flood(gettid());
      FaultGuard guard;
      for (int round = 0; round < 3000; ++round) {
        const Interruptible interruptible(token);
        const auto exit = guard.run([&] { *static_cast<volatile char*>(forbidden) = 1; });
        ASSERT_TRUE(exit);
        EXPECT_TRUE(exit->cause == EarlyExit::Cause::memory_fault || exit->cause == EarlyExit::Cause::interrupted);
        expect_nothing_to_be_blocked();
      }
    }
    munmap(forbidden, page);
  }).join();
}

TEST(Interrupt, for_what_no_longer_runs_is_ignored) {
  const Flood flood(gettid());
  FaultGuard guard;
  for (int round = 0; round < 1000; ++round) {
    const Interruptible interruptible(token + 1);
    EXPECT_EQ(guard.run([] { std::this_thread::yield(); }), std::nullopt);
    EXPECT_FALSE(Interruptible::interrupted());
  }
}

}  // namespace
}  // namespace softgpu::compute
