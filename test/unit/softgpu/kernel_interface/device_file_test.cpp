#include "softgpu/kernel_interface/device_file.hpp"

#include <cstdint>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace softgpu::kernel_interface {
namespace {

constexpr std::uint64_t doorbell_bytes = 8192;  // of a process on a GPU

TEST(DeviceFile, is_known_by_any_descriptor_of_it) {
  const DeviceFile file(1);
  const DeviceFile another(1);
  const int descriptor = file.duplicate();
  ASSERT_GE(descriptor, 0);
  EXPECT_TRUE(file.has(descriptor));
  EXPECT_FALSE(another.has(descriptor));
  EXPECT_FALSE(file.has(-1));
  close(descriptor);
}

TEST(DeviceFile, has_the_doorbells_of_each_gpu_in_pages_that_a_process_maps) {
  DeviceFile file(2);
  const int descriptor = file.duplicate();
  for (const std::uint32_t gpu : {0U, 1U}) {
    std::uint64_t* doorbell = file.take_doorbell(gpu);
    const std::uint64_t offset = file.offset_of(doorbell);
    EXPECT_EQ(offset / doorbell_bytes, gpu);
    void* pages = mmap(nullptr, doorbell_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                       static_cast<off_t>(gpu * doorbell_bytes));
    ASSERT_NE(pages, MAP_FAILED);
    static_cast<std::uint64_t*>(pages)[offset % doorbell_bytes / sizeof(std::uint64_t)] = 42 + gpu;
    EXPECT_EQ(*doorbell, 42 + gpu);
    munmap(pages, doorbell_bytes);
  }
  void* registers =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(file.registers_offset(1)));
  ASSERT_NE(registers, MAP_FAILED);
  *static_cast<char*>(registers) = 1;
  munmap(registers, 4096);
  close(descriptor);
}

TEST(DeviceFile, gives_each_doorbell_to_one_queue_and_the_first_ones_far_apart) {
  DeviceFile file(1);
  std::set<std::uint64_t> offsets;
  std::set<std::uint64_t> lines;
  std::uint64_t* last = nullptr;
  while (std::uint64_t* doorbell = file.take_doorbell(0)) {
    last = doorbell;
    EXPECT_TRUE(offsets.insert(file.offset_of(doorbell)).second);
    if (offsets.size() <= doorbell_bytes / 64) lines.insert(file.offset_of(doorbell) / 64);
  }
  EXPECT_EQ(offsets.size(), doorbell_bytes / sizeof(std::uint64_t));
  EXPECT_EQ(lines.size(), doorbell_bytes / 64);
  file.give_back(last);
  EXPECT_EQ(file.take_doorbell(0), last);
}

}  // namespace
}  // namespace softgpu::kernel_interface
