#include "fastdispatch/runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/device/runtime_state.hpp"
#include "dispatch/hsa/hsa_library.hpp"
#include "expect_error.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(RuntimeState, finds_agents_with_their_properties_and_pools) {
  MockHsa hsa;
  detail::HsaLibrary library{.api = hsa.api(), .path = "mock"};
  {
    detail::RuntimeState runtime(library);
    EXPECT_EQ(runtime.version, "1.1");
    EXPECT_EQ(Agent(*runtime.host).name(), "host");
    ASSERT_EQ(runtime.gpu_views.size(), 1U);
    const Agent gpu = runtime.gpu_views.front();
    EXPECT_EQ(gpu.name(), "gfx90a");
    EXPECT_EQ(gpu.isa(), "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    EXPECT_EQ(gpu.host(), Agent(*runtime.host));
    EXPECT_EQ(gpu.properties().queue_size_min, 64U);
    EXPECT_EQ(gpu.properties().lds_bytes, 65536U);
    EXPECT_TRUE(gpu.properties().host_visible_memory);
    EXPECT_EQ(gpu.pools().fine_grained.handle, 11U);
    EXPECT_EQ(gpu.pools().kernarg.handle, 12U);
    EXPECT_EQ(gpu.pools().coarse_grained.handle, 21U);
    EXPECT_EQ(gpu.pools().host_coarse_grained.handle, 13U);
  }
  EXPECT_EQ(hsa.calls("shut_down"), 1);
}

TEST(RuntimeState, that_cannot_be_initialized_says_what_to_check) {
  MockHsa hsa;
  hsa.fail("init", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  detail::HsaLibrary library{.api = hsa.api(), .path = "mock"};
  EXPECT_THAT(error_of([&] { detail::RuntimeState runtime(library); }),
              AllOf(HasSubstr("hsa_init"), HasSubstr("/dev/kfd")));
  EXPECT_EQ(hsa.calls("shut_down"), 0);
}

TEST(RuntimeState, that_cannot_be_initialized_on_the_soft_gpu_does_not_ask_for_a_driver) {
  MockHsa hsa;
  hsa.fail("init", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  detail::HsaLibrary library{.api = hsa.api(), .path = "mock", .softgpu = true};
  EXPECT_THAT(error_of([&] { detail::RuntimeState runtime(library); }),
              AllOf(HasSubstr("on the soft GPU"), HasSubstr("SOFTGPU_ variable"), Not(HasSubstr("/dev/kfd"))));
}

TEST(RuntimeState, shuts_hsa_down_when_its_agents_cannot_be_read) {
  MockHsa hsa;
  hsa.fail("agent_get_info", HSA_STATUS_ERROR_INVALID_AGENT);
  detail::HsaLibrary library{.api = hsa.api(), .path = "mock"};
  EXPECT_THAT(error_of([&] { detail::RuntimeState runtime(library); }), HasSubstr("hsa_agent_get_info"));
  EXPECT_EQ(hsa.calls("shut_down"), 1);
}

}  // namespace
}  // namespace fastdispatch::test
