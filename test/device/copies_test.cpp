#include <memory_resource>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::HasSubstr;

class Copies : public Device {
protected:
  static std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::uint32_t state = 12345;
    for (std::byte& byte : bytes) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<std::byte>(state >> 24U);
    }
    return bytes;
  }
};

// Sizes around the staging blocks, the page, and the size from which memory is locked.
constexpr std::size_t sizes[] = {0,       1,       3,         64,        4095,      4096,      4097,      524'287,
                                 524'288, 524'289, 1'048'576, 1'600'003, 4'194'303, 4'194'304, 33'600'001};

TEST_F(Copies, of_pageable_memory_bring_every_byte_there_and_back) {
  for (const std::size_t size : sizes) {
    const std::vector<std::byte> source = pattern(size);
    DeviceBuffer<std::byte> device = upload(source);
    EXPECT_TRUE(download(device) == source) << size;
  }
}

TEST_F(Copies, of_pageable_memory_may_be_staged_or_locked_whatever_the_size) {
  for (const std::size_t lock_from : {std::size_t{0}, CopyOptions::never_lock}) {
    for (const std::size_t size : {1U, 4097U, 9'000'001U}) {
      const std::vector<std::byte> source = pattern(size);
      DeviceBuffer<std::byte> device(gpu, size);
      copy(device, std::span(source), {.lock_from = lock_from});
      std::vector<std::byte> result(size);
      copy(std::span(result), device, {.lock_from = lock_from});
      EXPECT_TRUE(result == source) << size;
    }
  }
}

TEST_F(Copies, go_between_all_kinds_of_memory) {
  const std::vector<std::byte> source = pattern(100'001);
  PinnedBuffer<std::byte> pinned(gpu, source.size());
  DeviceBuffer<std::byte> first(gpu, source.size());
  DeviceBuffer<std::byte> second(gpu, source.size());
  PinnedBuffer<std::byte> result(gpu, source.size());
  copy(pinned, std::span(source));
  copy(first, pinned);
  copy(second, first);
  copy(result, second);
  EXPECT_TRUE(std::equal(result.begin(), result.end(), source.begin()));
  std::vector<std::byte> pageable(source.size());
  copy(std::span(pageable), result);
  EXPECT_TRUE(pageable == source);
}

TEST_F(Copies, of_parts_leave_the_rest_alone) {
  DeviceBuffer<std::uint32_t> device = upload(numbers(100));
  const std::vector<std::uint32_t> part{7, 8, 9};
  copy(device.subspan(50, 3), std::span(part));
  std::vector<std::uint32_t> expected = numbers(100);
  std::copy(part.begin(), part.end(), expected.begin() + 50);
  EXPECT_EQ(download(device), expected);
}

TEST_F(Copies, of_locked_memory_and_of_pinned_containers_need_no_staging) {
  std::vector<std::byte> memory = pattern(70'000);
  const std::vector<std::byte> expected = memory;
  DeviceBuffer<std::byte> device(gpu, memory.size());
  {
    const Pin pin(gpu, std::span(memory));
    copy(device, pin);
    std::fill(memory.begin(), memory.end(), std::byte{0});
    copy(pin, device);
  }
  EXPECT_TRUE(memory == expected);

  PinnedMemoryResource resource(gpu);
  std::pmr::vector<std::byte> pinned(memory.size(), &resource);
  EXPECT_EQ(view_of(gpu, pinned).kind, MemoryKind::pinned);
  EXPECT_EQ(view_of(gpu, memory).kind, MemoryKind::pageable);
  copy(std::span(pinned), device);
  EXPECT_TRUE(std::equal(pinned.begin(), pinned.end(), expected.begin()));
}

TEST_F(Copies, of_locked_memory_are_seen_by_kernels) {
  std::vector<std::uint32_t> values = numbers(5000);
  const Pin pin(gpu, std::span(values));
  const auto increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  queue.dispatch(increment, grid(5000), pin.device_address_as<std::uint32_t>(), 5000, 1).wait(limit);
  EXPECT_EQ(values, numbers(5000, 1));
}

TEST_F(Copies, that_are_asynchronous_start_after_what_they_depend_on) {
  PinnedBuffer<std::uint32_t> source(gpu, 1000);
  PinnedBuffer<std::uint32_t> result(gpu, 1000);
  DeviceBuffer<std::uint32_t> device(gpu, 1000);
  std::fill(source.begin(), source.end(), 1U);
  Signal gate(gpu, 1);
  const Signal uploaded(gpu, 1);
  const Signal downloaded(gpu, 1);
  copy_async(device, source, uploaded, std::array{gate.handle()});
  copy_async(result, device, downloaded, std::array{uploaded.handle()});
  EXPECT_THROW(downloaded.wait({.timeout = std::chrono::milliseconds(20)}), TimeoutError);
  std::fill(source.begin(), source.end(), 2U);
  gate.store(0);
  downloaded.wait(limit);
  EXPECT_THAT(std::vector(result.begin(), result.end()), ::testing::Each(2U));
}

TEST_F(Copies, that_depend_on_more_signals_than_hsa_takes_are_refused) {
  PinnedBuffer<std::uint32_t> source(gpu, 10);
  DeviceBuffer<std::uint32_t> device(gpu, 10);
  const Signal gate(gpu, 0);
  const Signal done(gpu, 1);
  const std::vector<hsa_signal_t> many(6, gate.handle());
  if (rocr_has_thunk_beside_it()) {
    copy_async(device, source, done, many);
    done.wait(limit);
  } else {
    EXPECT_THAT(error_of([&] { copy_async(device, source, done, many); }), HasSubstr("waits for 6 signals"));
    copy_async(device, source, done, std::span(many).first(5));
    done.wait(limit);
  }
}

TEST_F(Copies, of_unequal_sizes_or_of_what_the_device_cannot_reach_are_refused) {
  DeviceBuffer<std::uint32_t> device(gpu, 10);
  std::vector<std::uint32_t> values(11);
  EXPECT_THAT(error_of([&] { copy(device, std::span(values)); }), HasSubstr("44 bytes of pageable memory to 40 bytes"));
  EXPECT_THAT(error_of([&] { static_cast<void>(device.subspan(5, 6)); }), HasSubstr("not inside"));
  const Signal done(gpu, 1);
  values.resize(10);
  EXPECT_THAT(error_of([&] { copy_async(device, view_of(gpu, std::as_writable_bytes(std::span(values))), done); }),
              HasSubstr("can't reach pageable memory"));
}

TEST_F(Copies, to_more_memory_than_there_is_fail_at_the_buffer) {
  EXPECT_THAT(error_of([&] { DeviceBuffer<std::byte>(gpu, std::size_t{1} << 50U); }),
              HasSubstr("1125899906842624 bytes of device memory"));
}

}  // namespace
}  // namespace fastdispatch::test
