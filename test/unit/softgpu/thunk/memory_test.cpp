// hsakmt packs its structures: a unary + makes an aligned value of a field, which EXPECT binds a reference to.
#include "softgpu/thunk/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
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
                {.release = [this](std::uint64_t base, std::size_t size) { released.emplace_back(base, size); }}};
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

TEST_F(MemoryTest, AddressesWithoutMemoryTakeNoPartInMemoryWithoutAnAddress) {
  HsaMemFlags flags{};
  flags.Value = memory_without_address | address_without_memory;
  EXPECT_EQ(allocate(1, 4096, flags), nullptr);
  flags.Value = address_without_memory;
  EXPECT_EQ(query(allocate(0, 4096, flags)).Type, pointer_to_reserved_addresses);
  flags.Value = memory_without_address;
  EXPECT_EQ(query(allocate(1, 4096, flags)).Type, HSA_POINTER_ALLOCATED);
}

TEST_F(MemoryTest, ExportedMemoryIsSharedWithWhoeverImportsIt) {
  auto* block = static_cast<char*>(allocate(1, 3 * mebibyte));
  block[2 * mebibyte] = 1;
  int file = -1;
  std::uint64_t offset = 0;
  ASSERT_EQ(memory.export_file(block + 4096, 4096, file, offset), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(offset, 4096U);
  EXPECT_EQ(block[2 * mebibyte], 1) << "it keeps its contents";

  Memory::Imported imported;
  ASSERT_EQ(memory.import_file(file, Memory::Import::mapped, imported), HSAKMT_STATUS_SUCCESS);
  ::close(file);
  auto* other = static_cast<char*>(imported.address);
  EXPECT_EQ(imported.bytes, 3 * mebibyte);
  EXPECT_EQ(imported.node, 1U);
  EXPECT_EQ(other[2 * mebibyte], 1);
  other[0] = 2;
  EXPECT_EQ(block[0], 2);
  EXPECT_EQ(query(other + 5).Type, HSA_POINTER_REGISTERED_GRAPHICS);
  EXPECT_EQ(memory.available(1), 61 * mebibyte) << "it counts once";
  EXPECT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(other[0], 2) << "it lives as long as its last user";
  EXPECT_EQ(memory.deregister(other), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(query(other).Type, HSA_POINTER_UNKNOWN);
  EXPECT_EQ(memory.available(1), 64 * mebibyte);
}

TEST_F(MemoryTest, WritersLoseNothingWhileMemoryIsExported) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not know that protecting pages comes before their copy";
#endif
  constexpr unsigned blocks = 20;
  constexpr std::uint64_t words = mebibyte / 8;
  for (unsigned round = 0; round != blocks; ++round) {
    auto* block = static_cast<std::uint64_t*>(allocate(1, mebibyte));
    std::atomic<bool> is_exported = false;
    std::atomic<bool> is_writing = false;
    std::uint64_t written = 0;
    std::thread writer([&] {
      while (!is_exported) {
        for (std::uint64_t word = 0; word != words; ++word) std::atomic_ref(block[word]).fetch_add(1);
        ++written;
        is_writing = true;
      }
    });
    while (!is_writing) std::this_thread::yield();
    int file = -1;
    std::uint64_t offset = 0;
    EXPECT_EQ(memory.export_file(block, mebibyte, file, offset), HSAKMT_STATUS_SUCCESS);
    is_exported = true;
    writer.join();
    for (std::uint64_t word = 0; word != words; ++word) ASSERT_EQ(block[word], written) << word;
    ::close(file);
    EXPECT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  }
}

TEST_F(MemoryTest, AHandleIsImportedOnce) {
  HsaMemFlags flags{};
  flags.Value = memory_without_address;
  void* handle = allocate(1, mebibyte, flags);
  int file = -1;
  std::uint64_t offset = 0;
  ASSERT_EQ(memory.export_file(handle, mebibyte, file, offset), HSAKMT_STATUS_SUCCESS);
  Memory::Imported imported;
  ASSERT_EQ(memory.import_file(file, Memory::Import::handle, imported), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(imported.address, handle) << "known here";

  // Another process has another memory.
  Memory elsewhere{2, {.device_bytes = mebibyte, .host_bytes = mebibyte}, nullptr, {}};
  ASSERT_EQ(elsewhere.import_file(file, Memory::Import::handle, imported), HSAKMT_STATUS_SUCCESS);
  Memory::Imported again;
  ASSERT_EQ(elsewhere.import_file(file, Memory::Import::handle, again), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(again.address, imported.address);
  EXPECT_EQ(elsewhere.free(imported.address), HSAKMT_STATUS_SUCCESS);
  ::close(file);
}

TEST_F(MemoryTest, WhatIsNoMemoryIsNeitherExportedNorImported) {
  int file = -1;
  std::uint64_t offset = 0;
  void* block = allocate(1, 8192);
  EXPECT_EQ(memory.export_file(&file, 4, file, offset), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(memory.export_file(block, 8193, file, offset), HSAKMT_STATUS_INVALID_PARAMETER);
  HsaMemFlags flags{};
  flags.Value = address_without_memory;
  EXPECT_EQ(memory.export_file(allocate(0, 4096, flags), 4096, file, offset), HSAKMT_STATUS_INVALID_PARAMETER);
  Memory::Imported imported;
  EXPECT_EQ(memory.import_file(-1, Memory::Import::mapped, imported), HSAKMT_STATUS_INVALID_HANDLE);
  const int other = memfd_create("another", MFD_CLOEXEC);
  EXPECT_EQ(memory.import_file(other, Memory::Import::mapped, imported), HSAKMT_STATUS_INVALID_HANDLE);
  ::close(other);
}

TEST_F(MemoryTest, ARangeIsAnnouncedBeforeItGoes) {
  void* block = allocate(1, 8192);
  ASSERT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(released.size(), 1U);
  EXPECT_EQ(released[0], std::pair(number(block), std::size_t{8192}));
}

TEST_F(MemoryTest, IsPlacedAtAddressesThatTheCallerHandsOut) {
  auto* addresses = static_cast<char*>(memory.reserve_addresses(4 * mebibyte));
  ASSERT_NE(addresses, nullptr);
  EXPECT_TRUE(memory.is_in_window(addresses));
  EXPECT_EQ(query(addresses).Type, HSA_POINTER_UNKNOWN);
  EXPECT_EQ(memory.reserve_addresses(4096, addresses), nullptr) << "they are taken";
  EXPECT_EQ(memory.place(addresses + 4 * mebibyte, 1, 4096, {}, Memory::Backing::zeroed),
            HSAKMT_STATUS_INVALID_PARAMETER)
      << "they are nobody's";

  const std::uint64_t available = memory.available(1);
  ASSERT_EQ(memory.place(addresses + mebibyte, 1, mebibyte, {}, Memory::Backing::zeroed), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(memory.available(1), available - mebibyte);
  EXPECT_EQ(memory.place(addresses + mebibyte, 1, 4096, {}, Memory::Backing::zeroed), HSAKMT_STATUS_INVALID_PARAMETER);
  addresses[mebibyte] = 1;
  EXPECT_EQ(query(addresses + mebibyte).Node, 1U);
  EXPECT_EQ(memory.free(addresses + mebibyte), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(memory.available(1), available);

  // The addresses are still the caller's: for pages of his own, too, which stay when the block goes.
  ASSERT_EQ(
      mmap(addresses + mebibyte, mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
      addresses + mebibyte);
  EXPECT_EQ(addresses[mebibyte], 0);
  ASSERT_EQ(memory.place(addresses + mebibyte, 0, mebibyte, {}, Memory::Backing::given), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(memory.free(addresses + mebibyte), HSAKMT_STATUS_SUCCESS);
  addresses[mebibyte] = 2;

  EXPECT_TRUE(memory.release_addresses(addresses, mebibyte));
  EXPECT_TRUE(memory.release_addresses(addresses + mebibyte, 3 * mebibyte));
  EXPECT_FALSE(memory.release_addresses(addresses, mebibyte));
  EXPECT_EQ(memory.reserve_addresses(4096, addresses), addresses);
}

TEST_F(MemoryTest, IsPlacedOutsideOfTheWindowToo) {
  void* pages = mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(memory.place(pages, 1, 4096, {}, Memory::Backing::zeroed), HSAKMT_STATUS_SUCCESS);
  *static_cast<char*>(pages) = 1;
  EXPECT_EQ(memory.accessible().range_of(number(pages)).end, number(pages) + 4096);
  EXPECT_EQ(memory.free(pages), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(memory.accessible().range_of(number(pages)).contains(number(pages)));
  EXPECT_FALSE(memory.release_addresses(pages, 8192));
  munmap(pages, 8192);
}

TEST_F(MemoryTest, OfAFileIsMappedWhereTheCallerWants) {
  auto* exported = static_cast<char*>(allocate(1, 8192));
  exported[5000] = 7;
  int file = -1;
  std::uint64_t offset = 0;
  ASSERT_EQ(memory.export_file(exported, 8192, file, offset), HSAKMT_STATUS_SUCCESS);
  auto* addresses = static_cast<char*>(memory.reserve_addresses(mebibyte));
  ASSERT_EQ(memory.import_file_at(file, addresses), HSAKMT_STATUS_SUCCESS);
  ::close(file);
  EXPECT_EQ(addresses[5000], 7);
  EXPECT_EQ(query(addresses).Type, HSA_POINTER_REGISTERED_GRAPHICS);
  EXPECT_EQ(memory.import_file_at(-1, addresses + 8192), HSAKMT_STATUS_INVALID_HANDLE);
  EXPECT_EQ(memory.free(addresses), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(exported[5000], 7);
  EXPECT_TRUE(memory.release_addresses(addresses, mebibyte));
}

TEST_F(MemoryTest, IsSharedByFourWordsAsLongAsItIsThere) {
  auto* block = static_cast<char*>(allocate(1, 8192));
  block[5000] = 7;
  SharedHandle handle{};
  EXPECT_EQ(memory.share(block + 4096, handle), HSAKMT_STATUS_INVALID_PARAMETER) << "no block begins there";
  ASSERT_EQ(memory.share(block, handle), HSAKMT_STATUS_SUCCESS);
  const int file = open_shared(handle);
  ASSERT_GE(file, 0);
  Memory::Imported imported;
  ASSERT_EQ(memory.import_file(file, Memory::Import::shared, imported), HSAKMT_STATUS_SUCCESS);
  ::close(file);
  EXPECT_EQ(static_cast<char*>(imported.address)[5000], 7);
  EXPECT_EQ(query(imported.address).Type, HSA_POINTER_REGISTERED_SHARED);
  EXPECT_EQ(memory.deregister(imported.address), HSAKMT_STATUS_SUCCESS);

  SharedHandle other = handle;
  ++other[2];
  EXPECT_LT(open_shared(other), 0) << "the descriptor is that of another file";
  other = handle;
  other[1] = 0;
  EXPECT_LT(open_shared(other), 0) << "that of no memory";
  ASSERT_EQ(memory.free(block), HSAKMT_STATUS_SUCCESS);
  EXPECT_LT(open_shared(handle), 0) << "it is gone";
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
