#include "softgpu/thunk/svm_ranges.hpp"

#include <sys/mman.h>

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softgpu::thunk {
namespace {

class SvmRangesTest : public ::testing::Test {
protected:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint64_t pages = 16;

  SvmRangesTest() {
    void* mapped = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base = reinterpret_cast<std::uint64_t>(mapped);
  }
  ~SvmRangesTest() override {
    munmap(reinterpret_cast<void*>(base), pages * page);
  }  // NOLINT(performance-no-int-to-ptr)

  HSAKMT_STATUS set(std::uint64_t first, std::uint64_t count, std::uint32_t type, std::uint32_t value) {
    const HSA_SVM_ATTRIBUTE attribute{type, value};
    return ranges.set(base + first * page, count * page, std::span(&attribute, 1));
  }
  HSA_SVM_ATTRIBUTE get(std::uint64_t first, std::uint64_t count, std::uint32_t type, std::uint32_t value = 0) {
    HSA_SVM_ATTRIBUTE attribute{type, value};
    EXPECT_EQ(ranges.get(base + first * page, count * page, std::span(&attribute, 1)), HSAKMT_STATUS_SUCCESS);
    return attribute;
  }
  /// Of each page.
  std::vector<bool> accessible() {
    std::vector<bool> result;
    for (std::uint64_t at = base; at != base + pages * page; at += page)
      result.push_back(memory.accessible().range_of(at).contains(at));
    return result;
  }
  static std::vector<bool> only(std::uint64_t first, std::uint64_t count) {
    std::vector<bool> result(pages, false);
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(first), count, true);
    return result;
  }

  Memory memory{3, {.device_bytes = page, .host_bytes = page}, nullptr, {}};
  SvmRanges ranges{memory, 3};
  std::uint64_t base = 0;
};

TEST_F(SvmRangesTest, MemoryOfWhichNothingIsSaidHasTheDriversDefaults) {
  EXPECT_EQ(get(0, pages, HSA_SVM_ATTR_PREFERRED_LOC).value, INVALID_NODEID);
  EXPECT_EQ(get(0, pages, HSA_SVM_ATTR_PREFETCH_LOC).value, INVALID_NODEID);
  EXPECT_EQ(get(0, pages, HSA_SVM_ATTR_GRANULARITY).value, 9U);
  EXPECT_EQ(get(0, pages, HSA_SVM_ATTR_SET_FLAGS).value, HSA_SVM_FLAG_HOST_ACCESS | HSA_SVM_FLAG_COHERENT);
  EXPECT_EQ(get(0, pages, HSA_SVM_ATTR_ACCESS, 1).type, HSA_SVM_ATTR_NO_ACCESS);
  EXPECT_EQ(accessible(), only(0, 0));
}

TEST_F(SvmRangesTest, KernelsMayAccessWhatAnyGpuMayAccess) {
  ASSERT_EQ(set(2, 8, HSA_SVM_ATTR_ACCESS, 1), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(accessible(), only(2, 8));
  ASSERT_EQ(set(4, 4, HSA_SVM_ATTR_ACCESS_IN_PLACE, 2), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(accessible(), only(2, 8));
  ASSERT_EQ(set(0, pages, HSA_SVM_ATTR_NO_ACCESS, 1), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(accessible(), only(4, 4));
  EXPECT_EQ(get(4, 4, HSA_SVM_ATTR_ACCESS, 2).type, HSA_SVM_ATTR_ACCESS_IN_PLACE);
  EXPECT_EQ(get(4, 4, HSA_SVM_ATTR_ACCESS, 1).type, HSA_SVM_ATTR_NO_ACCESS);
  EXPECT_EQ(get(3, 4, HSA_SVM_ATTR_ACCESS, 2).type, HSA_SVM_ATTR_NO_ACCESS) << "not all of it";
  ASSERT_EQ(set(5, 1, HSA_SVM_ATTR_NO_ACCESS, 2), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(set(4, 1, HSA_SVM_ATTR_NO_ACCESS, 2), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(accessible(), only(6, 2));
  ASSERT_EQ(set(6, 2, HSA_SVM_ATTR_NO_ACCESS, 2), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(accessible(), only(0, 0));
}

TEST_F(SvmRangesTest, ARangeTellsWhatAllOfItHasInCommon) {
  ASSERT_EQ(set(0, 4, HSA_SVM_ATTR_PREFERRED_LOC, 1), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(set(4, 4, HSA_SVM_ATTR_PREFERRED_LOC, 2), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(set(2, 4, HSA_SVM_ATTR_SET_FLAGS, HSA_SVM_FLAG_GPU_RO), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(set(4, 4, HSA_SVM_ATTR_CLR_FLAGS, HSA_SVM_FLAG_COHERENT), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(set(1, 2, HSA_SVM_ATTR_GRANULARITY, 4), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(set(3, 2, HSA_SVM_ATTR_PREFETCH_LOC, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(get(0, 4, HSA_SVM_ATTR_PREFERRED_LOC).value, 1U);
  EXPECT_EQ(get(4, 4, HSA_SVM_ATTR_PREFERRED_LOC).value, 2U);
  EXPECT_EQ(get(3, 2, HSA_SVM_ATTR_PREFERRED_LOC).value, INVALID_NODEID);
  EXPECT_EQ(get(4, 12, HSA_SVM_ATTR_PREFERRED_LOC).value, 2U) << "nothing is said of the rest";
  EXPECT_EQ(get(3, 2, HSA_SVM_ATTR_PREFETCH_LOC).value, 0U);
  EXPECT_EQ(get(2, 2, HSA_SVM_ATTR_GRANULARITY).value, 4U);
  EXPECT_EQ(get(3, 2, HSA_SVM_ATTR_GRANULARITY).value, 9U);
  EXPECT_EQ(get(2, 4, HSA_SVM_ATTR_SET_FLAGS).value, HSA_SVM_FLAG_HOST_ACCESS | HSA_SVM_FLAG_GPU_RO);
  EXPECT_EQ(get(6, 2, HSA_SVM_ATTR_CLR_FLAGS).value, ~std::uint32_t{HSA_SVM_FLAG_HOST_ACCESS});
}

TEST_F(SvmRangesTest, WrongCallsChangeNothing) {
  const std::vector<HSA_SVM_ATTRIBUTE> one_is_wrong = {{HSA_SVM_ATTR_ACCESS, 1}, {HSA_SVM_ATTR_ACCESS, 3}};
  EXPECT_EQ(ranges.set(base, page, one_is_wrong), HSAKMT_STATUS_INVALID_NODE_UNIT);
  EXPECT_EQ(set(0, 1, HSA_SVM_ATTR_ACCESS, 0), HSAKMT_STATUS_INVALID_NODE_UNIT) << "the host";
  EXPECT_EQ(set(0, 1, HSA_SVM_ATTR_PREFETCH_LOC, INVALID_NODEID), HSAKMT_STATUS_INVALID_NODE_UNIT);
  EXPECT_EQ(set(0, 1, 99, 1), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(set(0, 0, HSA_SVM_ATTR_ACCESS, 1), HSAKMT_STATUS_INVALID_PARAMETER);
  const HSA_SVM_ATTRIBUTE access{HSA_SVM_ATTR_ACCESS, 1};
  EXPECT_EQ(ranges.set(base + 8, page, std::span(&access, 1)), HSAKMT_STATUS_INVALID_PARAMETER) << "no page";
  EXPECT_EQ(ranges.set(base, ~std::uint64_t{0} << 12, std::span(&access, 1)), HSAKMT_STATUS_INVALID_PARAMETER);
  munmap(reinterpret_cast<void*>(base + 8 * page), page);  // NOLINT(performance-no-int-to-ptr)
  EXPECT_EQ(set(4, 8, HSA_SVM_ATTR_ACCESS, 1), HSAKMT_STATUS_ERROR) << "not all of it is there";
  EXPECT_EQ(accessible(), only(0, 0));
}

}  // namespace
}  // namespace softgpu::thunk
