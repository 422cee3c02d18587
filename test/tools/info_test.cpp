// fastdispatch-info on the soft GPU, whose topology the environment chooses.
#include "tool.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace tools::test::info {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::string tool = TOOL_INFO;

nlohmann::json gpus_of(const nlohmann::json& system) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const nlohmann::json& agent : system["agents"])
    if (agent["type"] == "GPU") gpus.push_back(agent);
  return gpus;
}

TEST(Info, tells_what_was_opened_and_why) {
  const nlohmann::json system = json_of("FASTDISPATCH_DEVICE=softgpu " + tool + " --json");
  EXPECT_EQ(system["device"]["kind"], "soft GPU");
  EXPECT_EQ(system["device"]["why"], "FASTDISPATCH_DEVICE is softgpu");
  EXPECT_THAT(system["device"]["thunk"], EndsWith("/softgpu/libhsakmt.so.1"));
  EXPECT_THAT(system["hsa_runtime"]["library"], HasSubstr("libhsa-runtime64.so.1"));
  EXPECT_GT(system["hsa_runtime"]["clock_hz"], 0);
}

TEST(Info, tells_the_gpus_of_the_topology) {
  const nlohmann::json one = gpus_of(json_of("FASTDISPATCH_DEVICE=softgpu " + tool + " --json"));
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0]["name"], "gfx90a");
  EXPECT_THAT(one[0]["isas"][0], HasSubstr("amdgcn-amd-amdhsa--gfx90a"));
  EXPECT_EQ(one[0]["wavefront_size"], 64);
  EXPECT_EQ(one[0]["work_items_per_group"], 1024);
  EXPECT_GE(one[0]["queues"]["most_packets"], one[0]["queues"]["fewest_packets"]);

  const nlohmann::json two =
      gpus_of(json_of("FASTDISPATCH_DEVICE=softgpu SOFTGPU_GPUS=2 SOFTGPU_MEMORY=512M " + tool + " --json"));
  ASSERT_EQ(two.size(), 2U);
  const nlohmann::json& pools = two[1]["memory_pools"];
  EXPECT_TRUE(std::any_of(pools.begin(), pools.end(), [](const nlohmann::json& pool) {
    return pool["kind"] == "coarse-grained" && pool["bytes"] == 512U << 20U;
  })) << pools;
  EXPECT_TRUE(std::any_of(pools.begin(), pools.end(), [](const nlohmann::json& pool) {
    return pool["segment"] == "group (LDS)" && pool["bytes"] == 65536 && pool["granule_bytes"].is_null();
  })) << pools;
}

TEST(Info, tells_the_same_to_people) {
  const Outcome outcome = run("FASTDISPATCH_DEVICE=softgpu " + tool);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("why: FASTDISPATCH_DEVICE is softgpu\n"));
  EXPECT_THAT(outcome.output, HasSubstr("name: gfx90a\n"));
  EXPECT_THAT(outcome.output, HasSubstr("type: CPU\n"));
}

TEST(Info, without_a_gpu_is_an_error) {
  const Outcome softgpu = run("FASTDISPATCH_SOFTGPU=/nowhere FASTDISPATCH_DEVICE=softgpu " + tool);
  EXPECT_EQ(softgpu.exit_code, 1);
  EXPECT_THAT(softgpu.output,
              HasSubstr("fastdispatch-info: FASTDISPATCH_SOFTGPU is '/nowhere': there is no such file"));
  const Outcome device = run("FASTDISPATCH_DEVICE=nvidia " + tool);
  EXPECT_EQ(device.exit_code, 1);
  EXPECT_THAT(device.output, HasSubstr("it may be auto, amd or softgpu"));
  EXPECT_EQ(run(tool + " --yaml").exit_code, 2);
}

}  // namespace
}  // namespace tools::test::info
