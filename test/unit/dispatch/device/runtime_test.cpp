#include "fastdispatch/runtime.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/device/runtime_state.hpp"
#include "dispatch/hsa/hsa_library.hpp"
#include "dispatch/hsa/runtime_use.hpp"
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

TEST(RuntimeState, keeps_an_hsa_in_use_that_starts_once) {
  MockHsa hsa;
  detail::HsaLibrary library{.api = hsa.api(), .path = "mock"};
  library.api.starts_again = false;
  const auto uses = [&] { return hsa.calls("init") - hsa.calls("shut_down"); };
  { const detail::RuntimeState runtime(library); }
  EXPECT_EQ(uses(), 1);
  { const detail::RuntimeState runtime(library); }
  EXPECT_EQ(uses(), 1) << "once is enough";
  for (int state = 0; state < 2; ++state) detail::end_use();
}

// The pools that pinned memory and kernel arguments come from.
std::pair<std::uint64_t, std::uint64_t> host_pools(std::vector<std::vector<std::uint32_t>> ways) {
  MockHsa hsa;
  hsa.set_host_nodes(std::move(ways));
  detail::HsaLibrary library{.api = hsa.api(), .path = "mock"};
  const detail::RuntimeState runtime(library);
  EXPECT_EQ(runtime.host->handle.handle, 1U);
  EXPECT_EQ(runtime.gpu_views.front().host(), Agent(*runtime.host));
  const AgentPools& pools = runtime.gpu_views.front().pools();
  return {pools.fine_grained.handle, pools.kernarg.handle};
}

TEST(RuntimeState, takes_the_hosts_memory_from_the_node_nearest_to_the_gpu) {
  using Pools = std::pair<std::uint64_t, std::uint64_t>;
  const Pools first(11, 12);
  const Pools second(41, 42);
  const Pools third(51, 52);
  EXPECT_EQ(host_pools({{20}, {20, 32}}), first);
  EXPECT_EQ(host_pools({{20, 32}, {20}}), second);
  EXPECT_EQ(host_pools({{52}, {20, 20}, {20, 10}}), third) << "the links' distances add up";
  EXPECT_EQ(host_pools({{20}, {20}}), first) << "of two that are equally near, the first";
  EXPECT_EQ(host_pools({{}, {20}}), second) << "no way is known to the first";
  EXPECT_EQ(host_pools({{}, {}}), first) << "no way is known at all";
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
