#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class QueueFailures : public Device {
protected:
  Kernel<void(std::uint32_t*)> write = module.kernel<void(std::uint32_t*)>("write_to");

  /// The text of the error that waiting for a packet throws.
  std::string failure_of(Packet packet) {
    const KernargBlock arguments(gpu, 4096);
    packet.set_word64(10, arguments.address());
    return error_of([&] { queue.submit(packet).wait(limit); });
  }

  [[nodiscard]] KernelDispatch valid_dispatch() const {
    return {.grid = grid(64), .kernel_object = write.info().object};
  }

  /// A failed queue does no harm to other queues.
  void expect_that_a_new_queue_works() {
    Queue other(gpu);
    PinnedBuffer<std::uint32_t> target(gpu, 1);
    other.dispatch(write, grid(1), target).wait(limit);
    EXPECT_EQ(target[0], 42U);
  }
};

constexpr std::size_t large = std::size_t{4} << 20U;  // mapped by itself, and given back at once

TEST_F(QueueFailures, a_fault_tells_the_freed_buffer_that_the_kernel_went_to) {
  if (!tells_memory_fault()) GTEST_SKIP() << "this ROCr has told a memory fault before";
  std::uint32_t* freed = nullptr;
  {
    DeviceBuffer<std::uint32_t> cells(gpu, large, "cells");
    freed = cells.data();
  }
  queue.dispatch(write, grid(1), freed);
  EXPECT_THAT(error_of([&] { queue.wait(limit); }),
              AllOf(HasSubstr("memory fault on gfx"),
                    HasSubstr("0 bytes into buffer 'cells' of 16777216 bytes, which was freed"),
                    HasSubstr("kernel write_to")));
}

TEST_F(QueueFailures, a_fault_tells_the_buffer_that_the_kernel_ran_beyond) {
  if (!runtime.on_softgpu()) GTEST_SKIP() << "the driver may have mapped something there";
  if (!tells_memory_fault()) GTEST_SKIP() << "this ROCr has told a memory fault before";
  DeviceBuffer<std::uint32_t> cells(gpu, large, "cells");
  queue.dispatch(write, grid(1), cells.data() + large + 16);
  EXPECT_THAT(error_of([&] { queue.wait(limit); }),
              HasSubstr(", 64 bytes behind the end of buffer 'cells' of 16777216 bytes: no page"));
}

TEST_F(QueueFailures, a_wild_address_reaches_every_waiter_but_not_later_queues) {
  if (!tells_memory_fault()) GTEST_SKIP() << "this ROCr has told a memory fault before";
  auto* const wild = std::bit_cast<std::uint32_t*>(std::uintptr_t{0xdead000});
  const auto is_told =
      AllOf(HasSubstr("memory fault on gfx"), HasSubstr("at address 0xdead000"), HasSubstr("kernel write_to"));
  Queue idle(gpu);
  const Signal done(gpu);
  const Signal unrelated(gpu);
  queue.dispatch(write, grid(1), {.completion = &done}, wild);
  EXPECT_THAT(error_of([&] { done.wait(limit); }), is_told);
  EXPECT_THAT(error_of([&] { unrelated.wait(limit); }), is_told) << "a copy may have been to complete it";
  EXPECT_THAT(error_of([&] { queue.wait(limit); }), is_told);
  EXPECT_THAT(error_of([&] { idle.wait(limit); }), is_told);
  EXPECT_THAT(error_of([&] { queue.dispatch(write, grid(1), wild); }), is_told) << "the queue stays failed";
  if (runtime.on_softgpu()) expect_that_a_new_queue_works();  // hardware may have been reset
}

TEST_F(QueueFailures, a_wild_address_in_read_only_memory_is_told_as_such) {
  if (!runtime.on_softgpu()) GTEST_SKIP() << "hardware sees no memory of the program's that is not pinned";
  if (!tells_memory_fault()) GTEST_SKIP() << "this ROCr has told a memory fault before";
  constexpr std::size_t words = 1024;
  auto* const page =
      static_cast<std::uint32_t*>(mmap(nullptr, 4 * words, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const Pin pin(gpu, std::span(page, words));
  testing::internal::CaptureStderr();
  EXPECT_THAT(error_of([&] { queue.dispatch(write, grid(1), pin.device_address_as<std::uint32_t>()).wait(limit); }),
              AllOf(HasSubstr("the page is read-only"), HasSubstr("kernel write_to"), HasSubstr("constants"),
                    Not(HasSubstr("still alive"))));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("kernel write_to: address 0x"), HasSubstr("may not be written")));
}

class FaultLines : public QueueFailures {
protected:
  /// What the soft GPU says of a dispatch that fails.
  template <class... Arguments>
  std::string report_of(const char* kernel, Arguments... arguments) {
    Queue own(gpu);
    testing::internal::CaptureStderr();
    EXPECT_NE(
        error_of([&] { own.dispatch(lines.kernel<void(Arguments...)>(kernel), grid(64), arguments...).wait(limit); }),
        "");
    return testing::internal::GetCapturedStderr();
  }

  Module lines = Module::load(gpu, FAULT_LINES_KERNELS);
  std::uint32_t* wild = std::bit_cast<std::uint32_t*>(std::uintptr_t{0xdead000});
};

TEST_F(FaultLines, of_accesses_are_told_with_their_instructions) {
  if (!runtime.on_softgpu()) GTEST_SKIP() << "hardware does not tell the instruction";
  if (!tells_memory_fault()) GTEST_SKIP() << "this ROCr has told a memory fault before";
  EXPECT_THAT(report_of("store_one", wild),
              ContainsRegex("at offset 0x[0-9a-f]+, global_store_[^(]*\\(.*fault_lines.hip:9\\)"));
  EXPECT_THAT(report_of("store_through_a_function", wild),
              ContainsRegex("global_store_[^(]*\\(.*fault_lines.hip:5, inlined into .*fault_lines.hip:12\\)"));
  PinnedBuffer<const std::uint32_t*> addresses(gpu, 64);
  const DeviceBuffer<std::uint32_t> in = upload(numbers(64));
  for (std::size_t i = 0; i != addresses.size(); ++i) addresses[i] = in.data() + i;
  addresses[37] = wild;
  DeviceBuffer<std::uint32_t> out(gpu, 64);
  EXPECT_THAT(report_of("load_scattered", static_cast<const std::uint32_t* const*>(addresses.data()), out.data()),
              ContainsRegex("address 0xdead000 .*(global|flat)_load_[^(]*\\(.*fault_lines.hip:15\\)"));
  if (!rocr_has_thunk_beside_it()) return;  // memory that was pinned before may be there, and is still the GPU's
  std::vector<std::uint32_t> foreign(64);
  EXPECT_THAT(report_of("store_one", foreign.data()), ContainsRegex("global_store_[^(]*\\(.*fault_lines.hip:9\\)"));
}

TEST_F(FaultLines, of_traps_are_told) {
  if (!runtime.on_softgpu()) GTEST_SKIP() << "hardware does not tell the instruction";
  PinnedBuffer<std::uint32_t> out(gpu, 1);
  EXPECT_THAT(report_of("trap", out.data()), ContainsRegex("s_trap at offset .*, at .*fault_lines.hip:18"));
}

TEST_F(QueueFailures, a_stack_overflow_is_told_as_such) {
  if (!runtime.on_softgpu()) GTEST_SKIP() << "hardware does not notice";
  // What compilers assume where the metadata does not say that a stack's size is unknown, before version 5.
  const Module with_stack = Module::load(gpu, DEVICE_TEST_KERNELS, {.dynamic_stack_bytes = 16384});
  const auto recurse = with_stack.kernel<void(const std::uint32_t*, std::uint32_t*, std::uint32_t)>("recurse");
  const DeviceBuffer<std::uint32_t> in = upload(numbers(1));
  DeviceBuffer<std::uint32_t> out(gpu, 64);
  queue.dispatch(recurse, grid(64), in, out, 20U).wait(limit);
  testing::internal::CaptureStderr();
  EXPECT_THAT(error_of([&] { queue.dispatch(recurse, grid(64), in, out, 1000U).wait(limit); }),
              AllOf(HasSubstr("kernel recurse"), HasSubstr("private memory, the stack of a work-item"),
                    Not(HasSubstr("still alive"))));
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("kernel recurse: a work-item overran its private memory (its stack), which has 16"),
            ContainsRegex("by work-item 0 of work-group \\(0, 0, 0\\), at offset -?0x[0-9a-f]+, (buffer|scratch)_")));
  expect_that_a_new_queue_works();
}

TEST_F(QueueFailures, do_not_come_from_kernels_that_write_to_code) {
  const auto count = module.kernel<void(std::uint32_t*)>("count");
  constexpr std::uint64_t reserved_bytes = 12;  // of the kernel descriptor
  queue.dispatch(count, grid(1), std::bit_cast<std::uint32_t*>(write.info().object + reserved_bytes)).wait(limit);
  expect_that_a_new_queue_works();
}

TEST_F(QueueFailures, a_work_group_that_is_too_large_is_named_as_the_cause) {
  KernelDispatch dispatch = valid_dispatch();
  dispatch.grid = grid(4096).group(2048);
  EXPECT_THAT(failure_of(encode(dispatch)), AllOf(HasSubstr("kernel write_to"), HasSubstr("work-group")));
  expect_that_a_new_queue_works();
}

TEST_F(QueueFailures, too_much_lds_is_named_as_the_cause) {
  KernelDispatch dispatch = valid_dispatch();
  dispatch.group_segment_bytes = 1U << 20U;
  EXPECT_THAT(failure_of(encode(dispatch)), AllOf(HasSubstr("kernel write_to"), HasSubstr("LDS")));
  expect_that_a_new_queue_works();
}

TEST_F(QueueFailures, reach_a_queue_that_starts_after_the_failed_one) {
  Queue other(gpu);
  KernelDispatch dispatch = valid_dispatch();
  dispatch.grid = grid(4096).group(2048);
  const KernargBlock arguments(gpu, 4096);
  Packet packet = encode(dispatch);
  packet.set_word64(10, arguments.address());
  const auto submit_both = [&] {
    other.start_after(queue.submit(packet));
    other.wait(limit);
  };
  EXPECT_THAT(error_of(submit_both), HasSubstr("kernel write_to"));
  expect_that_a_new_queue_works();
}

TEST_F(QueueFailures, a_queue_that_starts_after_a_destroyed_one_fails) {
  const Signal never(gpu);
  std::optional<Queue> first(gpu);
  Queue second(gpu);
  second.start_after(first->submit(encode(BarrierAnd{.signals = {never.handle()}})));
  first.reset();
  EXPECT_THAT(error_of([&] { second.wait(limit); }), HasSubstr("a queue was destroyed before"));
  expect_that_a_new_queue_works();
}

TEST_F(QueueFailures, an_unknown_packet_is_an_error) {
  Packet packet = encode(valid_dispatch());
  packet.words[0] = (packet.words[0] & ~0xffU) | 0x77U;
  EXPECT_THAT(failure_of(packet), HasSubstr("the queue stopped"));
  expect_that_a_new_queue_works();
}

TEST_F(QueueFailures, a_time_limit_says_what_the_queue_is_doing) {
  Signal never(gpu, 1);
  const Submission stuck = queue.submit(encode(BarrierAnd{.signals = {never.handle()}}));
  try {
    stuck.wait({.timeout = std::chrono::milliseconds(20)});
    FAIL() << "nothing was thrown";
  } catch (const TimeoutError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("20 ms"), HasSubstr("write index 1"), HasSubstr("0 of 1 epochs")));
  }
  never.store(0);
  stuck.wait(limit);
}

}  // namespace
}  // namespace fastdispatch::test
