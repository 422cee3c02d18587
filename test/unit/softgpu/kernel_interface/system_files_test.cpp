#include "softgpu/kernel_interface/system_files.hpp"

#include <map>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softgpu::kernel_interface {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string root = "/sys/devices/virtual/kfd/kfd/topology";

class SystemFilesTest : public testing::Test {
protected:
  static thunk::Environment environment() {
    thunk::Environment result;
    result.gpus = 2;
    result.compute_units = 104;
    result.memory_bytes = std::uint64_t{1} << 30;
    return result;
  }
  [[nodiscard]] std::map<std::string, std::uint64_t> values(const std::string& path) const {
    std::istringstream text(files.content(root + path).value_or(""));
    std::map<std::string, std::uint64_t> values;
    std::string name;
    for (std::uint64_t value = 0; text >> name >> value;) values[name] = value;
    return values;
  }

  thunk::Topology topology{environment()};
  SystemFiles files{topology};
};

TEST_F(SystemFilesTest, name_the_nodes_and_what_they_have) {
  EXPECT_THAT(files.entries(root + "/nodes"), ElementsAre("0", "1", "2"));
  EXPECT_THAT(files.entries(root + "/nodes/1/io_links"), ElementsAre("0", "1"));
  EXPECT_THAT(files.entries(root + "/nodes/3"), IsEmpty());
  EXPECT_THAT(files.entries(root + "/generation_id"), IsEmpty());
  EXPECT_EQ(files.content(root + "/nodes/3/gpu_id"), std::nullopt);
  EXPECT_EQ(files.content(root + "/nodes/0/gpu_id"), "0\n");
  EXPECT_EQ(files.content(root + "/nodes/1/gpu_id"), std::to_string(thunk::Topology::gpu_id(1)) + "\n");
  EXPECT_TRUE(SystemFiles::are_at(root + "/nodes"));
  EXPECT_FALSE(SystemFiles::are_at("/sys/devices/system/node"));
}

TEST_F(SystemFilesTest, tell_a_gpu_as_the_topology_does) {
  const HsaNodeProperties node = topology.node(2);
  auto gpu = values("/nodes/2/properties");
  EXPECT_EQ(gpu["simd_count"], node.NumFComputeCores);
  EXPECT_EQ(gpu["simd_per_cu"], node.NumSIMDPerCU);
  EXPECT_EQ(gpu["gfx_target_version"], 90010U);  // gfx90a
  EXPECT_EQ(gpu["capability"], node.Capability.Value);
  EXPECT_EQ(gpu["array_count"] / gpu["simd_arrays_per_engine"], node.NumShaderBanks);
  EXPECT_EQ(gpu["drm_render_minor"], static_cast<std::uint64_t>(node.DrmRenderMinor));
  EXPECT_EQ(gpu["caches_count"], files.entries(root + "/nodes/2/caches").size());
  EXPECT_EQ(gpu["io_links_count"], files.entries(root + "/nodes/2/io_links").size());
  EXPECT_EQ(gpu["mem_banks_count"], files.entries(root + "/nodes/2/mem_banks").size());
  EXPECT_EQ(values("/nodes/2/mem_banks/0/properties")["size_in_bytes"], std::uint64_t{1} << 30);
  EXPECT_EQ(values("/nodes/2/io_links/1/properties")["node_to"], 1U);
  EXPECT_GT(values("/nodes/0/properties")["cpu_cores_count"], 0U);
  EXPECT_EQ(values("/nodes/0/properties")["simd_count"], 0U);
}

}  // namespace
}  // namespace softgpu::kernel_interface
