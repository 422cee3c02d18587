// What a thunk that calls the kernel finds in the soft GPU's place.
#include <cstddef>
#include <cstdint>
#include <string>

#include <dlfcn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "softgpu/kernel_interface/abi.hpp"

namespace softgpu::kernel_interface {
namespace {

using testing::StartsWith;

const std::string topology = "/sys/devices/virtual/kfd/kfd/topology";

class CallsTest : public testing::Test {
protected:
  template <class Function>
  Function* function(const char* name) {
    return reinterpret_cast<Function*>(dlsym(thunk, name));
  }
  void SetUp() override {
    ASSERT_NE(softgpu, nullptr) << dlerror();
    ASSERT_NE(thunk, nullptr) << dlerror();
    const auto stand_in = reinterpret_cast<bool (*)(const void*)>(dlsym(softgpu, "softgpu_stand_in_for_kernel"));
    ASSERT_NE(stand_in, nullptr);
    ASSERT_TRUE(stand_in(dlsym(thunk, "open_file")));
    device = function<int(const char*)>("open_file")("/dev/kfd");
    ASSERT_GE(device, 0);
  }
  void TearDown() override { close(device); }
  template <class Args>
  int call(abi::Command command, Args& args) {
    return function<int(int, unsigned long, void*)>("control")(
        device, _IOC(_IOC_READ | _IOC_WRITE, abi::letter, static_cast<unsigned>(command), sizeof(Args)), &args);
  }
  std::string first_line(const std::string& path) {
    char line[256];
    function<void(const char*, char*, int)>("first_line")(path.c_str(), line, sizeof line);
    return line;
  }

  void* softgpu = dlopen(SOFTGPU_LIBHSAKMT, RTLD_NOW | RTLD_LOCAL);
  void* thunk = dlopen(A_THUNK, RTLD_NOW | RTLD_LOCAL);
  int device = -1;
};

TEST_F(CallsTest, reach_the_device_and_no_other_file) {
  abi::Version version{};
  EXPECT_EQ(call(abi::Command::get_version, version), 0);
  EXPECT_EQ(version.major, 1U);
  abi::FreeMemory nothing{.handle = 12345};
  EXPECT_EQ(call(abi::Command::free_memory, nothing), -1);
  EXPECT_EQ(errno, EINVAL);
  const int other = function<int(const char*)>("open_file")("/dev/null");
  ASSERT_GE(other, 0);
  EXPECT_EQ(function<int(int, unsigned long, void*)>("control")(other, _IO('K', 1), &version), -1);
  EXPECT_EQ(errno, ENOTTY);
  close(other);
  EXPECT_LT(function<int(const char*)>("open_file")("/dev/dri/renderD255"), 0);
}

TEST_F(CallsTest, read_the_files_that_tell_of_the_gpus) {
  const auto count_names = function<int(const char*)>("count_names");
  EXPECT_EQ(count_names((topology + "/nodes").c_str()), 2);
  EXPECT_EQ(count_names((topology + "/nodes/2").c_str()), -1);
  EXPECT_GT(count_names("/proc"), 2);
  EXPECT_EQ(first_line(topology + "/nodes/0/gpu_id"), "0\n");
  EXPECT_EQ(first_line(topology + "/nodes/2/gpu_id"), "");
  EXPECT_THAT(first_line("/proc/meminfo"), StartsWith("MemTotal"));
}

TEST_F(CallsTest, map_memory_at_addresses_that_they_reserved) {
  constexpr std::size_t page = 4096;
  const int render_node = function<int(const char*)>("open_file")("/dev/dri/renderD128");
  ASSERT_GE(render_node, 0);
  const auto reserve = function<void*(std::size_t)>("reserve");
  const auto unmap = function<int(void*, std::size_t)>("unmap");
  auto* addresses = static_cast<char*>(reserve(8 * page));
  ASSERT_NE(addresses, MAP_FAILED);
  // As a thunk does for the sake of alignment and guards.
  EXPECT_EQ(unmap(addresses, page), 0);
  EXPECT_EQ(unmap(addresses + 5 * page, 3 * page), 0);
  addresses += page;

  std::uint32_t gpu = static_cast<std::uint32_t>(std::stoul(first_line(topology + "/nodes/1/gpu_id")));
  abi::AllocateMemory memory{.address = reinterpret_cast<std::uint64_t>(addresses),
                             .size = 4 * page,
                             .handle = 0,
                             .mmap_offset = 0,
                             .gpu_id = gpu,
                             .flags = abi::vram | abi::writable};
  ASSERT_EQ(call(abi::Command::allocate_memory, memory), 0);
  // The GPU may access what the host asks no rights for.
  const auto map = function<void*(void*, std::size_t, int, std::uint64_t)>("map");
  EXPECT_EQ(map(addresses, 4 * page, render_node, memory.mmap_offset), addresses);
  addresses[4 * page - 1] = 1;
  abi::FreeMemory free{.handle = memory.handle};
  EXPECT_EQ(call(abi::Command::free_memory, free), 0);
  EXPECT_EQ(unmap(addresses, 4 * page), 0);

  const auto reserve_at = function<void*(void*, std::size_t)>("reserve_at");
  EXPECT_EQ(reserve_at(addresses, page), addresses);
  EXPECT_EQ(reserve_at(addresses, page), MAP_FAILED) << "they are taken";
  EXPECT_EQ(unmap(addresses, page), 0);
  close(render_node);
}

}  // namespace
}  // namespace softgpu::kernel_interface
