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

TEST_F(L2CacheTest, MakesWayInTheLinesOfAnAccess) {
  l2.write(at(0), 1, 4);
  l2.write(at(64), 2, 4);
  l2.make_way(at(4), 4);
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
  L2Caches l2s(1);
  l2s.add(at(0), 128);
  ComputeUnitCaches one(0, &l2s, false);
  ComputeUnitCaches other(1, &l2s, false);
  one.write(0, at(0), 1, 4, GoesPast::all);
  EXPECT_EQ(other.read(0, at(0), 4, GoesPast::nothing), 1U);
  EXPECT_EQ(in_memory(0, 4), 0U);
  other.make_way(at(0), 4);
  EXPECT_EQ(in_memory(0, 4), 1U);
}

TEST_F(L2CacheTest, KnowsMemoryWithoutFloatAtomics) {
  L2Caches gfx90a(1, true);
  gfx90a.add_fine_grained(at(0), 64);
  gfx90a.add(at(64), 64);
  L2Cache& of_gfx90a = gfx90a.of_compute_unit(0);
  EXPECT_TRUE(of_gfx90a.drops_float_atomics(at(63)));
  EXPECT_FALSE(of_gfx90a.drops_float_atomics(at(64)));
  gfx90a.remove(at(0));
  EXPECT_FALSE(of_gfx90a.drops_float_atomics(at(0)));
  L2Caches others(1, false);
  others.add_fine_grained(at(0), 64);
  EXPECT_FALSE(others.of_compute_unit(0).drops_float_atomics(at(0)));
}

/// Two compute units on two XCDs.
class SeveralL2s : public L2CacheTest {
protected:
  SeveralL2s() { l2s.add(at(0), 128); }

  [[nodiscard]] std::uint64_t read(ComputeUnitCaches& caches, GoesPast past = GoesPast::first_level) {
    return caches.read(0, at(0), 4, past);
  }
  void write(ComputeUnitCaches& caches, std::uint32_t value, GoesPast past = GoesPast::nothing) {
    caches.write(0, at(0), value, 4, past);
  }

  L2Caches l2s{2};
  ComputeUnitCaches one{0, &l2s, false};
  ComputeUnitCaches other{1, &l2s, false};
};

TEST_F(SeveralL2s, SeeOneAnothersStoresAfterAReleaseAndAnAcquire) {
  EXPECT_EQ(read(other), 0U);
  write(one, 1);
  EXPECT_EQ(read(one), 1U);
  l2s.invalidate();
  EXPECT_EQ(read(other), 0U);  // not released
  l2s.write_back();
  EXPECT_EQ(read(other), 0U);  // not acquired
  l2s.invalidate();
  EXPECT_EQ(read(other), 1U);
}

TEST_F(SeveralL2s, KeepWhatWasStoredWhenTheyAreInvalidated) {
  write(one, 1);
  one.l2()->invalidate();
  EXPECT_EQ(read(one), 1U);
  EXPECT_EQ(in_memory(0, 4), 0U);
}

TEST_F(SeveralL2s, ArePassedByAccessesOfAgentScope) {
  EXPECT_EQ(read(other), 0U);
  write(one, 1, GoesPast::all);
  EXPECT_EQ(in_memory(0, 4), 1U);
  EXPECT_EQ(read(other), 0U);
  EXPECT_EQ(read(other, GoesPast::all), 1U);
  write(one, 2);
  EXPECT_EQ(read(other, GoesPast::all), 1U);
}

TEST_F(SeveralL2s, MakeWayForAtomicsTogether) {
  EXPECT_EQ(read(other), 0U);
  write(one, 1);
  other.make_way(at(0), 4);
  EXPECT_EQ(in_memory(0, 4), 1U);
  memory[0] = 2;  // the atomic
  EXPECT_EQ(read(one) + read(other), 4U);
}

TEST_F(SeveralL2s, ShowAWorkGroupItsStoresWhereverItGoesOn) {
  EXPECT_EQ(read(other, GoesPast::nothing), 0U);
  write(one, 1);
  one.leave();
  other.take_over();
  EXPECT_EQ(read(other, GoesPast::nothing), 1U);
}

}  // namespace
}  // namespace softgpu::compute
