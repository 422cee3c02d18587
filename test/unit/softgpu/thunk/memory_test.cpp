// hsakmt packs its structures: a unary + makes an aligned value of a field, which EXPECT binds a reference to.
#include "softgpu/thunk/memory.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

class MemoryTest : public ::testing::Test {
protected:
  void* allocate(std::uint32_t node, std::uint64_t size, HsaMemFlags flags = {}) {
    void* address = nullptr;
    return memory.allocate(node, size, flags, address) == HSAKMT_STATUS_SUCCESS ? address : nullptr;
  }
  HsaPointerInfo query(const void* address) {
    HsaPointerInfo info{};
    std::memset(&info, 0xff, sizeof(info));
    last_status = memory.query(address, info);
    return info;
  }

  std::vector<std::pair<std::uint64_t, std::size_t>> released;
  Memory memory{2,
                {.device_bytes = 64 * mebibyte, .host_bytes = 128 * mebibyte},
                nullptr,
                [this](std::uint64_t base, std::size_t size) { released.emplace_back(base, size); }};
  HSAKMT_STATUS last_status = HSAKMT_STATUS_SUCCESS;
};

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

TEST_F(MemoryTest, BlocksAreZeroedWritableAndAligned) {
  auto* small = static_cast<char*>(allocate(1, 100));
  auto* large = static_cast<char*>(allocate(0, 3 * mebibyte));
  ASSERT_NE(small, nullptr);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(number(small) % 4096, 0U);
  EXPECT_EQ(number(large) % (2 * mebibyte), 0U);
  EXPECT_EQ(small[99] + large[3 * mebibyte - 1], 0);
  large[3 * mebibyte - 1] = 1;
  EXPECT_EQ(memory.free(small), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(memory.free(large), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryTest, DeviceMemoryRunsOutAndComesBack) {
  void* most = allocate(1, 60 * mebibyte);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(allocate(1, 5 * mebibyte), nullptr);
  EXPECT_NE(allocate(1, 4 * mebibyte), nullptr);
  EXPECT_NE(allocate(0, 100 * mebibyte), nullptr);
  EXPECT_EQ(memory.free(most), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(allocate(1, 60 * mebibyte), nullptr);
}

TEST_F(MemoryTest, HostMemoryRunsOutToo) {
  void* most = allocate(0, 127 * mebibyte);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(allocate(0, 2 * mebibyte), nullptr);
  EXPECT_EQ(allocate(0, std::uint64_t{4000} << 30), nullptr) << "more than any machine has";
  EXPECT_EQ(memory.free(most), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(allocate(0, 2 * mebibyte), nullptr);
}

TEST_F(MemoryTest, ScratchIsAddressSpaceAndCountsForNothing) {
  HsaMemFlags scratch{};
  scratch.ui32.Scratch = 1;
  EXPECT_NE(allocate(1, std::uint64_t{4} << 30, scratch), nullptr);
  EXPECT_NE(allocate(1, 60 * mebibyte), nullptr);
}

TEST_F(MemoryTest, AFixedAddressIsTakenOrRefused) {
  void* block = allocate(0, mebibyte);
  HsaMemFlags fixed{};
  fixed.ui32.FixedAddress = 1;
  void* address = block;
  EXPECT_EQ(memory.allocate(0, mebibyte, fixed, address), HSAKMT_STATUS_NO_MEMORY);
  EXPECT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  address = block;
  ASSERT_EQ(memory.allocate(0, mebibyte, fixed, address), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(address, block);
}

TEST_F(MemoryTest, KernelsMayAccessWhatIsAllocatedOrRegistered) {
  const auto accessible = [&](const void* address) {
    return memory.accessible().range_of(number(address)).contains(number(address));
  };
  auto* block = static_cast<char*>(allocate(0, mebibyte));
  EXPECT_TRUE(memory.accessible().window().contains(number(block)));
  alignas(4096) static char own[3 * 4096];
  EXPECT_FALSE(accessible(own));
  ASSERT_EQ(memory.register_host(own + 8, 16, {}), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(memory.register_host(own + 8, 4096, {}), HSAKMT_STATUS_SUCCESS) << "once more, and longer";
  EXPECT_TRUE(accessible(own) && accessible(own + 4096)) << "all of each page";
  EXPECT_FALSE(accessible(own + 2 * 4096));
  ASSERT_EQ(memory.deregister(own + 8), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(accessible(own)) << "it was registered twice";
  ASSERT_EQ(memory.deregister(own + 8), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(own) || accessible(own + 4096));
}

TEST_F(MemoryTest, AddressesOfFreedMemoryAreNotUsedAgainAtOnceAndCannotBeAccessed) {
  void* block = allocate(1, 4096);
  ASSERT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(allocate(1, 4096), block);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EXPECT_EQ(write(ends[1], block, 1), -1);
  EXPECT_EQ(errno, EFAULT);
  for (const int end : ends) ::close(end);
}

TEST_F(MemoryTest, ImpossibleRequestsAreRefused) {
  EXPECT_EQ(allocate(7, 4096), nullptr);
  EXPECT_EQ(allocate(0, 0), nullptr);
  EXPECT_EQ(allocate(0, ~std::uint64_t{0}), nullptr);
  int local = 0;
  EXPECT_EQ(memory.free(&local), HSAKMT_STATUS_INVALID_HANDLE);
}

TEST_F(MemoryTest, AnAlignmentIsKept) {
  constexpr std::uint64_t alignment = 16 * mebibyte;
  void* address = nullptr;
  ASSERT_EQ(memory.allocate(1, 100, {}, address, alignment), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(number(address) % alignment, 0U);
  EXPECT_EQ(memory.allocate(1, 100, {}, address, ~std::uint64_t{0}), HSAKMT_STATUS_INVALID_PARAMETER);
}

TEST_F(MemoryTest, WhatIsAvailableIsWhatIsNotAllocated) {
  EXPECT_EQ(memory.available(1), 64 * mebibyte);
  void* block = allocate(1, 5 * mebibyte);
  EXPECT_EQ(memory.available(1), 59 * mebibyte);
  EXPECT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(memory.available(1), 64 * mebibyte);
}

TEST_F(MemoryTest, AddressesWithoutMemoryAndMemoryWithoutAnAddressAreRefused) {
  for (const std::uint32_t bit : {memory_without_address, address_without_memory}) {
    HsaMemFlags flags{};
    flags.Value = bit;
    void* address = nullptr;
    EXPECT_EQ(memory.allocate(1, 4096, flags, address), HSAKMT_STATUS_NOT_SUPPORTED);
  }
}

TEST_F(MemoryTest, ARangeIsAnnouncedBeforeItGoes) {
  void* block = allocate(1, 8192);
  ASSERT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(released.size(), 1U);
  EXPECT_EQ(released[0], std::pair(number(block), std::size_t{8192}));
}

TEST_F(MemoryTest, APointerInsideABlockFindsIt) {
  auto* block = static_cast<char*>(allocate(1, 8192));
  ASSERT_EQ(memory.map(block, {1}), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(memory.set_user_data(block, &released), HSAKMT_STATUS_SUCCESS);
  const HsaPointerInfo info = query(block + 8191);
  EXPECT_EQ(last_status, HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(info.Type, HSA_POINTER_ALLOCATED);
  EXPECT_EQ(info.Node, 1U);
  EXPECT_EQ(+info.GPUAddress, number(block));
  EXPECT_EQ(+info.SizeInBytes, 8192U);
  EXPECT_EQ(+info.UserData, &released);
  ASSERT_EQ(info.NMappedNodes, 1U);
  EXPECT_EQ(info.MappedNodes[0], 1U);
}

TEST_F(MemoryTest, AnUnknownPointerAnswersWithAnEmptyStructure) {
  const int local = 0;
  const HsaPointerInfo info = query(&local);
  EXPECT_EQ(last_status, HSAKMT_STATUS_ERROR);
  EXPECT_EQ(info.Type, HSA_POINTER_UNKNOWN);
  EXPECT_EQ(info.NMappedNodes, 0U);
}

TEST_F(MemoryTest, RegisteredHostMemoryIsKnownUntilItsLastDeregistration) {
  std::vector<char> data(10000);
  ASSERT_EQ(memory.register_host(data.data(), data.size(), {}), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(memory.register_host(data.data(), 100, {}), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(query(&data[9999]).Type, HSA_POINTER_REGISTERED_USER);
  EXPECT_EQ(memory.deregister(data.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(query(&data[9999]).Type, HSA_POINTER_REGISTERED_USER);
  EXPECT_EQ(memory.deregister(data.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(query(&data[9999]).Type, HSA_POINTER_UNKNOWN);
  EXPECT_EQ(memory.deregister(data.data()), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
}

TEST_F(MemoryTest, OverlappingRegistrationsAreBothFound) {
  std::vector<char> data(10000);
  ASSERT_EQ(memory.register_host(&data[0], 10000, {}), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(memory.register_host(&data[1000], 100, {}), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(+query(&data[1050]).GPUAddress, number(&data[1000]));
  EXPECT_EQ(+query(&data[5000]).GPUAddress, number(&data[0]));
}

}  // namespace
}  // namespace softgpu::thunk
