// Submitting must not call HSA or allocate, and must not lock with one declared producer. It rings the doorbell once.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/streams.hpp"
#include "mock_hsa.hpp"
#include "number_kernel.hpp"

namespace {
thread_local int allocations = 0;
thread_local int locks = 0;
thread_local bool memory_is_left = true;

void* allocate(std::size_t bytes) noexcept {
  ++allocations;
  return memory_is_left ? std::malloc(bytes) : nullptr;
}
}  // namespace

// These replace the C++ runtime's. They are not inlined, because gcc would warn of memory from one family freed by the
// other.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* memory = allocate(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

// The thread sanitizer has to see the real one.
#if !defined(__SANITIZE_THREAD__)
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return real(mutex);
}
#endif

namespace fastdispatch::test {
namespace {

class HotPath : public testing::Test {
protected:
  // Does `submit` many times over, its packets completing in between or not, after a few times to warm up.
  template <class Submit>
  void repeat(Submit submit) {
    const auto times = [&](int count) {
      for (int i = 0; i < count; ++i) {
        submit();
        if (i % 3 == 0) MockHsa::complete(hsa.queue());
      }
    };
    times(10);
    const int calls = hsa.calls();
    const int rings = hsa.rings();
    allocations = locks = 0;
    times(100);
    allocated = allocations;
    locked = locks;
    called = hsa.calls() - calls;
    rung = hsa.rings() - rings;
  }

  MockHsa hsa;
  const Kernel<void(unsigned)> kernel = number_kernel();
  const detail::KernelInfo reader_info{.name = "reader",
                                       .object = 0x2000,
                                       .kernarg_size = 8,
                                       .max_group_size = 1024,
                                       .max_group_segment_size = 65536,
                                       .arguments = {{0, 8}},
                                       .implicit_arguments = {}};
  int allocated = -1;
  int locked = -1;
  int called = -1;
  int rung = -1;
};

TEST_F(HotPath, counts_what_is_forbidden_on_it) {
  const Queue queue(hsa.agent());
  repeat([&] { const PinnedBuffer<int> buffer(hsa.agent(), 1); });
  EXPECT_GE(allocated, 100);
  EXPECT_GE(called, 100);
#if !defined(__SANITIZE_THREAD__)
  EXPECT_GE(locked, 100);
#endif
}

TEST_F(HotPath, of_one_producer_that_replays_batches_allocates_locks_and_calls_nothing) {
  Queue queue(hsa.agent(), {.producers = Producers::single});
  Batch first(hsa.agent());
  Batch second(hsa.agent());
  for (Batch* batch : {&first, &first, &second}) batch->dispatch(kernel, grid(64).group(64), 1U);
  repeat([&] {
    queue.submit(first);
    queue.submit(second);
    queue.submit(first);
  });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(called, 0);
}

TEST_F(HotPath, of_one_producer_that_replays_batches_with_derived_fences_in_turn_allocates_locks_and_calls_nothing) {
  const Kernel<void(unsigned*)> reader{reader_info};
  PinnedBuffer<unsigned> buffers(hsa.agent(), 2);
  Queue queue(hsa.agent(), {.producers = Producers::single});
  Batch first(hsa.agent(), {.fences = Fences::derived});
  Batch second(hsa.agent(), {.fences = Fences::derived});
  for (int i = 0; i < 4; ++i) {
    first.dispatch(reader, grid(64).group(64), read_write(buffers, {.first = 0, .count = 1}));
    second.dispatch(reader, grid(64).group(64), read_write(buffers, {.first = 1, .count = 1}));
  }
  repeat([&] {
    for (Batch* batch : {&first, &second, &second, &first}) queue.submit(*batch);
  });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(called, 0);
}

TEST_F(HotPath, of_one_producer_that_waits_for_another_queue_allocates_locks_and_calls_nothing) {
  Queue other(hsa.agent(), {.producers = Producers::single});
  MockHsa::MadeQueue& other_made = hsa.queue();
  Queue queue(hsa.agent(), {.producers = Producers::single});
  repeat([&] {
    queue.start_after(other.barrier());
    MockHsa::complete(other_made);
  });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(called, 0);
}

TEST_F(HotPath, of_streams_that_replay_a_batch_over_several_queues_allocates_locks_and_calls_nothing) {
  const Kernel<void(unsigned*)> reader{reader_info};
  PinnedBuffer<unsigned> buffers(hsa.agent(), 3);
  Streams streams(hsa.agent(), {.queues = 2});
  Batch joining(hsa.agent(), {.fences = Fences::derived});
  Batch apart(hsa.agent(), {.fences = Fences::derived});
  const auto element = [&](std::size_t i) { return read_write(buffers, {.first = i, .count = 1}); };
  for (Batch* batch : {&joining, &apart}) {
    for (std::size_t i = 0; i < 12; ++i) batch->dispatch(reader, grid(64).group(64), element(i % 2));
  }
  joining.dispatch(reader, grid(64).group(64), read_write(buffers));
  ASSERT_EQ(streams.layout(joining).segments, 3U);
  ASSERT_EQ(streams.layout(apart).segments, 2U);
  const std::vector<MockHsa::MadeQueue*> made = hsa.queues();
  repeat([&] {
    for (Batch* batch : {&joining, &joining, &apart, &apart}) streams.submit(*batch);
    for (MockHsa::MadeQueue* queue : made) MockHsa::complete(*queue);
  });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(called, 0);
}

TEST_F(HotPath, of_streams_that_submit_batches_in_turn_allocates_locks_and_calls_nothing) {
  const Kernel<void(unsigned*)> reader{reader_info};
  PinnedBuffer<unsigned> buffers(hsa.agent(), 3);
  Streams streams(hsa.agent(), {.queues = 2});
  const auto element = [&](std::size_t i) { return read_write(buffers, {.first = i, .count = 1}); };
  // More batches than are remembered; each continues the work of others in the other queue.
  std::vector<Batch> batches;
  for (std::size_t number = 0; number < 6; ++number) {
    Batch& batch = batches.emplace_back(hsa.agent(), BatchOptions{.fences = Fences::derived});
    for (std::size_t i = 0; i < 12; ++i) batch.dispatch(reader, grid(64).group(64), element((number + i % 2) % 3));
    ASSERT_EQ(streams.layout(batch).queues, 2U);
  }
  const std::vector<MockHsa::MadeQueue*> made = hsa.queues();
  streams.submit(batches[0]);
  streams.submit(batches[1]);
  ASSERT_EQ(made[0]->amd.write_dispatch_id, 13U) << "a wait between two runs of six";
  repeat([&] {
    for (Batch& batch : batches) streams.submit(batch);
    for (int i = 0; i < 3; ++i)
      for (const std::size_t number : {0, 1}) streams.submit(batches[number]);
    for (MockHsa::MadeQueue* queue : made) MockHsa::complete(*queue);
  });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(called, 0);
}

TEST_F(HotPath, of_one_producer_that_dispatches_kernels_allocates_locks_and_calls_nothing) {
  Queue queue(hsa.agent(), {.producers = Producers::single});
  repeat([&] { queue.dispatch(kernel, grid(64).group(64), 1U); });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(called, 0);
}

TEST_F(HotPath, of_parameters_that_are_set_allocates_locks_and_calls_nothing) {
  for (const auto producers : {Producers::single, Producers::multiple}) {
    Queue queue(hsa.agent(), {.producers = producers});
    Batch batch(hsa.agent());
    const auto value = batch.parameter<unsigned>("value");
    const auto size = batch.parameter<Grid>();
    batch.dispatch(kernel, size, value);
    repeat([&] { queue.submit(batch, set(size, grid(64).group(32)), set(value, 7)); });
    EXPECT_EQ(allocated, 0);
    EXPECT_EQ(locked, 0);
    EXPECT_EQ(called, 0);
  }
}

TEST_F(HotPath, of_several_producers_allocates_locks_and_calls_nothing) {
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  batch.dispatch(kernel, grid(64).group(64), 1U);
  repeat([&] {
    queue.submit(batch);
    queue.dispatch(kernel, grid(64).group(64), 1U);
  });
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(called, 0);
}

TEST_F(HotPath, of_whatever_is_submitted_at_once_rings_once_and_calls_nothing_else) {
  hsa.count_rings();
  for (const auto producers : {Producers::single, Producers::multiple}) {
    Queue queue(hsa.agent(), {.producers = producers});
    Batch batch(hsa.agent());
    Batch parametrized(hsa.agent());
    const auto value = parametrized.parameter<unsigned>("value");
    for (int i = 0; i < 100; ++i) {
      batch.dispatch(kernel, grid(64).group(64), 1U);
      parametrized.dispatch(kernel, grid(64).group(64), value);
    }
    const std::vector<Packet> packets(100, encode(BarrierAnd{}));
    const auto expect_one_ring = [&](const char* submitted, auto submit) {
      repeat(submit);
      EXPECT_EQ(rung, 100) << submitted;
      EXPECT_EQ(called, 100) << submitted;
      EXPECT_EQ(hsa.queue().doorbell_value + 1, hsa.queue().amd.write_dispatch_id) << submitted;
    };
    expect_one_ring("a batch", [&] { queue.submit(batch); });
    expect_one_ring("a batch with parameters", [&] { queue.submit(parametrized, set(value, 7)); });
    expect_one_ring("packets", [&] { queue.submit(packets); });
    expect_one_ring("a dispatch", [&] { queue.dispatch(kernel, grid(64).group(64), 1U); });
    expect_one_ring("a fence", [&] { queue.barrier(); });
  }
}

TEST_F(HotPath, of_a_failure_reaches_waiters_though_no_memory_is_left_to_describe_it) {
  Queue failed(hsa.agent());
  const Submission submission = failed.submit(encode(BarrierAnd{}));
  memory_is_left = false;
  MockHsa::report_error(hsa.queue(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  memory_is_left = true;
  EXPECT_THAT(error_of([&] { submission.wait(); }), testing::HasSubstr("no memory was left"));
}

}  // namespace
}  // namespace fastdispatch::test
