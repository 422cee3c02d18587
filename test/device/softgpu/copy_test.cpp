// Copies the way ROCr makes them: by copy queues, by its own kernels, by the host.
#include <numeric>

#include <gtest/gtest.h>

#include "rocr.hpp"

namespace softgpu_test {
namespace {

class CopyTest : public ::testing::Test {
protected:
  static constexpr std::size_t n = 9'000'001;  // beyond what one copy packet can move

  CopyTest() {
    std::iota(in.data(), in.data() + n, std::uint8_t{0});
    std::fill_n(out.data(), n, std::uint8_t{0});
  }
  [[nodiscard]] bool arrived() const { return std::equal(in.data(), in.data() + n, out.data()); }

  Rocr rocr;
  Buffer<std::uint8_t> in{rocr, rocr.system, n};
  Buffer<std::uint8_t> middle{rocr, rocr.device, n};
  Buffer<std::uint8_t> out{rocr, rocr.system, n};
};

TEST_F(CopyTest, AsynchronousCopiesFollowTheirDependencies) {
  const Signal go;
  const Signal there;
  const Signal back;
  const hsa_signal_t wait_for_go = go.get();
  const hsa_signal_t wait_for_there = there.get();
  CHECKED(hsa_amd_memory_async_copy, static_cast<void*>(out.data()), rocr.host, static_cast<const void*>(middle.data()),
          rocr.gpus[0], n, 1U, &wait_for_there, back.get());
  CHECKED(hsa_amd_memory_async_copy, static_cast<void*>(middle.data()), rocr.gpus[0],
          static_cast<const void*>(in.data()), rocr.host, n, 1U, &wait_for_go, there.get());
  EXPECT_EQ(back.load(), 1);
  go.store(0);
  ASSERT_TRUE(back.completes());
  EXPECT_TRUE(arrived());
}

TEST_F(CopyTest, CopiesWithinTheDeviceRunOnRocrsOwnKernel) {
  const Buffer<std::uint8_t> other(rocr, rocr.device, n);
  CHECKED(hsa_memory_copy, static_cast<void*>(middle.data()), static_cast<const void*>(in.data()), n);
  const Signal done;
  CHECKED(hsa_amd_memory_async_copy, static_cast<void*>(other.data()), rocr.gpus[0],
          static_cast<const void*>(middle.data()), rocr.gpus[0], n, 0U, nullptr, done.get());
  ASSERT_TRUE(done.completes());
  CHECKED(hsa_memory_copy, static_cast<void*>(out.data()), static_cast<const void*>(other.data()), n);
  EXPECT_TRUE(arrived());
}

TEST_F(CopyTest, FillsRunOnRocrsOwnKernel) {
  const Buffer<std::uint32_t> words(rocr, rocr.device, 10001);
  CHECKED(hsa_amd_memory_fill, static_cast<void*>(words.data()), 0x11223344U, std::size_t{10000});
  EXPECT_EQ(words[0], 0x11223344U);
  EXPECT_EQ(words[9999], 0x11223344U);
  EXPECT_EQ(words[10000], 0U);
}

TEST_F(CopyTest, LockedHostMemoryIsCopied) {
  std::vector<std::uint8_t> memory(in.data(), in.data() + n);
  void* locked = nullptr;
  CHECKED(hsa_amd_memory_lock, memory.data(), n, rocr.gpus.data(), 1, &locked);
  const Signal done;
  CHECKED(hsa_amd_memory_async_copy, static_cast<void*>(middle.data()), rocr.gpus[0], static_cast<const void*>(locked),
          rocr.host, n, 0U, nullptr, done.get());
  ASSERT_TRUE(done.completes());
  CHECKED(hsa_amd_memory_unlock, static_cast<void*>(memory.data()));
  CHECKED(hsa_memory_copy, static_cast<void*>(out.data()), static_cast<const void*>(middle.data()), n);
  EXPECT_TRUE(arrived());
}

TEST_F(CopyTest, RectanglesAreCopied) {
  // 5 x 3 x 2 bytes from (4, 1, 1) in a box of pitch 64 and slice 640 to (8, 2, 0).
  const hsa_pitched_ptr_t from{.base = in.data(), .pitch = 64, .slice = 640};
  const hsa_pitched_ptr_t to{.base = middle.data(), .pitch = 128, .slice = 1280};
  const hsa_dim3_t from_offset{.x = 4, .y = 1, .z = 1};
  const hsa_dim3_t to_offset{.x = 8, .y = 2, .z = 0};
  const hsa_dim3_t range{.x = 5, .y = 3, .z = 2};
  const Signal done;
  CHECKED(hsa_amd_memory_async_copy_rect, &to, &to_offset, &from, &from_offset, &range, rocr.gpus[0], hsaHostToDevice,
          0U, nullptr, done.get());
  ASSERT_TRUE(done.completes());
  std::vector<std::uint8_t> expected(4096);
  for (std::size_t z = 0; z != 2; ++z)
    for (std::size_t y = 0; y != 3; ++y)
      for (std::size_t x = 0; x != 5; ++x)
        expected[(x + 8) + (y + 2) * 128 + z * 1280] = in[(x + 4) + (y + 1) * 64 + (z + 1) * 640];
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), middle.data()));
}

TEST_F(CopyTest, CopyTimesAreMeasured) {
  CHECKED(hsa_amd_profiling_async_copy_enable, true);
  const Signal done;
  CHECKED(hsa_amd_memory_async_copy, static_cast<void*>(middle.data()), rocr.gpus[0],
          static_cast<const void*>(in.data()), rocr.host, n, 0U, nullptr, done.get());
  ASSERT_TRUE(done.completes());
  hsa_amd_profiling_async_copy_time_t time{};
  CHECKED(hsa_amd_profiling_get_async_copy_time, done.get(), &time);
  EXPECT_LT(time.start, time.end);
  CHECKED(hsa_amd_profiling_async_copy_enable, false);
}

}  // namespace
}  // namespace softgpu_test
