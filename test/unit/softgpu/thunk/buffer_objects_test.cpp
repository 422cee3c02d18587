// Buffer objects, in the order in which ROCr 7 calls libdrm and maps memory for hsa_amd_vmem_*.
#include "softgpu/thunk/buffer_objects.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

/// Whether the host may read a byte there.
bool is_readable(const void* address) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return false;
  const bool result = write(ends[1], address, 1) == 1;
  for (const int end : ends) ::close(end);
  return result;
}

class BufferObjectsTest : public ::testing::Test {
protected:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

  void* allocate(std::uint32_t node, std::uint64_t size, std::uint32_t flags) {
    HsaMemFlags bits{};
    bits.Value = flags;
    void* address = nullptr;
    EXPECT_EQ(memory.allocate(node, size, bits, address), HSAKMT_STATUS_SUCCESS);
    return address;
  }
  /// hsa_amd_vmem_address_reserve, and hsa_amd_vmem_handle_create.
  void* reserve(std::uint64_t size) { return allocate(0, size, address_without_memory); }
  void* create(std::uint64_t size) { return allocate(1, size, memory_without_address); }
  /// What ROCr does for the range itself, and for each GPU that is given access.
  BufferObjects::Imported import(const void* handle, std::uint64_t size) {
    int file = -1;
    std::uint64_t offset = 1;
    EXPECT_EQ(memory.export_file(handle, size, file, offset), HSAKMT_STATUS_SUCCESS);
    EXPECT_EQ(offset, 0U);
    const auto imported = objects.import(file);
    ::close(file);
    EXPECT_TRUE(imported.has_value());
    return imported.value_or(BufferObjects::Imported{});
  }

  Memory memory{3, {.device_bytes = 64 * mebibyte, .host_bytes = 64 * mebibyte}, nullptr, {}};
  BufferObjects objects{memory};
};

TEST_F(BufferObjectsTest, AddressesAndMemoryCannotBeAccessedApart) {
  void* addresses = reserve(mebibyte);
  void* handle = create(mebibyte);
  EXPECT_FALSE(is_readable(addresses));
  EXPECT_FALSE(is_readable(handle));
  EXPECT_EQ(memory.available(1), 63 * mebibyte);
  EXPECT_EQ(memory.available(0), 64 * mebibyte) << "addresses cost nothing";
  EXPECT_EQ(memory.free(handle), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(memory.free(addresses), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(memory.available(1), 64 * mebibyte);
}

TEST_F(BufferObjectsTest, MappedMemoryKeepsItsContentsAtEveryAddress) {
  auto* first = static_cast<char*>(reserve(mebibyte));
  auto* second = static_cast<char*>(reserve(mebibyte));
  void* handle = create(64 * page);
  const auto object = import(handle, 64 * page);
  ASSERT_EQ(objects.map(object.object, 0, 64 * page, first + 8 * page), 0);
  first[8 * page] = 7;
  ASSERT_EQ(objects.map(object.object, 0, 32 * page, second), 0);
  EXPECT_EQ(second[0], 7) << "the same pages";
  ASSERT_EQ(objects.unmap(object.object, first + 8 * page), 0);
  ASSERT_EQ(objects.unmap(object.object, second), 0);
  ASSERT_EQ(objects.free(object.object), 0);
  EXPECT_FALSE(is_readable(first + 8 * page) || is_readable(second));
  const auto again = import(handle, 64 * page);
  ASSERT_EQ(objects.map(again.object, 0, 64 * page, second + page), 0);
  EXPECT_EQ(second[page], 7);
  EXPECT_FALSE(is_readable(second) || is_readable(second + 65 * page)) << "only what is mapped";
  EXPECT_EQ(objects.free(again.object), 0);
}

TEST_F(BufferObjectsTest, ARangeStaysMappedUntilTheLastGpuLeavesIt) {
  void* addresses = reserve(mebibyte);
  void* handle = create(mebibyte);
  const auto range = import(handle, mebibyte);
  const auto one = import(handle, mebibyte);
  const auto other = import(handle, mebibyte);
  ASSERT_EQ(objects.map(one.object, 0, mebibyte, addresses), 0);
  ASSERT_EQ(objects.map(other.object, 0, mebibyte, addresses), 0);
  ASSERT_EQ(objects.unmap(one.object, addresses), 0);
  ASSERT_EQ(objects.free(one.object), 0);
  EXPECT_TRUE(is_readable(addresses));
  ASSERT_EQ(objects.unmap(other.object, addresses), 0);
  EXPECT_TRUE(is_readable(addresses)) << "its rights may only be changing";
  ASSERT_EQ(objects.map(other.object, 0, mebibyte, addresses), 0);
  ASSERT_EQ(objects.unmap(other.object, addresses), 0);
  ASSERT_EQ(objects.free(other.object), 0);
  EXPECT_FALSE(is_readable(addresses));
  EXPECT_EQ(objects.free(range.object), 0);
}

TEST_F(BufferObjectsTest, TheHostMapsAnObjectByItsFile) {
  auto* addresses = static_cast<char*>(reserve(mebibyte));
  void* handle = create(mebibyte);
  const auto range = import(handle, mebibyte);
  const auto gpu = import(handle, mebibyte);
  const auto number = objects.number_of(range.object);
  ASSERT_TRUE(number);
  EXPECT_TRUE(objects.is_file_of(*number, range.descriptor));
  EXPECT_FALSE(objects.is_file_of(*number, gpu.descriptor));
  ASSERT_EQ(objects.map(gpu.object, 0, mebibyte, addresses), 0);
  addresses[5] = 3;
  ASSERT_EQ(mmap(addresses, mebibyte, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, range.descriptor, 0), addresses);
  EXPECT_EQ(addresses[5], 3);
  // As ROCr takes it away: the host's view may go before or after the GPU's.
  ASSERT_EQ(objects.unmap(gpu.object, addresses), 0);
  ASSERT_EQ(objects.free(gpu.object), 0);
  ASSERT_EQ(munmap(addresses, mebibyte), 0);
  ASSERT_EQ(objects.free(range.object), 0);
  EXPECT_EQ(mmap(addresses, mebibyte, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), MAP_FAILED)
      << "the addresses are reserved again";
}

TEST_F(BufferObjectsTest, AddressesThatOthersTookAreLeftToThem) {
  auto* addresses = static_cast<char*>(reserve(mebibyte));
  void* handle = create(mebibyte);
  const auto object = import(handle, mebibyte);
  ASSERT_EQ(objects.map(object.object, 0, mebibyte, addresses), 0);
  ASSERT_EQ(munmap(addresses, mebibyte), 0);
  auto* foreign = static_cast<char*>(mmap(addresses + 16 * page, 4 * page, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  ASSERT_EQ(foreign, addresses + 16 * page);
  foreign[0] = 9;
  ASSERT_EQ(objects.unmap(object.object, addresses), 0);
  ASSERT_EQ(objects.free(object.object), 0);
  EXPECT_EQ(foreign[0], 9);
  EXPECT_EQ(memory.free(addresses), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(foreign[0], 9);
  munmap(foreign, 4 * page);
}

TEST_F(BufferObjectsTest, WrongCallsAreRefused) {
  auto* addresses = static_cast<char*>(reserve(mebibyte));
  void* block = allocate(1, mebibyte, 0);
  void* handle = create(mebibyte);
  const auto object = import(handle, mebibyte);
  EXPECT_LT(objects.map(object.object, 0, 2 * mebibyte, addresses), 0) << "beyond the addresses";
  EXPECT_LT(objects.map(object.object, page, mebibyte, addresses), 0) << "beyond the memory";
  EXPECT_LT(objects.map(object.object, 0, page, addresses + 1), 0) << "no page";
  EXPECT_LT(objects.map(object.object, 0, page, block), 0) << "addresses with memory";
  EXPECT_LT(objects.unmap(object.object, addresses), 0) << "never mapped";
  const auto other = import(create(mebibyte), mebibyte);
  ASSERT_EQ(objects.map(object.object, 0, mebibyte, addresses), 0);
  EXPECT_LT(objects.map(other.object, 0, mebibyte, addresses), 0) << "another object's";
  EXPECT_LT(objects.free(block), 0);
  EXPECT_FALSE(objects.import(STDIN_FILENO));
  EXPECT_EQ(objects.free(object.object), 0);
  EXPECT_LT(objects.free(object.object), 0) << "freed";
}

TEST_F(BufferObjectsTest, WhatIsAttachedIsTheMemorysAndNotTheObjects) {
  void* block = allocate(0, mebibyte, 0);
  void* handle = create(2 * mebibyte);
  const std::array<std::byte, 3> number = {std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_EQ(objects.attach(import(handle, mebibyte).object, number), 0);
  std::array<std::byte, 4> read{};
  BufferObjects::Description description;
  EXPECT_EQ(objects.describe(import(handle, mebibyte).object, description, read), 0);
  EXPECT_TRUE(std::ranges::equal(number, std::span(read).first(3)));
  EXPECT_EQ(read[3], std::byte{0});
  EXPECT_EQ(description.bytes, 2 * mebibyte);
  EXPECT_FALSE(description.is_host_memory);
  EXPECT_EQ(objects.describe(import(block, mebibyte).object, description, read), 0);
  EXPECT_EQ(read[0], std::byte{0});
  EXPECT_TRUE(description.is_host_memory);
  EXPECT_LT(objects.describe(block, description, read), 0) << "no object";
  EXPECT_LT(objects.attach(import(block, mebibyte).object, std::vector<std::byte>(MemoryFile::most_attached + 1)), 0);
}

TEST_F(BufferObjectsTest, TheHostsViewOfAnImportedObjectEndsWithIt) {
  void* block = allocate(0, mebibyte, 0);
  static_cast<char*>(block)[page] = 4;
  const auto object = import(block, mebibyte);
  void* view = nullptr;
  ASSERT_EQ(objects.map_for_host(object.object, view), 0);
  EXPECT_NE(view, block);
  EXPECT_EQ(static_cast<char*>(view)[page], 4);
  EXPECT_EQ(objects.map(object.object, 0, mebibyte, view), 0) << "for the GPU it is there already";
  static_cast<char*>(view)[page] = 5;
  EXPECT_EQ(static_cast<char*>(block)[page], 5);
  EXPECT_EQ(objects.unmap(object.object, view), 0);
  EXPECT_EQ(objects.free(object.object), 0);
  EXPECT_FALSE(is_readable(view));
}

}  // namespace
}  // namespace softgpu::thunk
