#include "softgpu/compute/run_time/l2_cache.hpp"

#include <bit>
#include <cstring>

#include <gtest/gtest.h>

#include "softgpu/compute/run_time/compute_unit_caches.hpp"

namespace softgpu::compute {
namespace {

class L2CacheTest : public ::testing::Test {
protected:
  L2CacheTest() { l2.add(at(0), 128); }

  [[nodiscard]] std::uint64_t at(std::size_t offset) const { return std::bit_cast<std::uint64_t>(&memory[offset]); }
  [[nodiscard]] std::uint64_t in_memory(std::size_t offset, std::uint32_t bytes) const {
    std::uint64_t value = 0;
    std::memcpy(&value, memory + offset, bytes);
    return value;
  }

  alignas(64) std::uint8_t memory[256] = {};
  L2Cache l2;
};

TEST_F(L2CacheTest, KeepsStoresUntilTheyAreWrittenBack) {
  l2.write(at(60), 0x1122334455667788, 8);
  EXPECT_EQ(in_memory(60, 8), 0U);
  EXPECT_EQ(l2.read(at(60), 8), 0x1122334455667788U);
  EXPECT_EQ(l2.read(at(58), 4), 0x77880000U);
  l2.write_back();
  EXPECT_EQ(in_memory(60, 8), 0x1122334455667788U);
}

TEST_F(L2CacheTest, WritesBackNothingButWhatWasStored) {
  l2.write(at(8), 1, 1);
  memory[9] = 2;  // the host's
  l2.write_back();
  EXPECT_EQ(in_memory(8, 2), 0x0201U);
}

TEST_F(L2CacheTest, WritesBackTheLinesOfAnAccess) {
  l2.write(at(0), 1, 4);
  l2.write(at(64), 2, 4);
  l2.write_back(at(4), 4);
  EXPECT_EQ(in_memory(0, 4), 1U);
  EXPECT_EQ(in_memory(64, 4), 0U);
}

TEST_F(L2CacheTest, StandsBeforeTheGpusMemoryOnly) {
  l2.write(at(128), 3, 4);
  EXPECT_EQ(in_memory(128, 4), 3U);
}

TEST_F(L2CacheTest, ForgetsMemoryThatIsFreed) {
  l2.write(at(0), 1, 4);
  l2.remove(at(0));
  l2.write_back();
  EXPECT_EQ(in_memory(0, 4), 0U);
}

TEST_F(L2CacheTest, IsWhatComputeUnitsReadAndWrite) {
  ComputeUnitCaches one(&l2);
  ComputeUnitCaches other(&l2);
  one.write(at(0), 1, 4);
  EXPECT_EQ(other.vector.read(at(0), 4), 1U);
  EXPECT_EQ(in_memory(0, 4), 0U);
  other.make_way(at(0), 4);
  EXPECT_EQ(in_memory(0, 4), 1U);
}

}  // namespace
}  // namespace softgpu::compute
