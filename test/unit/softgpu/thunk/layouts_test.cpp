#include "softgpu/thunk/layouts.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

std::uint32_t word_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

HsaNodeProperties some_properties() {
  HsaNodeProperties properties{};
  properties.NumCPUCores = 1;
  properties.NumFComputeCores = 2;
  properties.NumMemoryBanks = 3;
  properties.Capability.Value = 4;
  properties.MaxWavesPerSIMD = 5;
  properties.EngineId.Value = 6;
  properties.VendorId = 7;
  properties.LocationId = 8;
  properties.SGPRSizePerCU = 9;
  const NodePropertiesOf6 since_6{.num_xcc = 10, .kfd_gpu_id = 11, .family_id = 12};
  std::memcpy(reinterpret_cast<std::byte*>(&properties) + node_properties_of_6_offset, &since_6, sizeof(since_6));
  return properties;
}

std::vector<std::byte> written(Layouts layouts) {
  std::vector<std::byte> bytes(node_properties_bytes(layouts), std::byte{0xff});
  write_node_properties(some_properties(), layouts, bytes.data());
  return bytes;
}

// Offsets as the structures of the headers hsakmttypes.h of 5.2 and of 7 have them.
TEST(Layouts, OfRelease5) {
  const std::vector<std::byte> bytes = written(Layouts::of_5);
  ASSERT_EQ(bytes.size(), 356u);
  EXPECT_EQ(word_at(bytes, 8), 3u);
  EXPECT_EQ(word_at(bytes, 28), 4u);
  EXPECT_EQ(word_at(bytes, 32), 5u);
  EXPECT_EQ(word_at(bytes, 68), 6u);
  EXPECT_EQ(word_at(bytes, 72), 7u);
  EXPECT_EQ(word_at(bytes, bytes.size() - 4), 12u);
}

TEST(Layouts, OfRelease7HaveWordsInserted) {
  const std::vector<std::byte> bytes = written(Layouts::of_7);
  ASSERT_EQ(bytes.size(), 368u);
  EXPECT_EQ(word_at(bytes, 0), 1u);
  EXPECT_EQ(word_at(bytes, 4), 2u);
  EXPECT_EQ(word_at(bytes, 8), 0u);  // neural cores
  EXPECT_EQ(word_at(bytes, 12), 3u);
  EXPECT_EQ(word_at(bytes, 32), 4u);
  EXPECT_EQ(word_at(bytes, 36), 0u);  // more capabilities
  EXPECT_EQ(word_at(bytes, 40), 5u);
  EXPECT_EQ(word_at(bytes, 76), 6u);
  EXPECT_EQ(word_at(bytes, 80), 0u);  // no other engine in its place
  EXPECT_EQ(word_at(bytes, 84), 7u);
  EXPECT_EQ(word_at(bytes, 88), 8u);
  EXPECT_EQ(word_at(bytes, bytes.size() - 16), 9u);
  EXPECT_EQ(word_at(bytes, bytes.size() - 4), 12u);
}

TEST(Layouts, OfLinks) {
  std::array<HsaIoLinkProperties, 2> links{};
  links[0].RecTransferSize = 1;
  links[0].Flags.LinkProperty = 2;
  links[1].VersionMajor = 3;
  links[1].Flags.LinkProperty = 4;
  for (const Layouts layouts : {Layouts::of_5, Layouts::of_7}) {
    const std::size_t size = layouts == Layouts::of_5 ? 48 : 52;
    std::vector<std::byte> bytes(2 * size, std::byte{0xff});
    ASSERT_EQ(link_bytes(layouts), size);
    write_links(links, layouts, bytes.data());
    EXPECT_EQ(word_at(bytes, 40), 1u);
    EXPECT_EQ(word_at(bytes, size - 4), 2u);
    EXPECT_EQ(word_at(bytes, size + 4), 3u);
    EXPECT_EQ(word_at(bytes, 2 * size - 4), 4u);
    if (layouts == Layouts::of_7) {
      EXPECT_EQ(word_at(bytes, 44), 0u);  // SDMA engines
    }
  }
}

}  // namespace
}  // namespace softgpu::thunk
