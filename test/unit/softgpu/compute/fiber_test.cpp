#include "softgpu/compute/execution/fiber.hpp"

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::compute {
namespace {

/// Sums numbers that stay on the fiber's stack while it is suspended.
struct Sum {
  std::unique_ptr<Fiber> fiber;
  int result = 0;

  static Fiber* run(void* argument) {
    auto& sum = *static_cast<Sum*>(argument);
    std::array<int, 100> numbers{};
    for (int& number : numbers) {
      number = static_cast<int>(&number - numbers.data());
      sum.fiber->suspend();
    }
    sum.result = std::accumulate(numbers.begin(), numbers.end(), 0);
    return nullptr;
  }
};

// As a worker does, whose fibers the main thread ends after it. The address sanitizer keeps frames for each thread and
// each fiber: those of a fiber must not be among its maker's.
TEST(FiberTest, OutlivesTheThreadThatMadeAndResumedIt) {
  Sum sum;
  std::thread([&] {
    sum.fiber = std::make_unique<Fiber>(&Sum::run, &sum);
    for (int i = 0; i != 50; ++i) sum.fiber->resume();
  }).join();
  for (int i = 0; i != 50; ++i) sum.fiber->resume();
  EXPECT_EQ(sum.result, 0);
  sum.fiber->resume();
  EXPECT_EQ(sum.result, 4950);
  sum.fiber.reset();
}

TEST(FiberTest, RunsItsBodyAgainAfterItsEnd) {
  Sum sum;
  sum.fiber = std::make_unique<Fiber>(&Sum::run, &sum);
  for (int run = 0; run != 2; ++run) {
    sum.result = 0;
    for (int i = 0; i != 101; ++i) sum.fiber->resume();
    EXPECT_EQ(sum.result, 4950);
  }
}

/// Two fibers that hand over to each other; the second returns to whoever resumed the first.
struct Pair {
  std::string text;
  Fiber first{[](void* pair) { return static_cast<Pair*>(pair)->run_first(); }, this};
  Fiber second{[](void* pair) { return static_cast<Pair*>(pair)->run_second(); }, this};

  Fiber* run_first() {
    text += "a";
    first.hand_over_to(second);
    text += "c";
    first.hand_over_to(second);
    text += "e";
    return nullptr;
  }
  Fiber* run_second() {
    text += "b";
    second.hand_over_to(first);
    text += "d";
    second.suspend();
    text += "f";
    return nullptr;
  }
};

TEST(FiberTest, HandsOverToAnotherAndReturnsToTheCallerFromThere) {
  Pair pair;
  for (int run = 0; run != 2; ++run) {
    pair.text.clear();
    pair.first.resume();
    EXPECT_EQ(pair.text, "abcd");
    std::thread([&] { pair.first.resume(); }).join();  // the thread does not matter
    EXPECT_EQ(pair.text, "abcde");
    pair.second.resume();
    EXPECT_EQ(pair.text, "abcdef");
  }
}

/// A fiber whose end is followed by another one's body.
struct Chain {
  std::string text;
  Fiber first{[](void* chain) { return static_cast<Chain*>(chain)->run_first(); }, this};
  Fiber second{[](void* chain) { return static_cast<Chain*>(chain)->run_second(); }, this};

  Fiber* run_first() {
    text += "a";
    return &second;
  }
  Fiber* run_second() {
    text += "b";
    second.suspend();
    text += "c";
    return nullptr;
  }
};

TEST(FiberTest, HandsOverAtItsEnd) {
  Chain chain;
  for (int run = 0; run != 2; ++run) {
    chain.text.clear();
    chain.first.resume();
    EXPECT_EQ(chain.text, "ab");
    std::thread([&] { chain.second.resume(); }).join();
    EXPECT_EQ(chain.text, "abc");
  }
}

/// A fiber that is suspended within a guard.
struct Guarded {
  std::optional<EarlyExit> exit;
  bool was_called = false;
  FaultGuard guard;
  Fiber fiber{[](void* guarded) { return static_cast<Guarded*>(guarded)->run(); }, this};

  Fiber* run() {
    exit = guard.run([this] {
      fiber.suspend();
      FaultGuard::exit({EarlyExit::Cause::trap});
    });
    return nullptr;
  }
};

TEST(FiberTest, TakesItsGuardAlong) {
  Guarded first;
  Guarded second;
  for (Guarded* guarded : {&first, &second}) {
    guarded->fiber.resume();
    EXPECT_FALSE(FaultGuard::is_in_force());
    EXPECT_EQ(guarded->fiber.left_stack().guard, &guarded->guard);
  }
  first.fiber.resume();
  ASSERT_TRUE(first.exit);
  EXPECT_EQ(first.exit->cause, EarlyExit::Cause::trap);
  EXPECT_FALSE(second.exit);
  std::thread([&] { second.fiber.resume(); }).join();
  EXPECT_TRUE(second.exit);
  EXPECT_FALSE(FaultGuard::is_in_force());
}

/// Accesses memory that may not be accessed, deep in frames that then are written over.
struct Faulting {
  Fiber fiber{[](void* faulting) { return static_cast<Faulting*>(faulting)->run(); }, this};
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int faults = 0;

  Faulting() = default;
  ~Faulting() { munmap(page, 4096); }
  Faulting(const Faulting&) = delete;
  Faulting& operator=(const Faulting&) = delete;

  Fiber* run() {
    FaultGuard guard;
    faults += guard.run([&] { fault_below(8); }) ? 1 : 0;
    write_over_frames();
    return nullptr;
  }
  // NOLINTNEXTLINE(misc-no-recursion): for the frames
  [[gnu::noinline]] int fault_below(int depth) {
    std::array<volatile int, 16> numbers{};
    for (volatile int& number : numbers) number = depth;
    if (depth != 0) return fault_below(depth - 1) + numbers[depth];
    return *static_cast<volatile int*>(page);
  }
  /// The address sanitizer checks what the library's functions write, in whichever frame it lies.
  [[gnu::noinline]] __attribute__((no_sanitize("address"))) static void write_over_frames() {
    static void* (*volatile set)(void*, int, std::size_t) = std::memset;
    std::array<char, 8192> frames;
    set(&frames, 0, sizeof frames);
  }
};

TEST(FiberTest, FramesThatASignalHandlerLeftMayBeWrittenOver) {
  Faulting faulting;
  faulting.fiber.resume();
  EXPECT_EQ(faulting.faults, 1);
}

TEST(FiberTest, CallsAFunctionWhereItWasSuspended) {
  Guarded guarded;
  guarded.fiber.resume();
  const auto leave = [](void* called) {
    alignas(32) std::array<char, 32> aligned{};  // as a called function, it may rely on the stack's alignment
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(aligned.data()) % 32, 0U);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16, 0U);
    static_cast<Guarded*>(called)->was_called = true;
    FaultGuard::exit({EarlyExit::Cause::cancelled});
  };
  guarded.fiber.call_when_resumed(leave, &guarded);
  guarded.fiber.resume();
  EXPECT_TRUE(guarded.was_called);
  ASSERT_TRUE(guarded.exit);
  EXPECT_EQ(guarded.exit->cause, EarlyExit::Cause::cancelled);
}

}  // namespace
}  // namespace softgpu::compute
