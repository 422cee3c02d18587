// Memory of the program that the GPU was not given: the commonest mistake of HIP programs.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fastdispatch/fastdispatch.hpp"
#include "loaded_rocr.hpp"

namespace fastdispatch::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr WaitOptions limit{.timeout = std::chrono::minutes(10)};

// Pages that nothing else has.
alignas(4096) std::array<std::uint32_t, 4096> own_memory{};

class ForeignMemory : public testing::Test {
protected:
  [[nodiscard]] std::string failure_of(std::uint32_t* argument, const char* kernel = "count") const {
    Queue queue(gpu);
    try {
      queue.dispatch(module.kernel<void(std::uint32_t*)>(kernel), grid(64), argument).wait(limit);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  Runtime runtime{{.device = Device::softgpu}};
  Agent gpu = runtime.gpu();
  Module module = Module::load(gpu, SOFTGPU_TEST_KERNELS);
};

TEST_F(ForeignMemory, is_a_memory_fault) {
  const std::string address = testing::PrintToString(static_cast<void*>(own_memory.data()));
  for (const char* kernel : {"count", "write_to", "wait_for"}) {  // the last one reads
    testing::internal::CaptureStderr();
    // ROCr tells the address of a process's first fault only.
    EXPECT_THAT(failure_of(own_memory.data(), kernel),
                AnyOf(HasSubstr("address " + address), HasSubstr("MEMORY_APERTURE_VIOLATION")));
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("address " + address + " is memory of the program that the GPU was not given"));
  }
  EXPECT_EQ(own_memory[0], 0U);
}

TEST_F(ForeignMemory, is_the_gpus_while_it_is_pinned) {
  {
    const Pin pin(gpu, std::span(own_memory));
    EXPECT_EQ(failure_of(pin.device_address_as<std::uint32_t>()), "");
    EXPECT_EQ(own_memory[0], 1U);
  }
  // A ROCr with the thunk built in does not tell the driver (docs/soft_gpu.md).
  const bool is_told = rocr_has_thunk_beside_it();
  EXPECT_EQ(failure_of(own_memory.data()).empty(), !is_told);
  own_memory[0] = 0;
}

TEST_F(ForeignMemory, is_the_gpus_with_xnack) {
  EXPECT_EXIT(
      {
        setenv("SOFTGPU_XNACK", "1", 1);
        execl("/proc/self/exe", "test", "--gtest_also_run_disabled_tests",
              "--gtest_filter=ForeignMemory.DISABLED_is_accessed", nullptr);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ForeignMemory, DISABLED_is_accessed) {
  EXPECT_EQ(failure_of(own_memory.data()), "");
  EXPECT_EQ(own_memory[0], 1U);
}

}  // namespace
}  // namespace fastdispatch::test
