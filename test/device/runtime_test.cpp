#include <string>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

TEST(Runtime, is_the_real_rocr_and_finds_a_gpu_with_its_limits) {
  const Runtime runtime;
  EXPECT_THAT(std::string(runtime.library_path()), HasSubstr("libhsa-runtime64.so.1"));
  EXPECT_THAT(std::string(runtime.version()), MatchesRegex("[0-9]+\\.[0-9]+"));
  const AgentProperties& gpu = runtime.gpu().properties();
  EXPECT_THAT(gpu.name, StartsWith("gfx"));
  EXPECT_THAT(gpu.isa, StartsWith("amdgcn-amd-amdhsa--" + gpu.name));
  EXPECT_GE(gpu.compute_units, 1U);
  EXPECT_GE(gpu.work_group_size_max, 1024U);
  EXPECT_GE(gpu.lds_bytes, 65536U);
  EXPECT_LE(gpu.queue_size_min, 64U);
  EXPECT_NE(runtime.gpu().pools().coarse_grained.handle, 0U);
  EXPECT_NE(runtime.gpu().pools().kernarg.handle, 0U);
  EXPECT_EQ(runtime.gpu().host(), runtime.host());
}

TEST(Runtime, can_be_opened_again_and_shares_its_state_meanwhile) {
  for (int i = 0; i < 3; ++i) {
    const Runtime first;
    const Runtime second;
    EXPECT_EQ(first.gpu(), second.gpu());
  }
}

TEST(Runtime, refuses_a_gpu_that_is_not_there) {
  const Runtime runtime;
  EXPECT_THROW(static_cast<void>(runtime.gpu(runtime.gpus().size())), Error);
}

}  // namespace
}  // namespace fastdispatch::test
