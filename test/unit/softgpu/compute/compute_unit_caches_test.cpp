#include "softgpu/compute/run_time/compute_unit_caches.hpp"

#include <bit>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

namespace softgpu::compute {
namespace {

class ReadCacheTest : public ::testing::Test {
protected:
  ReadCacheTest() { std::iota(memory, memory + sizeof memory, std::uint8_t{0}); }

  [[nodiscard]] std::uint64_t at(std::size_t offset) const { return std::bit_cast<std::uint64_t>(&memory[offset]); }
  [[nodiscard]] std::uint64_t in_memory(std::size_t offset, std::uint32_t bytes) const {
    std::uint64_t value = 0;
    std::memcpy(&value, memory + offset, bytes);
    return value;
  }
  [[nodiscard]] std::uint64_t read(std::size_t offset, std::uint32_t bytes) { return cache.read(at(offset), bytes); }
  void another_writes(std::size_t offset, std::uint8_t value) { memory[offset] = value; }

  alignas(64) std::uint8_t memory[256];
  ReadCache cache{2, {}};
};

TEST_F(ReadCacheTest, ReadsEveryWidthAtEveryAlignment) {
  for (const std::uint32_t bytes : {1U, 2U, 4U, 8U})
    for (std::size_t offset = 0; offset + bytes <= sizeof memory; ++offset)
      ASSERT_EQ(read(offset, bytes), in_memory(offset, bytes)) << bytes << " bytes at " << offset;
}

TEST_F(ReadCacheTest, KeepsWhatAnotherHasOverwritten) {
  EXPECT_EQ(read(8, 1), 8U);
  another_writes(8, 100);
  another_writes(63, 101);  // in the same line
  another_writes(64, 102);  // in the next one
  EXPECT_EQ(read(8, 1), 8U);
  EXPECT_EQ(read(63, 1), 63U);
  EXPECT_EQ(read(63, 2), 63U | 102U << 8);
}

TEST_F(ReadCacheTest, SeesItsOwnWrites) {
  EXPECT_EQ(read(60, 8), in_memory(60, 8));
  another_writes(59, 100);
  const std::uint64_t value = 0x1122334455667788;
  std::memcpy(memory + 60, &value, sizeof value);
  cache.written(at(60), value, 8);
  EXPECT_EQ(read(60, 8), value);
  EXPECT_EQ(read(59, 1), 59U);  // the rest of the line stays as it was
}

TEST_F(ReadCacheTest, IsInvalidatedAsAWholeOrLineByLine) {
  EXPECT_EQ(read(0, 1) + read(64, 1), 64U);
  another_writes(0, 100);
  another_writes(64, 101);
  cache.forget(at(0), 1);
  EXPECT_EQ(read(0, 1), 100U);
  EXPECT_EQ(read(64, 1), 64U);
  cache.invalidate();
  EXPECT_EQ(read(64, 1), 101U);
}

TEST_F(ReadCacheTest, ReplacesLines) {
  EXPECT_EQ(read(0, 1), 0U);
  another_writes(0, 100);
  EXPECT_EQ(read(128, 1), 128U);  // two lines on
  EXPECT_EQ(read(0, 1), 100U);
}

TEST_F(ReadCacheTest, ReadsAnotherCache) {
  ReadCache above(2, {.cache = &cache});
  EXPECT_EQ(above.read(at(0), 1), 0U);
  another_writes(0, 100);
  above.invalidate();
  EXPECT_EQ(above.read(at(0), 1), 0U);
  above.invalidate();
  cache.invalidate();
  EXPECT_EQ(above.read(at(0), 1), 100U);
}

class ComputeUnitCachesTest : public ::testing::Test {
protected:
  [[nodiscard]] std::uint64_t read(unsigned cache, GoesPast past = GoesPast::nothing) {
    return caches.read(cache, address, 4, past);
  }
  [[nodiscard]] std::uint64_t read_scalar() { return caches.read_scalar(address, GoesPast::nothing); }

  std::uint32_t word = 1;
  std::uint64_t address = std::bit_cast<std::uint64_t>(&word);
  ComputeUnitCaches caches{0, nullptr, true};
};

TEST_F(ComputeUnitCachesTest, AreInvalidatedByAcquiresOnce) {
  caches.catch_up(1);
  EXPECT_EQ(read(0) + read_scalar(), 2U);
  word = 10;
  caches.catch_up(1);
  EXPECT_EQ(read(0) + read_scalar(), 2U);
  caches.catch_up(2);
  EXPECT_EQ(read(0) + read_scalar(), 20U);
}

TEST_F(ComputeUnitCachesTest, HaveTwoVectorCachesThatDoNotSeeEachOthersStores) {
  EXPECT_EQ(read(0) + read(1), 2U);
  caches.write(0, address, 2, 4, GoesPast::nothing);
  EXPECT_EQ(read(0), 2U);
  EXPECT_EQ(read(1), 1U);
  caches.invalidate_vector(1);
  EXPECT_EQ(read(1), 2U);
}

TEST_F(ComputeUnitCachesTest, ReadThroughTheShaderArraysCache) {
  EXPECT_EQ(read(0), 1U);
  word = 2;  // another shader array's store
  caches.invalidate_vector(0);
  EXPECT_EQ(read(0), 1U);
  EXPECT_EQ(read(0, GoesPast::first_level), 1U);
  caches.invalidate_shader_array();
  EXPECT_EQ(read(0), 1U);
  caches.invalidate_vector(0);
  EXPECT_EQ(read(0), 2U);
  word = 3;
  EXPECT_EQ(read(0, GoesPast::all), 3U);
}

}  // namespace
}  // namespace softgpu::compute
