// DeviceBuffer and PinnedBuffer.
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/device/agent_state.hpp"
#include "expect_error.hpp"
#include "fastdispatch/copy.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/pinned_memory_resource.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch {
namespace {

using test::error_of;
using test::MockHsa;
using ::testing::HasSubstr;

TEST(Buffers, too_large_say_what_was_asked_for) {
  MockHsa hsa;
  EXPECT_THAT(error_of([&] { DeviceBuffer<double>(hsa.agent(), SIZE_MAX / 4); }), HasSubstr("the size overflows"));
  hsa.fail("amd_memory_pool_allocate", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { DeviceBuffer<double>(hsa.agent(), 100); }), HasSubstr("800 bytes of device memory"));
  EXPECT_THAT(error_of([&] { PinnedBuffer<double>(hsa.agent(), 100); }), HasSubstr("800 bytes of pinned host memory"));
}

TEST(Buffers, of_the_host_come_from_the_pool_of_their_coherence) {
  MockHsa hsa;
  const PinnedBuffer<float> fine(hsa.agent(), 100);
  EXPECT_EQ(hsa.last_allocation().pool.handle, 11U);
  const PinnedBuffer<float> coarse(hsa.agent(), 100, Coherence::coarse_grained, "coarse");
  EXPECT_EQ(hsa.last_allocation().pool.handle, 13U);
  EXPECT_EQ(static_cast<MemoryView>(coarse).kind, MemoryKind::pinned);
  EXPECT_THAT(hsa.allowed_agents(), testing::ElementsAre(2U));
  EXPECT_EQ(detail::state_of(hsa.agent()).host->buffers.name_of(static_cast<MemoryView>(coarse).address), "coarse");

  detail::state_of(hsa.agent()).pools.host_coarse_grained = {};
  EXPECT_THAT(error_of([&] { PinnedBuffer<float>(hsa.agent(), 100, Coherence::coarse_grained); }),
              HasSubstr("gfx90a has no pool of coarse-grained host memory"));
}

TEST(Buffers, with_a_name_have_it_in_messages) {
  MockHsa hsa;
  DeviceBuffer<float> cells(hsa.agent(), 100, "cells");
  const PinnedBuffer<float> input(hsa.agent(), 90, "input");
  EXPECT_THAT(error_of([&] { static_cast<void>(cells.subspan(99, 2)); }),
              HasSubstr("a memory of 100 elements of 4 bytes (buffer 'cells')"));
  EXPECT_THAT(error_of([&] { copy(cells, input); }),
              HasSubstr("copying 360 bytes of pinned memory (buffer 'input') to 400 bytes of device memory (buffer "
                        "'cells')"));
  const DeviceBuffer<float> moved = std::move(cells);
  EXPECT_THAT(error_of([&] { static_cast<void>(moved.subspan(99, 2)); }), HasSubstr("(buffer 'cells')"));
}

TEST(Buffers, are_known_by_their_names_until_they_are_freed) {
  MockHsa hsa;
  const detail::Buffers& known = detail::state_of(hsa.agent()).host->buffers;
  std::uint64_t address = 0;
  {
    PinnedMemoryResource resource(hsa.agent(), "rows");
    const std::pmr::vector<float> rows(100, &resource);
    address = reinterpret_cast<std::uintptr_t>(rows.data());
    EXPECT_EQ(known.place_of(address), "0 bytes into buffer 'rows' of 400 bytes");
  }
  EXPECT_THAT(known.place_of(address), HasSubstr("which was freed"));
}

TEST(Buffers, of_no_elements_hold_no_memory) {
  MockHsa hsa;
  DeviceBuffer<double> device(hsa.agent(), 0);
  const PinnedBuffer<double> pinned(hsa.agent(), 0);
  EXPECT_EQ(device.data(), nullptr);
  EXPECT_EQ(pinned.begin(), pinned.end());
  EXPECT_EQ(hsa.calls("amd_memory_pool_allocate"), 0);
}

TEST(Buffers, free_their_memory_once_when_moved) {
  MockHsa hsa;
  {
    DeviceBuffer<double> buffer(hsa.agent(), 10);
    DeviceBuffer<double> other = std::move(buffer);
    EXPECT_EQ(buffer.data(), nullptr);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): as promised
    buffer = std::move(other);
    EXPECT_EQ(buffer.size(), 10U);
    EXPECT_EQ(hsa.allocations(), 1U);
  }
  EXPECT_EQ(hsa.allocations(), 0U);
}

TEST(Buffers, of_the_host_are_for_every_gpu) {
  MockHsa hsa;
  hsa.add_gpu();
  const PinnedBuffer<double> pinned(hsa.agent(), 10);
  EXPECT_THAT(hsa.allowed_agents(), testing::ElementsAre(2U, 3U));
  PinnedMemoryResource resource(hsa.agent());
  const std::pmr::vector<double> in_resource(10, &resource);
  EXPECT_THAT(hsa.allowed_agents(), testing::ElementsAre(2U, 3U));
}

TEST(Buffers, that_the_agent_may_not_reach_are_freed_again) {
  MockHsa hsa;
  hsa.fail("amd_agents_allow_access", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of([&] { PinnedBuffer<double>(hsa.agent(), 10); }), HasSubstr("hsa_amd_agents_allow_access"));
  EXPECT_EQ(hsa.allocations(), 0U);
}

}  // namespace
}  // namespace fastdispatch
